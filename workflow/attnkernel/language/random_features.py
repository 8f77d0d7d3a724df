"""The kernel cache through random features (Propositions 8 and 9): what a state of fixed size loses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from attnkernel.features import positive_features
from attnkernel.language.cache import Layout, cache_probabilities, kernel_masses, lay_out, mixture
from attnkernel.language.earlier import PANEL, filled
from attnkernel.language.evaluate import losses, ratio_mean

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Table = dict[str, NDArray[Any]]

_BLOCK: Final = 512


def total_variation(
    documents: Sequence[Integers],
    clusters: Integers,
    vectors: Floats,
    betas: Sequence[float],
    sizes: Sequence[int],
    draws: Floats,
) -> Table:
    """How far attention through m random features is from exact attention, over the positions of documents.

    Parameters
    ----------
    documents
        Token ids of each document.
    clusters
        What its errors are clustered by: the number of each document, or of its group, (documents,).
    vectors
        Word vectors u, (types, d); the exact kernel is exp(beta <u, u'>).
    betas
        Concentrations, finite.
    sizes
        Numbers of features m; the first m rows of `draws` serve every document and every beta.
    draws
        Rows w ~ N(0, I), (at least the largest m, d).

    Returns
    -------
    One row a beta and m: beta, features, total_variation (mean over positions with something to read), se
    (clustered), relative_variance (mean over the same positions of the variance of the
    approximate normaliser over all draws, relative to its squared mean: Proposition 8 summed over the
    positions read), documents, positions.
    """
    readable = [document for document in documents if len(document) > 2]
    code = np.repeat(clusters, [max(0, len(document) - 2) for document in documents])
    columns: dict[str, list[Any]] = {
        name: []
        for name in ("beta", "features", "total_variation", "se", "relative_variance", "documents", "positions")
    }
    for beta in betas:
        parts = [_compare(lay_out(document), vectors, beta, sizes, draws) for document in readable]
        distances = np.concatenate([part[0] for part in parts], axis=1)
        spread = np.concatenate([part[1] for part in parts])
        for size, distance in zip(sizes, distances, strict=True):
            estimate = ratio_mean(distance, code)
            row = (beta, size, estimate.mean, estimate.se, spread.mean() / size, len(readable), len(distance))
            for name, value in zip(columns, row, strict=True):
                columns[name].append(value)
    return {name: np.array(values) for name, values in columns.items()}


def feature_cache(documents: Sequence[Integers], features: Floats) -> list[Floats]:
    """Probabilities of the cache whose kernel is an inner product of features, through context types with counts.

    Parameters
    ----------
    documents
        Token ids of each document.
    features
        Positive features of every type, (types, m), such as `positive_features(sqrt(beta) u, draws)`.

    Returns
    -------
    One (tokens,) array a document, NaN where nothing precedes.
    """
    probabilities = []
    for document in documents:
        result = np.full(len(document), np.nan)
        if len(document) > 2:
            layout = lay_out(document)
            known = filled(features[layout.types], PANEL)
            matching, total = kernel_masses(known @ known.T, layout, [lambda kernel, out: np.copyto(out, kernel)])
            result[2:] = matching[0, 1:] / total[0, 1:]
        probabilities.append(result)
    return probabilities


def state_cache(document: Integers, features: Floats) -> Floats:
    """Compute `feature_cache` of one document as a recurrence of fixed-size states (Proposition 9).

    The state of a word sums the features of the contexts that it followed, the normaliser's those of all
    contexts: nothing else of the past is kept.
    """
    words, target = np.unique(document[1:], return_inverse=True)
    state, normaliser = np.zeros((len(words), features.shape[1])), np.zeros(features.shape[1])
    probabilities = np.full(len(document), np.nan)
    for t in range(1, len(document)):
        context, word = features[document[t - 1]], target[t - 1]
        if t > 1:
            probabilities[t] = (context @ state[word]) / (context @ normaliser)
        state[word] += context
        normaliser += context
    return probabilities


def _compare(
    layout: Layout, vectors: Floats, beta: float, sizes: Sequence[int], draws: Floats
) -> tuple[Floats, Floats]:
    """Total variation at each m, (sizes, positions), and the relative variance at m = 1, (positions,)."""
    known = np.sqrt(beta) * vectors[layout.types]
    exact = np.exp(known @ known.T)
    approximate = []
    for size in sizes:
        features = positive_features(known, draws[:size])
        approximate.append(features @ features.T)
    length = np.exp(np.einsum("ij,ij->i", known, known))

    distances, spread = [], []
    for context, counts in _counts(layout):
        weights = _weights(exact, context, counts)
        distances.append(
            [0.5 * np.abs(_weights(kernel, context, counts) - weights).sum(axis=1) for kernel in approximate]
        )
        # The second moment of one feature's normaliser: e^|x|^2 sum_kl a_k a_l e^<y_k, y_l>, a_k = n_k e^(2
        # <x, y_k>); relative to the squared normaliser, a_k becomes the weight times the kernel.
        tilted = weights * exact[context]
        spread.append(length[context] * np.einsum("tk,tk->t", tilted @ exact, tilted) - 1.0)
    return np.concatenate(distances, axis=1), np.concatenate(spread)


def _counts(layout: Layout) -> Iterator[tuple[Integers, Floats]]:
    """The context of each pair but the first, and its earlier pairs by context, (pairs, K), in blocks."""
    before = np.zeros(len(layout.types))
    for start in range(0, len(layout.contexts) - 1, _BLOCK):
        read = layout.contexts[start : min(start + _BLOCK, len(layout.contexts) - 1)]
        steps = np.zeros((len(read), len(layout.types)))
        steps[np.arange(len(read)), read] = 1.0
        counts = before + np.cumsum(steps, axis=0)
        before = counts[-1]
        yield layout.contexts[start + 1 : start + 1 + len(read)], counts


def _weights(kernel: Floats, context: Integers, counts: Floats) -> Floats:
    """Attention of each position over context types, (positions, K)."""
    mass = counts * kernel[context]
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))


def mixture_table(
    documents: Sequence[Integers],
    clusters: Integers,
    vectors: Floats,
    kneser_ney: Floats,
    beta: float,
    weight: float,
    sizes: Sequence[int],
    draws: Floats,
) -> Table:
    """What random features cost the mixture with Kneser-Ney, and whether the recurrence gives the same cache.

    Parameters
    ----------
    documents, clusters, vectors, sizes, draws
        As in `total_variation`.
    kneser_ney
        Probability of each token, one document after another, (tokens,).
    beta, weight
        Concentration of the cache and lambda, both chosen on development documents.

    Returns
    -------
    One row an m: beta, lambda, cache_share (1 - lambda), features, loss, se (nats per token, clustered), exact (with
    the exact kernel), gap (loss less exact), state_residual (largest difference of any probability between the
    recurrence of Proposition 9 and the sum over contexts).
    """
    code = np.repeat(clusters, [len(tokens) for tokens in documents])
    scaled = np.sqrt(beta) * vectors
    exact_cache = np.concatenate(cache_probabilities(documents, scaled, scaled, [1.0]), axis=1)[0]
    exact = ratio_mean(losses(mixture(kneser_ney, exact_cache, weight)), code).mean
    rows = []
    for size in sizes:
        features = positive_features(scaled, draws[:size])
        caches = feature_cache(documents, features)
        loss = ratio_mean(losses(mixture(kneser_ney, np.concatenate(caches), weight)), code)
        # The recurrence goes token by token; one document shows whether it agrees.
        residual = np.nanmax(np.abs(state_cache(documents[0], features) - caches[0]), initial=0.0)
        rows.append((beta, weight, 1.0 - weight, size, loss.mean, loss.se, exact, loss.mean - exact, residual))
    names = ("beta", "lambda", "cache_share", "features", "loss", "se", "exact", "gap", "state_residual")
    return {name: np.array(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)}


def check_table(variation: Table, mixed: Table) -> Table:
    """What must be true of random features, one row a check: check, holds, value, bound.

    The error falls with the number of features and grows with the kernel's sharpness, at every entry; the recurrence
    equals the sum over contexts.
    """
    shape = (len(np.unique(variation["beta"])), len(np.unique(variation["features"])))
    error = variation["total_variation"].reshape(shape)
    rows = [
        ("error falls with the number of features", float(-np.diff(error, axis=1).max(initial=-np.inf)), 0.0, 1.0),
        ("error grows with beta", float(np.diff(error, axis=0).min(initial=np.inf)), 0.0, 1.0),
        ("the recurrence equals the sum over contexts", float(mixed["state_residual"].max()), 1e-12, -1.0),
    ]
    return {
        "check": np.array([row[0] for row in rows], dtype=object),
        "holds": np.array([sign * value > sign * bound for _, value, bound, sign in rows]),
        "value": np.array([row[1] for row in rows]),
        "bound": np.array([row[2] for row in rows]),
    }
