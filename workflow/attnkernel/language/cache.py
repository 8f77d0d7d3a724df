"""The kernel cache: attention over a document's own earlier words (Definition 3).

The kernel sees only context *types*, so every sum over positions is a sum over distinct contexts with counts.
And a prediction depends on earlier tokens alone to the last bit: no matrix product and no sum here has a
shape, an order or an operand that a later token could change. That is why types are numbered by first
appearance, products run over panels of fixed size, and blocks of positions are padded. How the sums over earlier
positions are taken, `attnkernel.language.earlier` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attnkernel.language.earlier import PANEL, Earlier, Kernel, by_first_appearance, filled
from attnkernel.progress import track

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Weigh = Callable[[Floats, Floats], Floats]

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
    norm = _largest_norm(queries)
    bound = norm * (norm if keys is queries else _largest_norm(keys))
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
    repeats
        Earlier pairs of each pair's target, (pairs,).
    position, earlier
        Each pair beside each earlier pair of the same target, among the first `most` of the target.
    listed, begin
        The pairs that have such earlier ones, and where those of each begin.
    frequent
        All the pairs of each target that has more.
    most
        That bound: pairs of pairs would otherwise grow with the square of the document.
    """

    types: Integers
    contexts: Integers
    known: Integers
    repeats: Integers
    position: Integers
    earlier: Integers
    listed: Integers
    begin: Integers
    frequent: list[Integers]
    most: int

    def cells(self, table: Floats) -> Integers:
        """Where the kernel of each pair of `position` and `earlier` stands in a table laid flat."""
        return np.asarray(self.contexts[self.position] * table.shape[1] + self.contexts[self.earlier])


def lay_out(document: Integers, most: int = _BLOCK) -> Layout:
    """Read a document of at least two tokens as pairs; see `Layout`."""
    types, contexts, first = by_first_appearance(document[:-1])
    new = np.zeros(len(contexts), dtype=np.int64)
    new[first] = 1

    targets = document[1:]
    # The pairs by their target, and each one's rank among those of its target.
    order = np.argsort(targets, kind="stable")
    of_order = targets[order]
    start = np.flatnonzero(np.append(True, of_order[1:] != of_order[:-1]))
    size = np.diff(start, append=len(targets))
    start_of = np.repeat(start, size)
    rank = np.arange(len(targets)) - start_of
    repeats = np.empty_like(rank)
    repeats[order] = rank
    return Layout(
        types,
        contexts,
        np.cumsum(new) - new,
        repeats,
        *_earlier_pairs(order, start_of, np.where(rank < most, rank, 0)),
        [order[start[often] : start[often] + size[often]] for often in np.flatnonzero(size > most)],
        most,
    )


def _earlier_pairs(
    order: Integers, start_of: Integers, number: Integers
) -> tuple[Integers, Integers, Integers, Integers]:
    """List the first `number` pairs of each pair's target beside it; see `position` to `begin` of `Layout`."""
    begin = np.cumsum(number) - number
    earlier = order[np.arange(number.sum()) + np.repeat(start_of - begin, number)]
    has = number > 0
    return np.repeat(order, number), earlier, order[has], begin[has]


def _document_cache(
    document: Integers, queries: Floats, keys: Floats, betas: Floats, *, bound: float, tie: float
) -> Floats:
    result = np.full((len(betas), len(document)), np.nan)
    if len(document) < 3:
        return result
    layout = lay_out(document)
    own = queries[layout.types]
    scores = _scores(own, own if keys is queries else keys[layout.types])
    finite = (betas > 0.0) & np.isfinite(betas)
    matching, total = np.zeros((2, len(betas), len(layout.contexts)))
    matching[betas == 0.0], total[betas == 0.0] = layout.repeats, np.arange(len(layout.repeats))
    if finite.any():
        matching[finite], total[finite] = kernel_masses(scores, layout, _kernels(betas[finite], bound))
    # Chosen position by position, so that a later token cannot change how an earlier one is computed.
    lost = total < _TINY
    lost[:, 0] = False
    if lost.any():
        nearest = _nearest_so_far(scores, layout)
    for beta, where, of_target, whole in zip(betas, lost, matching, total, strict=True):
        if where.any():
            near = _relative_masses(scores, layout, _relative_kernel(beta, tie), nearest)
            of_target[where], whole[where] = near[0][where], near[1][where]
    np.divide(matching[:, 1:], total[:, 1:], out=result[:, 2:])
    return result


