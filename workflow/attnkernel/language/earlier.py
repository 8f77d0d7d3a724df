"""Sums of a kernel over the earlier members of a sequence.

The kernel knows contexts by their type: what precedes a member is how often each context has occurred. A long sequence
is cut into large blocks, and one matrix product, kernel times how often each context occurs before each of them, gives
the mass on all earlier large blocks: members that share a context share its row. Within a large block, each small one
reads the rows of its own members, over the contexts seen before it alone; within a small block, pair by pair. A kernel
is computed where it is used, in the processor's cache: no table of it is ever written.

No product and no sum has a shape or an order that a later member could change: the rows that a small block reads end at
what was known before it, and the panels of the matrix product have one size and are added up in turn, those that only
later members have counted as exact zeros. For this, contexts are numbered by first appearance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Array = TypeVar("Array", Floats, Integers)
# Writes the kernel of some scores into an array of their shape, which holds what the kernel before it wrote.
Kernel = Callable[[Floats, Floats], object]

PANEL: Final = 64
_SMALL: Final = 64
_LARGE: Final = 16 * _SMALL
# Large blocks beside each other in one product.
_GROUP: Final = 8
# The pairs of a small block, member by member: which member, which earlier one, and where the pairs of each begin.
_MEMBER, _BEFORE = np.tril_indices(_SMALL, k=-1)
_BEGIN: Final = np.flatnonzero(_BEFORE == 0)


class _Stretch(NamedTuple):
    """Part of a sequence.

    Attributes
    ----------
    start
        Where it begins in the sequence.
    types
        Its distinct contexts, by their number in the table, filled up to whole panels; None: all of the table.
    contexts
        Number of each member's context among these.
    """

    start: int
    types: Integers | None
    contexts: Integers

    def table(self, scores: Floats) -> Floats:
        """The scores of its contexts among each other."""
        return scores if self.types is None else _among(scores, self.types)


class Earlier:
    """A sequence of contexts, ready to sum any kernel over the earlier members of each.

    Parameters
    ----------
    contexts
        Contexts of a document, numbered by first appearance.
    members
        Places of the sequence among them; None: all.
    """

    def __init__(self, contexts: Integers, members: Integers | None = None) -> None:
        sequence = contexts if members is None else contexts[members]
        self._whole = _Stretch(0, None, sequence) if members is None else _renumbered(sequence, 0)
        self._parts = [self._whole]
        if len(sequence) > _LARGE:
            parts = range(0, len(sequence), _LARGE)
            self._parts = [_renumbered(sequence[start : start + _LARGE], start) for start in parts]

    def masses(self, scores: Floats, kernels: Sequence[Kernel]) -> Floats:
        """Sum each kernel of each member over those before it, (kernels, members).

        Parameters
        ----------
        scores
            The score of each context as query and as key, (K, K), K filled up to whole panels; every kernel of every
            one must be finite.
        kernels
            What turns scores into weights.
        """
        whole = self._whole
        masses = np.zeros((len(kernels), len(whole.contexts)))
        if len(self._parts) > 1:
            masses += _on_earlier_blocks(whole.table(scores), whole.contexts, kernels)
        for part in self._parts:
            own = part.table(scores)
            mass = masses[:, part.start : part.start + len(part.contexts)]
            blocks = filled(part.contexts, _SMALL).reshape(-1, _SMALL)
            for found in (_before_blocks(own, blocks, kernels), _within_blocks(own, blocks, kernels)):
                mass += found.reshape(len(kernels), blocks.size)[:, : mass.shape[1]]
        return masses


def by_first_appearance(values: Integers) -> tuple[Integers, Integers, Integers]:
    """Distinct values by first appearance, each value's number in that order, and where each is first."""
    distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return distinct[order], number[inverse], first[order]


def filled(rows: Array, multiple: int) -> Array:
    """Rows with zeros after them, up to a multiple of rows."""
    enough = np.zeros((len(rows) + -len(rows) % multiple, *rows.shape[1:]), rows.dtype)
    enough[: len(rows)] = rows
    return enough


