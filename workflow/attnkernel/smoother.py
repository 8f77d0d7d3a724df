"""Attention as a kernel smoother: Definitions 1 and 2, and what Propositions 1 to 5 say about them.

Rows are tokens. A score is a log-kernel up to the temperature, so one careful softmax serves every kernel:
the dot product of attention, a Gaussian, or a kernel that vanishes outside a window (score minus infinity
there).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def attention_weights(scores: Array, temperature: float = 1.0, readable: Mask | None = None) -> Array:
    """Softmax of `scores / temperature` over the last axis (Definition 2), at any temperature in [0, inf].

    At temperature 0 the largest scores share the weight equally; at infinity every readable position has the
    same.

    Parameters
    ----------
    scores
        Shape (..., T, n). Minus infinity marks a position whose kernel is zero.
    temperature
        tau >= 0, in units of the scores.
    readable
        Boolean, broadcast against `scores`; None when every position may be read (bidirectional attention).

    Returns
    -------
    Weights, shape (..., T, n); every row sums to 1.

    Raises
    ------
    ValueError
        The temperature is negative or NaN, a readable score is NaN or plus infinity, or a row has nothing to
        read.
    """
    if not temperature >= 0.0:
        raise ValueError(f"the temperature must lie in [0, inf], not {temperature}")
    seen = np.asarray(scores, dtype=np.float64)
    if readable is not None:
        seen = np.where(readable, seen, -np.inf)
    peak = seen.max(axis=-1, keepdims=True, initial=-np.inf)
    if np.isnan(peak).any() or np.isposinf(peak).any():
        raise ValueError("a score is NaN or plus infinity")
    if np.isneginf(peak).any():
        row = tuple(int(i) for i in np.argwhere(np.isneginf(peak[..., 0]))[0])
        raise ValueError(f"row {row} has nothing to read: every score is masked or minus infinity")
    if temperature == 0.0:
        mass = (seen == peak).astype(np.float64)
    elif np.isposinf(temperature):
        mass = (seen > -np.inf).astype(np.float64)
    else:
        # Less than the peak by more than the largest float is still a weight of zero, not an accident.
        with np.errstate(over="ignore"):
            mass = np.exp((seen - peak) / temperature)
    weights: Array = mass / mass.sum(axis=-1, keepdims=True)
    return weights


def causal(length: int) -> Mask:
    """Mask of causal attention, shape (length, length): position t reads the positions up to t."""
    return np.tri(length, dtype=np.bool_)


def attention(
    queries: Array,
    keys: Array,
    values: Array,
    temperature: float | None = None,
    readable: Mask | None = None,
) -> Array:
    """Scaled dot-product attention (Definition 2; Vaswani et al. 2017), outputs of shape (..., T, d_v).

    Parameters
    ----------
    queries, keys, values
        Shapes (..., T, d_k), (..., n, d_k), (..., n, d_v).
    temperature
        tau; None for the default sqrt(d_k).
    readable
        As in `attention_weights`, which also says what is raised.
    """
    tau = float(np.sqrt(keys.shape[-1])) if temperature is None else temperature
    return attention_weights(queries @ np.swapaxes(keys, -1, -2), tau, readable) @ values


def nadaraya_watson(log_kernel: Array, values: Array, readable: Mask | None = None) -> Array:
    """Kernel regression (Definition 1; Nadaraya 1964, Watson 1964) from the logarithm of any kernel.

    Parameters
    ----------
    log_kernel
        log K(q, k_j), shape (..., T, n); minus infinity where the kernel vanishes.
    values
        Responses, shape (..., n, d_v), or (n,) for scalar ones.
    readable
        As in `attention_weights`, which also says what is raised.
    """
    return attention_weights(log_kernel, 1.0, readable) @ values


def gaussian_scores(queries: Array, keys: Array) -> Array:
    """Scores -|q - k|^2 / 2, shape (..., T, n): at temperature h^2, the Gaussian kernel of bandwidth h.

    The differences are formed before they are squared, so two keys equally far from a query tie exactly.
    """
    difference = queries[..., :, None, :] - keys[..., None, :, :]
    squared: Array = np.square(difference).sum(axis=-1)
    return -0.5 * squared


def design_scores(keys: Array) -> Array:
    """Scores |k|^2 / 2 of the design weights (Proposition 1 ii), shape (..., 1, n)."""
    squared: Array = np.square(keys).sum(axis=-1)[..., None, :]
    return 0.5 * squared


def mixture_draws(
    keys: Array, values: Array, temperature: float, count: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Draws (Q, V) of the mixture whose conditional mean attention is (Proposition 2).

    A component j has probability proportional to exp(|k_j|^2 / 2 tau), Q ~ N(k_j, tau I), and V = v_j.

    Returns
    -------
    Q, shape (count, d_k), and V, shape (count, d_v).
    """
    probability = attention_weights(design_scores(keys), temperature)[0]
    component = rng.choice(len(keys), size=count, p=probability)
    noise = rng.standard_normal((count, keys.shape[1]))
    return keys[component] + np.sqrt(temperature) * noise, values[component]


