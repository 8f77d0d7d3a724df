"""Progress of long work: a bar on a terminal, else a line a minute in the log."""

from __future__ import annotations

import logging
import operator
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

Item = TypeVar("Item")
log = logging.getLogger("attnkernel")

_PAUSE: Final = 60.0
"""Seconds between two lines of the log."""


def track(items: Iterable[Item], what: str) -> Iterable[Item]:
    """The items, with a bar on standard error if that is a terminal and they take more than two seconds.

    Elsewhere, as where jobs run side by side, the log says once a minute how many are done.
    """
    if not sys.stderr.isatty():
        return _logged(items, what)
    from tqdm import tqdm

    bar: Iterable[Item] = tqdm(items, desc=what, delay=2.0, leave=False)
    return bar


def _logged(items: Iterable[Item], what: str) -> Iterator[Item]:
    size = operator.length_hint(items)
    spoken = time.monotonic()
    for done, item in enumerate(items):
        if time.monotonic() - spoken >= _PAUSE:
            log.info("%s: %d%s", what, done, f" of {size}" if size else "")
            spoken = time.monotonic()
        yield item
