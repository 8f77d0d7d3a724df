"""Progress on a terminal, for work of more than two seconds."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TypeVar

Item = TypeVar("Item")


def track(items: Iterable[Item], what: str) -> Iterable[Item]:
    """The items, with a bar on standard error if that is a terminal and they take more than two seconds."""
    if not sys.stderr.isatty():
        return items
    from tqdm import tqdm

    bar: Iterable[Item] = tqdm(items, desc=what, delay=2.0, leave=False)
    return bar
