"""The kernel cache: attention over a document's own earlier words (Definition 3).

The kernel sees only context *types*, so every sum over positions is a sum over distinct contexts with counts.
And a prediction depends on earlier tokens alone to the last bit: no matrix product and no sum here has a
shape, an order or an operand that a later token could change. That is why types are numbered by first
appearance, products run over panels of fixed size, and blocks of positions are padded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attnkernel.progress import track

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Weigh = Callable[[Floats, Floats], Floats]

_PANEL: Final = 64
_BLOCK: Final = 128
# A normaliser below this may have lost terms to underflow that matter beside it.
_TINY: Final = 1e-200
# Row i of a block may read column j < i.
_EARLIER: Final = np.tri(_BLOCK, k=-1, dtype=bool)


def cache_probabilities(
    documents: Sequence[Integers], queries: Floats, keys: Floats, betas: ArrayLike, tie: float = 1e-9
) -> list[Floats]:
    """Probability that the cache gives each token of each document, at every bandwidth.

    `p_t = sum_{j<t: x_j = x_t} K(x_{t-1}, x_{j-1}) / sum_{j<t} K(x_{t-1}, x_{j-1})` with
    `K(a, b) = exp(beta <queries[a], keys[b]>)`; j runs over the positions that have a previous token.

    Parameters
    ----------
    documents
        Token ids of each document, rows of `queries` and `keys`.
    queries, keys
        Vectors of every type, (types, d) each. The fixed kernel of Definition 3 passes its unit vectors
        twice, the learned kernel of Definition 4 passes `u A^T` and `u B^T` with beta = 1.
    betas
        Concentrations, (B,), each in [0, inf]. 0 is the unigram cache. Infinity shares the weight equally
        among the positions whose context attains the largest score seen so far.
    tie
        Scores this close to the largest attain it at infinity: those of identical vectors differ by rounding.

    Returns
    -------
    One (B, tokens) array a document. NaN where nothing precedes: its first two positions.

    Raises
    ------
    ValueError
        A beta is negative or NaN.
    """
    concentrations = np.atleast_1d(np.asarray(betas, dtype=np.float64))
    if not np.all(concentrations >= 0.0):
        raise ValueError(f"beta must lie in [0, inf], not {concentrations[~(concentrations >= 0.0)][0]}")
    # Over all types, not the document's: a bound that later tokens cannot move.
    bound = _largest_norm(queries) * _largest_norm(keys)
    return [
        _document_cache(document, queries, keys, concentrations, bound=bound, tie=tie)
        for document in track(documents, "reading each document's own words")
    ]


def cache_columns(
    documents: Sequence[Integers], queries: Floats, keys: Floats, betas: ArrayLike, tie: float = 1e-9
) -> Floats:
    """Stack what `cache_probabilities` gives, document after document, (B, tokens); there may be no document."""
    rows = cache_probabilities(documents, queries, keys, betas, tie)
    return np.concatenate([np.empty((np.size(betas), 0)), *rows], axis=1)


def cache_distribution(document: Integers, queries: Floats, keys: Floats, beta: float, tie: float = 1e-9) -> Floats:
    """Distribution over the types that the cache predicts after a document.

    Parameters
    ----------
    document
        Token ids, (tokens,). The cache predicts after the last.
    queries, keys, beta, tie
        As in `cache_probabilities`.

    Returns
    -------
    Probabilities, (types,).

    Raises
    ------
    ValueError
        The document has fewer than two tokens, so that no position has a previous one.
    """
    if len(document) < 2:
        raise ValueError("nothing to read: the cache needs a token that has a previous one")
    scores = keys[document[:-1]] @ queries[document[-1]]
    weights = _relative_kernel(beta, tie)(scores, np.full_like(scores, scores.max()))
    mass = np.bincount(document[1:], weights=weights, minlength=len(keys))
    return np.asarray(mass / weights.sum())


def mixture(kneser_ney: Floats, cache: Floats, weight: float) -> Floats:
    """Mix `weight * kneser_ney + (1 - weight) * cache`, and keep Kneser-Ney alone where the cache is NaN.

    Parameters
    ----------
    kneser_ney
        Probabilities, (..., tokens).
    cache
        Probabilities of the same tokens, broadcastable to them.
    weight
        Lambda, in [0, 1].
    """
    return np.where(np.isnan(cache), kneser_ney, weight * kneser_ney + (1.0 - weight) * cache)


def _largest_norm(vectors: Floats) -> float:
    return float(np.sqrt(np.max(np.einsum("ij,ij->i", vectors, vectors), initial=0.0)))


@dataclass(frozen=True)
class Layout:
    """A document as (context, target) pairs, its contexts numbered by first appearance.

    Attributes
    ----------
    types
        Ids of the distinct contexts, (K,).
    contexts
        Local number of each pair's context, (pairs,).
    known
        Distinct contexts before each pair, (pairs,).
    position, earlier
        Each pair beside each earlier pair of the same target, among the first `most` of the target.
    frequent
        All the pairs of each target that has more.
    most
        That bound: pairs of pairs would otherwise grow with the square of the document.
    """

    types: Integers
    contexts: Integers
    known: Integers
    position: Integers
    earlier: Integers
    frequent: list[Integers]
    most: int


def lay_out(document: Integers, most: int = _BLOCK) -> Layout:
    """Read a document of at least two tokens as pairs; see `Layout`."""
    types, contexts, first = _by_first_appearance(document[:-1])
    new = np.zeros(len(contexts), dtype=np.int64)
    new[first] = 1
    return Layout(types, contexts, np.cumsum(new) - new, *_repeats(document[1:], most), most)


def _by_first_appearance(values: Integers) -> tuple[Integers, Integers, Integers]:
    """Distinct values by first appearance, each value's number in that order, and where each is first."""
    distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return distinct[order], number[inverse], first[order]


