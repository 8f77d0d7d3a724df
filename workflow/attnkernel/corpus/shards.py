"""Shards: a corpus cut between documents into pieces of like length, each of which fits into memory."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def document_bounds(positions: Iterable[Integers], shards: int) -> list[tuple[int, int]]:
    """First row, and the row after the last, of each shard of a table of tokens.

    Parameters
    ----------
    positions
        The table's column `position` in pieces, one after another; 0 opens a document.
    shards
        How many; with more shards than documents some are empty.
    """
    starts, rows = [], 0
    for piece in positions:
        starts.append(rows + np.flatnonzero(piece == 0))
        rows += len(piece)
    start = np.concatenate([*starts, [rows]])
    # A document goes to the shard in whose equal part of the rows it begins.
    first = np.searchsorted(start * shards // max(rows, 1), np.arange(shards + 1))
    return list(pairwise(start[first].tolist()))
