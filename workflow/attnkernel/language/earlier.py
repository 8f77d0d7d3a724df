"""Sums of a kernel over the earlier members of a sequence, without a sum for each member.

The kernel knows contexts by their type, so members that share a context share most of their sum. A sequence is cut into
blocks; one matrix product, kernel times how often each context occurs before each block, gives the mass on all earlier
blocks, and what is earlier in the same block is added: by smaller blocks over the contexts of that block alone, and
within the smallest member by member. A kernel is computed where it is used, panel by panel in the processor's cache:
no table of it is ever written.

Every product has panels of fixed shape, and contexts are numbered by first appearance. What comes later in a sequence
then adds exact zeros to a sum and nothing else, so that no bit of an earlier sum can change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Writes the kernel of some scores into an array of their shape, which holds what the kernel before it wrote.
Kernel = Callable[[Floats, Floats], object]

PANEL: Final = 64
# Blocks beside each other in one product; so many of the smallest make one of the larger.
_GROUP: Final = 8
_SMALL: Final = 64
_LARGE: Final = 16 * _SMALL
# Row i of a smallest block may read column j < i.
_BEFORE: Final = np.tri(_SMALL, k=-1)


class _Stretch(NamedTuple):
    """Part of a sequence, in blocks.

    Attributes
    ----------
    start
        Where it begins in the sequence.
    types
        Its distinct contexts, by their number in the table, filled up to whole panels; None: all of the table.
    contexts
        Number of each member's context among these.
    block
        Members of a block.
    """

    start: int
    types: Integers | None
    contexts: Integers
    block: int


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
        self._members = len(sequence)
        whole = _Stretch(0, None, sequence, _SMALL) if members is None else _renumbered(sequence, 0)
        self._stretches = [whole]
        if len(sequence) > _LARGE:
            parts = range(0, len(sequence), _LARGE)
            smaller = [_renumbered(sequence[start : start + _LARGE], start) for start in parts]
            self._stretches = [whole._replace(block=_LARGE), *smaller]

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
        masses = np.zeros((len(kernels), self._members))
        for start, types, contexts, block in self._stretches:
            own = scores if types is None else _among(scores, types)
            part = masses[:, start : start + len(contexts)]
            if len(contexts) > block:
                part += _on_earlier_blocks(own, contexts, block, kernels)
            if block == _SMALL:
                part += _within_blocks(own, contexts, kernels)
        return masses


def by_first_appearance(values: Integers) -> tuple[Integers, Integers, Integers]:
    """Distinct values by first appearance, each value's number in that order, and where each is first."""
    distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return distinct[order], number[inverse], first[order]


def _renumbered(sequence: Integers, start: int) -> _Stretch:
    types, contexts, _ = by_first_appearance(sequence)
    return _Stretch(start, np.pad(types, (0, -len(types) % PANEL)), contexts, _SMALL)


def _among(scores: Floats, types: Integers) -> Floats:
    """The scores of some contexts among each other; by panels, whose whole rows stay in the processor's cache."""
    own = np.empty((len(types), len(types)))
    for start in range(0, len(types), PANEL):
        rows = scores.take(types[start : start + PANEL], axis=0)
        np.take(rows, types, axis=1, out=own[start : start + PANEL], mode="clip")
    return own


def _on_earlier_blocks(scores: Floats, contexts: Integers, block: int, kernels: Sequence[Kernel]) -> Floats:
    """Kernel mass of each member on the blocks before its own, (kernels, members)."""
    panels = len(scores) // PANEL
    of_block = np.arange(len(contexts)) // block
    groups = of_block[-1] // _GROUP + 1
    columns = groups * _GROUP
    here = np.bincount(contexts * columns + of_block, minlength=len(scores) * columns).reshape(-1, columns)
    before = (np.cumsum(here, axis=1, dtype=np.float64) - here).reshape(panels, PANEL, columns)
    # Panels of contexts that have appeared by the end of each group of blocks: the others count zero times.
    seen = [contexts[: (group + 1) * _GROUP * block].max() // PANEL + 1 for group in range(groups)]
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


def _within_blocks(scores: Floats, contexts: Integers, kernels: Sequence[Kernel]) -> Floats:
    """Kernel mass of each member on those before it in its smallest block, (kernels, members)."""
    blocks = np.pad(contexts, (0, -len(contexts) % _SMALL)).reshape(-1, _SMALL)
    own = scores.take(blocks[:, :, None] * len(scores) + blocks[:, None, :])
    kernel = np.empty_like(own)
    masses = np.empty((len(kernels), *blocks.shape))
    for weigh, mass in zip(kernels, masses, strict=True):
        weigh(own, kernel)
        np.einsum("bij,ij->bi", kernel, _BEFORE, out=mass)
    return masses.reshape(len(kernels), blocks.size)[:, : len(contexts)]