def _repeats(targets: Integers, most: int) -> tuple[Integers, Integers, list[Integers]]:
    """Pair each of a target's first `most` occurrences with each earlier one, and list the targets that have more."""
    order = np.argsort(targets, kind="stable")
    start = np.flatnonzero(np.diff(targets[order], prepend=-1))
    size = np.diff(start, append=len(targets))
    start_of = np.repeat(start, size)
    rank = np.arange(len(targets)) - start_of
    frequent = [order[begin : begin + number] for begin, number in zip(start, size, strict=True) if number > most]

    repeats = np.where(rank < most, rank, 0)
    entry = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    return np.repeat(order, repeats), order[np.repeat(start_of, repeats) + entry], frequent


def _document_cache(
    document: Integers, queries: Floats, keys: Floats, betas: Floats, *, bound: float, tie: float
) -> Floats:
    result = np.full((len(betas), len(document)), np.nan)
    if len(document) < 3:
        return result
    layout = lay_out(document)
    scores = _scores(queries[layout.types], keys[layout.types])
    table = np.empty_like(scores)
    for row, beta in zip(result, betas, strict=True):
        if np.isfinite(beta):
            _exponentiate(scores, beta, bound, table)
            matching, total = kernel_masses(table, layout)
            # Chosen position by position, so that a later token cannot change how an earlier one is computed.
            lost = total < _TINY
        else:
            matching, total = np.zeros((2, len(layout.contexts)))
            lost = np.ones(len(layout.contexts), dtype=bool)
        if lost[1:].any():
            nearest = _nearest_so_far(scores, layout)
            near, whole = kernel_masses(scores, layout, _relative_kernel(beta, tie), nearest)
            matching[lost], total[lost] = near[lost], whole[lost]
        np.divide(matching[1:], total[1:], out=row[2:])
    return result


def _scores(queries: Floats, keys: Floats) -> Floats:
    """Inner products `queries keys^T`, (K, K), K padded to whole panels.

    The products of a panel involve the panels before it only, so later types do not change their shapes.
    """
    padding = ((0, -len(queries) % _PANEL), (0, 0))
    queries, keys = np.pad(queries, padding), np.pad(keys, padding)
    scores = np.empty((len(queries), len(keys)))
    for start in range(0, len(queries), _PANEL):
        stop = start + _PANEL
        np.matmul(queries[start:stop], keys[:stop].T, out=scores[start:stop, :stop])
        np.matmul(queries[:start], keys[start:stop].T, out=scores[:start, start:stop])
    return scores


