"""What came after the same history before: counts of symbols by context, in a training text and in the document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from attnkernel.language.decisions import STOP

Integers = NDArray[np.int64]
Hashes = NDArray[np.uint64]

_BASE: Final = 0x9E3779B97F4A7C15
_BITS: Final = 64
# A key is a history's hash over a symbol of one byte.
_SYMBOL: Final = np.uint64(8)
_HASH: Final = np.uint64((1 << 56) - 1)


def contexts(symbols: Integers, settings: Mapping[str, Any]) -> Hashes:
    """Hash of each kind of history before each symbol and after the last, (kinds, symbols + 1).

    Parameters
    ----------
    symbols
        A text of `decisions.Alphabet`, (symbols,).
    settings
        `characters`, the lengths of histories in symbols, ascending; `words`, lists of how many words back: the history
        is those words, and the beginning of the present one.
    """
    size = len(symbols) + 1
    written = np.append(symbols, 0).astype(np.uint64) + np.uint64(1)
    first = np.append(True, symbols == STOP)
    word = np.cumsum(first) - 1
    start = np.flatnonzero(first)
    with np.errstate(over="ignore"):
        found = _characters(written, settings["characters"])
        power, inverse = (_powers(base, size) for base in (_BASE, pow(_BASE, -1, 1 << _BITS)))
        total = np.concatenate([[np.uint64(0)], np.cumsum(written * power, dtype=np.uint64)])
        begun = _mixed((total[:-1] - total[start][word]) * inverse[start][word], np.uint64(1))
        whole = (total[np.append(start[1:], size)] - total[start]) * inverse[start]
        for backs in settings["words"]:
            history = begun
            for back in backs:
                before = np.zeros_like(whole)
                before[back:] = whole[: len(whole) - back] if back < len(whole) else 0
                history = _mixed(_mixed(history, np.uint64(back)), before[word])
            found.append(_mixed(history, np.uint64(len(backs))))
    return np.array(found, dtype=np.uint64).reshape(-1, size) & _HASH


def _characters(written: Hashes, lengths: Sequence[int]) -> list[Hashes]:
    found = []
    history = np.zeros_like(written)
    for length in range(1, max(lengths, default=0) + 1):
        before = np.zeros_like(written)
        before[length:] = written[: max(0, len(written) - length)]
        history = _mixed(history, before)
        if length in lengths:
            found.append(history)
    return found


def _powers(base: int, size: int) -> Hashes:
    return np.cumprod(np.append(np.uint64(1), np.full(size - 1, base, dtype=np.uint64)), dtype=np.uint64)


def _mixed(one: Hashes, other: Hashes | np.uint64) -> Hashes:
    """A hash of two (the finaliser of SplitMix64, Steele and others 2014)."""
    mixed = (one * np.uint64(_BASE)) ^ (other + np.uint64(0x632BE59BD9B4E019) + (one >> np.uint64(31)))
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def keys(hashes: Hashes, symbols: Integers) -> Hashes:
    """The sorted pairs of history and symbol of a text under one kind of history, (symbols,); see `counts`."""
    return np.sort((hashes[: len(symbols)] << _SYMBOL) | symbols.astype(np.uint64))


def counts(sorted_keys: Hashes, hashes: Hashes, low: Integers, high: Integers) -> Integers:
    """How often each history was followed by a symbol from `low` to `high - 1`, (histories,)."""
    base = hashes << _SYMBOL
    query = np.concatenate([base | low.astype(np.uint64), base | high.astype(np.uint64)])
    # Searching in ascending order keeps to the cache.
    order = np.argsort(query)
    place = np.empty(len(query), dtype=np.int64)
    place[order] = np.searchsorted(sorted_keys, query[order])
    return place[len(hashes) :] - place[: len(hashes)]


def earlier(hashes: Hashes, place: Integers, node: Integers, outcome: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """How often each decision of a document went down and up before, after the same history, (decisions,) each.

    Parameters
    ----------
    hashes
        Of one kind of history before each symbol.
    place, node, outcome
        From `decisions.Alphabet.decisions`.
    """
    with np.errstate(over="ignore"):
        group = _mixed(hashes[place], node.astype(np.uint64))
    order = np.argsort(group, kind="stable")
    up: Integers = np.cumsum(outcome[order]) - outcome[order]
    first = np.diff(group[order], prepend=~group[order][:1]) != 0
    start = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    both, ups = np.empty(len(order), dtype=np.int64), np.empty(len(order), dtype=np.int64)
    both[order] = np.arange(len(order)) - start
    ups[order] = up - up[start]
    return both - ups, ups
