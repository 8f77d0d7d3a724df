"""Progress is shown on a terminal, for long work, and nowhere else."""

import io
import sys

from attnkernel import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def terminal(monkeypatch):
    """Standard error as a terminal; set in the test itself, as pytest sets its own between fixtures and tests."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    return screen


def test_long_work_shows_what_it_does_and_leaves_the_screen_clean(monkeypatch):
    screen = terminal(monkeypatch)
    seconds = iter(range(0, 1000, 3))
    monkeypatch.setattr("tqdm.std.time", lambda: next(seconds))
    assert list(progress.track(range(6), "counting")) == list(range(6))
    shown = screen.getvalue()
    assert "counting" in shown
    assert shown.split("\r")[-1].strip() == ""


def test_short_work_shows_nothing(monkeypatch):
    screen = terminal(monkeypatch)
    assert list(progress.track("abc", "counting")) == ["a", "b", "c"]
    assert screen.getvalue() == ""


def test_without_a_terminal_the_items_are_handed_through():
    items = [1, 2]
    assert progress.track(items, "counting") is items
