"""Why 1/sqrt(d): how random dot products saturate the softmax (Theorem 2).

For Gaussian entries the scores of n keys, given the query, are |q| times n iid standard normals. So each
expectation is an integral over n + 1 numbers, whatever the dimension d: |q| has the chi law, and |q| /
sqrt(d) tends to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from attnkernel.smoother import attention_weights

Array = NDArray[np.float64]
Table = dict[str, NDArray[np.generic]]

STATISTICS: Final = ("one_minus_max", "jacobian")
"""Mean of 1 - alpha_max, and of the spectral norm of the softmax Jacobian."""

# |S_d| < 1 leaves the lesser of two weights at least this much (Theorem 2, after part iii).
LEAST_MISSED: Final = 1.0 / (1.0 + np.e)


def missed_weight(weights: Array) -> Array:
    """1 - alpha_max of softmax weights, shape (..., n) to (...): a sum, which keeps its digits near 0."""
    missed: Array = np.sort(weights, axis=-1)[..., :-1].sum(axis=-1)
    return missed


def jacobian(weights: Array) -> Array:
    """Softmax Jacobian diag(alpha) - alpha alpha^T in the scores, shape (..., n) to (..., n, n)."""
    return weights[..., :, None] * (np.eye(weights.shape[-1]) - weights[..., None, :])


def jacobian_norm(weights: Array, iterations: int = 8) -> Array:
    """Spectral norm of the softmax Jacobian, shape (..., n) to (...), without forming the matrix.

    The largest eigenvalue of diag(alpha) - alpha alpha^T lies between the two largest weights, a_1 > a_2, and
    solves the secular equation sum_j a_j^2 / (a_j - x) = 1 (Golub 1973). Since the weights sum to 1, that is
    1 / psi(x) = 1 - x / a_1 with psi(x) = sum_(j > 1) a_j / (x - a_j). The left side is concave and
    increasing, so Newton's steps climb to the root from below and never pass it; they start from the harmonic
    mean of a_1 and a_2, the root for two weights.
    """
    descending = -np.sort(-weights, axis=-1)
    first, second, others = descending[..., 0], descending[..., 1], descending[..., 1:]
    # Two equal largest weights are the norm themselves, and beside a weight of 1 there is none: neither is
    # iterated.
    settled = (first == second) | (second < 1e-300)
    top = np.where(settled, 1.0, first)
    tail = np.where(settled[..., None], 0.25, others)
    x = 2.0 / (1.0 / top + 1.0 / tail[..., 0])
    for _ in range(iterations):
        distance = x[..., None] - tail
        ratio = tail / distance
        psi = ratio.sum(axis=-1)
        slope = (ratio / distance).sum(axis=-1) / psi**2
        x = x - (1.0 / psi - 1.0 + x / top) / (slope + 1.0 / top)
    return np.where(settled, second, x)


def sample_scores(dimension: int, keys: int, draws: int, rng: np.random.Generator) -> Array:
    """Raw scores <q, k_j> of standard normal queries, each with keys of its own, shape (draws, keys)."""
    queries = rng.standard_normal((draws, dimension, 1))
    scores: Array = (rng.standard_normal((draws, keys, dimension)) @ queries)[..., 0]
    return scores


def sorted_normals(uniforms: Array) -> Array:
    """Order statistics of n iid standard normals, largest first, from n uniforms a row, shape (P, n).

    The largest of n uniforms is a power 1/n of one, the next is that times a power 1/(n-1), and so on: no
    sorting, so the map is smooth and its first coordinates matter most, which is what a low-discrepancy point
    set integrates well.
    """
    from scipy.special import ndtri

    n = uniforms.shape[1]
    ordered: Array = ndtri(np.exp(np.cumsum(np.log(uniforms) / np.arange(n, 0, -1), axis=1)))
    return ordered


def query_lengths(uniforms: Array, dimension: float) -> Array:
    """Quantiles of |q| for q ~ N(0, I_d), the chi law with d degrees of freedom; shape of `uniforms`."""
    from scipy.special import gammaincinv

    lengths: Array = np.sqrt(2.0 * gammaincinv(0.5 * dimension, uniforms))
    return lengths


def expectations(
    dimensions: Sequence[float], keys: int, rng: np.random.Generator, log2_points: int, scrambles: int
) -> tuple[Array, Array]:
    """Integrate `STATISTICS` over Gaussian queries and keys, unscaled and scaled, with standard errors.

    Scrambled Sobol points over |q| and the sorted scores (Owen 1997): the mean over a scramble's points is an
    unbiased estimate, and the spread of the scrambles gives the standard error. One point set serves every
    dimension.

    Parameters
    ----------
    dimensions
        Each d; infinity stands for the limit of the scaled scores, where the unscaled statistics vanish.
    log2_points, scrambles
        2^log2_points points in each of the scrambles.

    Returns
    -------
    Means and standard errors, both of shape (len(dimensions), 2, 2): dimension, unscaled or
    scaled, statistic.
    """
    from scipy.stats import qmc

    estimates = np.zeros((scrambles, len(dimensions), 2, 2))
    for estimate in estimates:
        points = qmc.Sobol(keys + 1, rng=rng).random_base2(log2_points)
        scores = sorted_normals(points[:, 1:])
        for d, cell in zip(dimensions, estimate, strict=True):
            if np.isinf(d):
                cell[1] = _means(attention_weights(scores))
            else:
                unscaled = query_lengths(points[:, :1], d) * scores
                cell[0] = _means(attention_weights(unscaled))
                cell[1] = _means(attention_weights(unscaled, np.sqrt(d)))
    return estimates.mean(axis=0), estimates.std(axis=0, ddof=1) / np.sqrt(scrambles)


def _means(weights: Array) -> tuple[float, float]:
    return float(missed_weight(weights).mean()), float(jacobian_norm(weights).mean())


def small_score_probability(dimension: float) -> float:
    """P(|S_d| < 1) for S_d = <q, k_1 - k_2>, which Theorem 2 needs to be of order 1 / sqrt(d).

    Given |q|, S_d is N(0, 2 |q|^2): Gauss and Legendre integrate erf(1 / 2|q|) over the quantiles of |q|.
    """
    from scipy.special import erf

    nodes, node_weights = np.polynomial.legendre.leggauss(200)
    lengths = query_lengths(0.5 * (nodes + 1.0), dimension)
    return float(0.5 * node_weights @ erf(0.5 / lengths))


def scaling_table(
    dimensions: Sequence[int],
    *,
    keys: int,
    draws: int,
    seed: np.random.SeedSequence,
    log2_points: int,
    scrambles: int,
) -> Table:
    """Table `scaling`: the mean of each statistic over a few draws at each dimension, beside its expectation.

    Columns: d, scaled, quantity, draws, mean, se (standard error of the mean), expectation, expectation_se,
    and z, the miss of the mean in standard errors.
    """
    *sample_seeds, sobol = seed.spawn(len(dimensions) + 1)
    expected, expected_se = expectations(dimensions, keys, np.random.default_rng(sobol), log2_points, scrambles)
    values = np.empty((len(dimensions), 2, 2, draws))
    for cell, d, own in zip(values, dimensions, sample_seeds, strict=True):
        scores = sample_scores(d, keys, draws, np.random.default_rng(own))
        for scaled, temperature in enumerate((1.0, np.sqrt(d))):
            weights = attention_weights(scores, temperature)
            cell[scaled] = missed_weight(weights), jacobian_norm(weights)
    mean, se = values.mean(axis=-1), values.std(axis=-1, ddof=1) / np.sqrt(draws)
    d_index, scaled_index, quantity = (index.ravel() for index in np.indices(mean.shape))
    return {
        "d": np.array(dimensions)[d_index],
        "scaled": scaled_index.astype(np.bool_),
        "quantity": np.array(STATISTICS)[quantity],
        "draws": np.full(mean.size, draws),
        "mean": mean.ravel(),
        "standard_error": se.ravel(),
        "expectation": expected.ravel(),
        "expectation_error": expected_se.ravel(),
        "z": ((mean - expected) / np.hypot(se, expected_se)).ravel(),
    }


def limits_table(
    dimensions: Sequence[int],
    *,
    keys: int,
    draws: int,
    seed: np.random.SeedSequence,
    log2_points: int,
    scrambles: int,
) -> Table:
    """Table `scaling_limits`: what Theorem 2 says beyond the table of draws.

    Columns: quantity, d (NaN where the row has none), value, standard_error (NaN where the value is exact),
    and `reference`: what the value is held against, NaN for the two limits. Rows:

    - `limit one_minus_max`, `limit jacobian`: expectations of the scaled statistics as d grows;
    - `sqrt(pi d) P(|S_d| < 1)`: tends to 1;
    - `1 / (1 + e)`, and `least 1 - alpha_max where |S_d| < 1`, two keys, which stays above it;
    - `excess of ...`: the largest violation of a bound of part (ii) over the draws, 0 but for rounding.
    """
    sobol, two_keys, many_keys = (np.random.default_rng(own) for own in seed.spawn(3))
    expected, expected_se = expectations([np.inf], keys, sobol, log2_points, scrambles)
    rows: list[tuple[str, float, float, float, float]] = [
        (f"limit {name}", np.inf, value, se, np.nan)
        for name, value, se in zip(STATISTICS, expected[0, 1], expected_se[0, 1], strict=True)
    ]
    for d in dimensions:
        product = np.sqrt(np.pi * d) * small_score_probability(d)
        rows.append(("sqrt(pi d) P(|S_d| < 1)", d, product, np.nan, 1.0))
    rows.append(("1 / (1 + e)", np.nan, LEAST_MISSED, np.nan, np.nan))
    for d in dimensions:
        pairs = sample_scores(d, 2, draws, two_keys)
        near = pairs[np.abs(pairs[:, 0] - pairs[:, 1]) < 1.0]
        least = missed_weight(attention_weights(near)).min(initial=1.0)
        rows.append(("least 1 - alpha_max where |S_d| < 1", d, float(least), np.nan, LEAST_MISSED))
    scores = [sample_scores(d, keys, draws, many_keys) for d in dimensions]
    weights = np.concatenate(
        [attention_weights(s, tau) for s, d in zip(scores, dimensions, strict=True) for tau in (1.0, np.sqrt(d))]
    )
    norm, trace = jacobian_norm(weights), 1.0 - np.square(weights).sum(axis=1)
    for name, excess in (
        ("|J| over tr J", norm - trace),
        ("tr J over 2 (1 - alpha_max)", trace - 2.0 * missed_weight(weights)),
        ("|J| over 1/2", norm - 0.5),
    ):
        rows.append((f"excess of {name}", np.nan, float(excess.max()), np.nan, 0.0))
    quantity, dimension, value, errors, reference = zip(*rows, strict=True)
    return {
        "quantity": np.array(quantity),
        "d": np.array(dimension, dtype=np.float64),
        "value": np.array(value),
        "standard_error": np.array(errors),
        "reference": np.array(reference),
    }