def orthogonality(residuals: Array, regressors: Array) -> Array:
    """Test E[residual x regressor] = 0 over independent draws by its z statistics.

    Parameters
    ----------
    residuals, regressors
        Shapes (count, a) and (count, b).

    Returns
    -------
    Mean over standard error of each product, shape (a, b).
    """
    products = residuals[:, :, None] * regressors[:, None, :]
    z: Array = products.mean(axis=0) / (products.std(axis=0, ddof=1) / np.sqrt(len(products)))
    return z


class RateBounds(NamedTuple):
    """Proposition 4 for each row of scores: how near attention is to a lookup, and to an average."""

    missed_weight: Array
    """Bound on 1 - alpha_max, from the gap of the two best scores."""
    lookup_error: Array
    """Bound on |o - v_best|."""
    least_weight: Array
    """Lower bound on every weight, from the range of the scores."""
    largest_weight: Array
    """Upper bound on every weight."""
    average_error: Array
    """Bound on |o - mean of the values|."""


def rate_bounds(scores: Array, values: Array, temperature: float) -> RateBounds:
    """Bounds of Proposition 4 at a finite positive temperature.

    Parameters
    ----------
    scores
        Shape (..., n), n >= 2; the best score of a row should be unique for the lookup bounds to say
        anything.
    values
        Shape (n, d_v).

    Returns
    -------
    Bounds, each of shape (...).
    """
    n = scores.shape[-1]
    ordered = np.sort(scores, axis=-1)
    gap, spread = ordered[..., -1] - ordered[..., -2], ordered[..., -1] - ordered[..., 0]
    longest = float(np.sqrt(np.square(values).sum(axis=-1)).max())
    missed = (n - 1) * np.exp(-gap / temperature)
    return RateBounds(
        missed_weight=missed,
        lookup_error=2.0 * longest * missed,
        least_weight=np.exp(-spread / temperature) / n,
        largest_weight=np.exp(spread / temperature) / n,
        average_error=longest * np.expm1(spread / temperature),
    )


class LookupDerivatives(NamedTuple):
    """Derivatives of one output o, shape (d_v,), with respect to what it read (Proposition 5)."""

    value: Array
    """do/dv_k is this factor times the identity, shape (n,)."""
    score: Array
    """do/ds_k with s = <q, k> / tau, shape (n, d_v)."""
    key: Array
    """do/dk_k, shape (n, d_v, d_k)."""
    query: Array
    """do/dq, shape (d_v, d_k): the covariance of values and keys under the weights, over tau."""


def lookup_derivatives(query: Array, keys: Array, values: Array, temperature: float) -> LookupDerivatives:
    """Differentiate `attention` at one query (Proposition 5); no product over positions appears in them.

    Parameters
    ----------
    query, keys, values
        Shapes (d_k,), (n, d_k), (n, d_v).
    """
    weights = attention_weights(query @ keys.T, temperature)
    by_score = weights[:, None] * (values - weights @ values)
    return LookupDerivatives(
        value=weights,
        score=by_score,
        key=by_score[:, :, None] * query / temperature,
        query=by_score.T @ keys / temperature,
    )