def _exponentiate(scores: Floats, beta: float, bound: float, table: Floats) -> None:
    """Write exp(beta (scores - bound)) into `table`, by panels small enough for the processor's cache."""
    for start in range(0, len(scores), _PANEL):
        panel = table[start : start + _PANEL]
        np.subtract(scores[start : start + _PANEL], bound, out=panel)
        panel *= beta
        np.exp(panel, out=panel)


def _relative_kernel(beta: float, tie: float) -> Weigh:
    """Kernel relative to a reference score: exp(beta (score - reference)); at infinity, whether they tie."""
    if np.isinf(beta):
        return lambda scores, reference: (scores >= reference - tie).astype(np.float64)
    # Scores above the reference are those of contexts not seen yet, which count zero times but must not
    # overflow.
    return lambda scores, reference: np.exp(beta * np.minimum(scores - reference, 0.0))


def _as_it_is(weights: Floats, _: Floats) -> Floats:
    return weights


def kernel_masses(
    table: Floats, layout: Layout, weigh: Weigh = _as_it_is, reference: Floats | None = None
) -> tuple[Floats, Floats]:
    """Kernel mass on each pair's earlier pairs of its target, and on all its earlier pairs, (pairs,) each.

    Parameters
    ----------
    table
        A number for each context as query and as key, (K, K).
    weigh
        Turns numbers of the table, and the pair's reference beside them, into kernel weights.
    reference
        A number for each pair, (pairs,).
    """
    pairs = len(layout.contexts)
    if reference is None:
        reference = np.zeros(pairs)
    cell = layout.contexts[layout.position] * table.shape[1] + layout.contexts[layout.earlier]
    mass = weigh(table.ravel()[cell], reference[layout.position])
    matching = np.bincount(layout.position, weights=mass, minlength=pairs).astype(np.float64, copy=False)
    for sequence in layout.frequent:
        matching[sequence[layout.most :]] = _mass_before(table, layout, sequence, layout.most, weigh, reference)
    return matching, _mass_before(table, layout, np.arange(pairs), 0, weigh, reference)


def _mass_before(
    table: Floats, layout: Layout, sequence: Integers, start: int, weigh: Weigh, reference: Floats
) -> Floats:
    """Kernel mass of each pair in a sequence of pairs, from `start` on, on those before it in the sequence."""
    counts = np.bincount(layout.contexts[sequence[:start]], minlength=len(table)).astype(np.float64)
    masses = []
    for pair, size, known, present in _blocks(layout, sequence, start):
        context, beside = layout.contexts[pair], reference[pair, None]
        rows = table[context, :present]
        before = weigh(rows[:, :known], beside) @ counts[:known]
        within = weigh(rows[:, context], beside) * _EARLIER
        masses.append((before + within.sum(axis=1))[:size])
        counts += np.bincount(context[:size], minlength=len(counts))
    return np.concatenate(masses)


def _nearest_so_far(scores: Floats, layout: Layout) -> Floats:
    """Largest score of each pair's context against the contexts before it, (pairs,); -inf for the first."""
    largest = []
    for pair, size, known, present in _blocks(layout, np.arange(len(layout.contexts)), 0):
        rows = scores[layout.contexts[pair], :present]
        before = rows[:, :known].max(axis=1, initial=-np.inf)
        within = np.where(_EARLIER, rows[:, layout.contexts[pair]], -np.inf).max(axis=1)
        largest.append(np.maximum(before, within)[:size])
    return np.concatenate(largest)


def _blocks(layout: Layout, sequence: Integers, start: int) -> Iterator[tuple[Integers, int, int, int]]:
    """Cut a sequence of pairs into blocks of one size.

    Yields
    ------
    The pairs of a block, filled with the last of them; how many they are without the filling; how many contexts the
    document has shown before the block, and by its end.
    """
    for begin in range(start, len(sequence), _BLOCK):
        members = sequence[begin : begin + _BLOCK]
        pair = np.pad(members, (0, _BLOCK - len(members)), mode="edge")
        yield pair, len(members), int(layout.known[pair[0]]), int(layout.known[pair[-1]]) + 1
