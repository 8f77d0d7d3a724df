"""Progress on a terminal, for work of more than two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Final, TypeVar

Item = TypeVar("Item")

_SECONDS: Final = 2.0
_WIDTH: Final = 24


def track(items: Sequence[Item], what: str) -> Iterable[Item]:
    """The items, with a bar on standard error if that is a terminal and they take more than two seconds."""
    return _drawn(items, what, sys.stderr) if sys.stderr.isatty() else items


def _drawn(items: Sequence[Item], what: str, screen: IO[str]) -> Iterator[Item]:
    started = last = time.monotonic()
    shown = ""
    for done, item in enumerate(items):
        now = time.monotonic()
        if now - started > _SECONDS and now - last > 0.1:
            left = (now - started) / max(done, 1) * (len(items) - done)
            bar = "█" * (done * _WIDTH // len(items))
            shown = f"{what} {bar:░<{_WIDTH}} {done}/{len(items)}, {left:.0f} s left"
            screen.write(f"\r{shown}\x1b[K")
            screen.flush()
            last = now
        yield item
    if shown:
        screen.write("\r\x1b[K")
        screen.flush()