def _kernels(betas: Floats, bound: float) -> list[Kernel]:
    """exp(beta (score - bound)) at each beta, in order.

    At twice the beta before, the kernel is the square of what that gave: a product is quicker than an exponential, and
    a square doubles the relative error, as twice the exponent does.
    """
    return [
        _square if beta == 2.0 * before else partial(_exponential, beta, bound)
        for before, beta in pairwise([np.nan, *betas])
    ]


def _square(_: Floats, kernel: Floats) -> None:
    np.multiply(kernel, kernel, out=kernel)


def _exponential(beta: float, bound: float, scores: Floats, kernel: Floats) -> None:
    np.subtract(scores, bound, out=kernel)
    kernel *= beta
    np.exp(kernel, out=kernel)


def _scores(queries: Floats, keys: Floats) -> Floats:
    """Inner products `queries keys^T`, (K, K), K filled up to whole panels.

    The products of a panel involve the panels before it only, so later types do not change their shapes. Vectors among
    themselves have each product once, whichever is the query.
    """
    symmetric = keys is queries
    queries = filled(queries, PANEL)
    keys = queries if symmetric else filled(keys, PANEL)
    scores = np.empty((len(queries), len(keys)))
    for start in range(0, len(queries), PANEL):
        stop = start + PANEL
        np.matmul(queries[start:stop], keys[:stop].T, out=scores[start:stop, :stop])
        if symmetric:
            scores[:start, start:stop] = scores[start:stop, :start].T
        else:
            np.matmul(queries[:start], keys[start:stop].T, out=scores[:start, start:stop])
    return scores


def kernel_masses(scores: Floats, layout: Layout, kernels: Sequence[Kernel]) -> tuple[Floats, Floats]:
    """Mass on each pair's earlier pairs of its target, and on all its earlier pairs, (kernels, pairs) each.

    Parameters
    ----------
    scores
        The score of each context as query and as key, (K, K), K filled up to whole panels.
    kernels
        What turns scores into weights.
    """
    matching = np.zeros((len(kernels), len(layout.contexts)))
    # Gathered once for all kernels: what is scattered over a large table takes long to fetch.
    repeated = scores.ravel()[layout.cells(scores)]
    weights = np.empty_like(repeated)
    for weigh, mass in zip(kernels, matching, strict=True):
        weigh(repeated, weights)
        mass[layout.listed] = np.add.reduceat(weights, layout.begin)
    for pairs in layout.frequent:
        masses = Earlier(layout.contexts, pairs).masses(scores, kernels)
        matching[:, pairs[layout.most :]] = masses[:, layout.most :]
    return matching, Earlier(layout.contexts).masses(scores, kernels)


def _relative_kernel(beta: float, tie: float) -> Weigh:
    """Kernel relative to a reference score: exp(beta (score - reference)); at infinity, whether they tie."""
    if np.isinf(beta):
        return lambda scores, reference: (scores >= reference - tie).astype(np.float64)
    # Scores above the reference are those of contexts not seen yet, which count zero times but must not
    # overflow.
    return lambda scores, reference: np.exp(beta * np.minimum(scores - reference, 0.0))


def _relative_masses(scores: Floats, layout: Layout, weigh: Weigh, reference: Floats) -> tuple[Floats, Floats]:
    """`kernel_masses` where each pair has a kernel of its own, relative to its reference; by blocks of pairs."""
    repeated = weigh(scores.ravel()[layout.cells(scores)], reference[layout.position])
    matching = np.zeros(len(layout.contexts))
    matching[layout.listed] = np.add.reduceat(repeated, layout.begin)
    for pairs in layout.frequent:
        matching[pairs[layout.most :]] = _mass_before(scores, layout, pairs, layout.most, weigh, reference)
    return matching, _mass_before(scores, layout, np.arange(len(layout.contexts)), 0, weigh, reference)


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
