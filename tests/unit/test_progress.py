import io

from attnkernel import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def clock(monkeypatch, step):
    seconds = iter(range(1000))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(seconds) * step)


def test_slow_work_shows_a_bar_on_a_terminal_and_wipes_it(monkeypatch):
    clock(monkeypatch, 1.0)
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    assert list(progress.track(range(6), "counting")) == list(range(6))
    assert "counting" in screen.getvalue()
    assert "4/6, 2 s left" in screen.getvalue()
    assert screen.getvalue().endswith("\r\x1b[K")


def test_quick_work_and_work_that_nobody_watches_show_nothing(monkeypatch):
    clock(monkeypatch, 0.1)
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    assert list(progress.track("abc", "counting")) == ["a", "b", "c"]
    assert screen.getvalue() == ""
    monkeypatch.setattr("sys.stderr", io.StringIO())
    items = [1, 2]
    assert progress.track(items, "counting") is items