def _renumbered(sequence: Integers, start: int) -> _Stretch:
    types, contexts, _ = by_first_appearance(sequence)
    return _Stretch(start, filled(types, PANEL), contexts)


def _among(scores: Floats, types: Integers) -> Floats:
    """The scores of some contexts among each other; by panels, whose whole rows stay in the processor's cache."""
    own = np.empty((len(types), len(types)))
    for start in range(0, len(types), PANEL):
        rows = scores.take(types[start : start + PANEL], axis=0)
        np.take(rows, types, axis=1, out=own[start : start + PANEL], mode="clip")
    return own


def _on_earlier_blocks(scores: Floats, contexts: Integers, kernels: Sequence[Kernel]) -> Floats:
    """Kernel mass of each member on the large blocks before its own, (kernels, members)."""
    panels = len(scores) // PANEL
    of_block = np.arange(len(contexts)) // _LARGE
    groups = of_block[-1] // _GROUP + 1
    columns = groups * _GROUP
    before = _counts_before(contexts, _LARGE, columns, len(scores)).reshape(panels, PANEL, columns)
    # Panels of contexts that have appeared by the end of each group of blocks: the others count zero times.
    seen = [contexts[: (group + 1) * _GROUP * _LARGE].max() // PANEL + 1 for group in range(groups)]
    sums = np.zeros((len(kernels), len(scores), columns))
    kernel = np.empty((PANEL, len(scores)))
    tiles = kernel.reshape(PANEL, panels, PANEL).transpose(1, 0, 2)
    for panel in range(panels):
        rows = slice(panel * PANEL, (panel + 1) * PANEL)
        for weigh, mass in zip(kernels, sums, strict=True):
            weigh(scores[rows], kernel)
            for group, keys in enumerate(seen):
                if panel < keys:
                    own = slice(group * _GROUP, (group + 1) * _GROUP)
                    mass[rows, own] = (tiles[:keys] @ before[:keys, :, own]).sum(axis=0)
    return sums[:, contexts, of_block]


def _counts_before(contexts: Integers, block: int, blocks: int, types: int) -> Floats:
    """How often each context occurs before each block of members, (types, blocks)."""
    here = np.bincount(contexts * blocks + np.arange(len(contexts)) // block, minlength=types * blocks)
    here = here.reshape(types, blocks)
    return np.asarray(np.cumsum(here, axis=1, dtype=np.float64) - here)


def _before_blocks(scores: Floats, blocks: Integers, kernels: Sequence[Kernel]) -> Floats:
    """Kernel mass of each member of small blocks on the blocks before its own, (kernels, blocks, members of each)."""
    masses = np.zeros((len(kernels), *blocks.shape))
    before = _counts_before(blocks.ravel(), _SMALL, len(blocks), len(scores)).T.copy()
    known = np.maximum.accumulate(blocks.max(axis=1)) + 1
    room = np.empty(_SMALL * len(scores))
    for block, seen in enumerate(known[:-1].tolist(), start=1):
        rows = scores[blocks[block], :seen]
        kernel = room[: rows.size].reshape(rows.shape)
        for weigh, mass in zip(kernels, masses, strict=True):
            weigh(rows, kernel)
            np.matmul(kernel, before[block, :seen], out=mass[block])
    return masses


def _within_blocks(scores: Floats, blocks: Integers, kernels: Sequence[Kernel]) -> Floats:
    """Kernel mass of each member of small blocks on those before it in its own, (kernels, blocks, members of each)."""
    pairs = scores.take(blocks.take(_MEMBER, axis=1) * len(scores) + blocks.take(_BEFORE, axis=1))
    kernel = np.empty_like(pairs)
    masses = np.zeros((len(kernels), *blocks.shape))
    for weigh, mass in zip(kernels, masses, strict=True):
        weigh(pairs, kernel)
        np.add.reduceat(kernel, _BEGIN, axis=1, out=mass[:, 1:])
    return masses
