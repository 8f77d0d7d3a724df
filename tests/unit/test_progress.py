"""Progress of long work: a bar on a terminal, lines in the log elsewhere; of short work, nothing."""

import io
import logging
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


def test_without_a_terminal_the_log_says_at_each_pause_how_far_it_is(monkeypatch, caplog):
    caplog.set_level(logging.INFO, logger="attnkernel")
    monkeypatch.setattr(progress, "_PAUSE", 0.0)
    assert list(progress.track("abcd", "counting")) == ["a", "b", "c", "d"]
    assert caplog.messages == [f"counting: {done} of 4" for done in range(4)]


def test_without_a_terminal_short_work_leaves_the_log_empty(caplog):
    caplog.set_level(logging.INFO, logger="attnkernel")
    assert list(progress.track(iter("abc"), "counting")) == ["a", "b", "c"]
    assert not caplog.messages
