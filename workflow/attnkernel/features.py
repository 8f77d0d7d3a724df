"""Kernels that factor: Propositions 7 to 9.

A head's scores have low rank; its exponential has not, but random features factor it in the mean, and a
factored kernel turns causal attention into a recurrence.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def permutation_head(permutation: NDArray[np.int64]) -> tuple[Array, Array]:
    """Build queries and keys in two dimensions whose attention tends to a permutation (Proposition 7).

    As tau -> 0, that is: the keys stand on a circle and each query points at the key that it is to read; no
    other key can score as high.

    Returns
    -------
    Queries and keys, both of shape (n, 2); position i reads `permutation[i]`.
    """
    n = len(permutation)
    angle = 2.0 * np.pi * np.arange(n) / n
    keys = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return keys[permutation], keys


def positive_features(x: Array, draws: Array) -> Array:
    """Positive random features of the exponential kernel (Proposition 8; Choromanski et al. 2021).

    Parameters
    ----------
    x
        Shape (..., d).
    draws
        Rows w_i ~ N(0, I), shape (m, d).

    Returns
    -------
    exp(<w_i, x> - |x|^2 / 2) / sqrt(m), shape (..., m); inner products estimate exp(<x, y>) without bias.
    """
    half = 0.5 * np.square(x).sum(axis=-1, keepdims=True)
    features: Array = np.exp(x @ draws.T - half) / np.sqrt(len(draws))
    return features


def feature_variance(x: Array, y: Array, count: int) -> Array:
    """Variance of the inner product of `count` positive features of x and y (Proposition 8), shape (...)."""
    inner = (x * y).sum(axis=-1)
    variance: Array = np.exp(2.0 * inner) * np.expm1(np.square(x + y).sum(axis=-1)) / count
    return variance


def factored_weights(query_features: Array, key_features: Array) -> Array:
    """Causal attention weights of a factored kernel, shape (T, T); the form that costs T^2.

    Parameters
    ----------
    query_features, key_features
        phi(q_t) and phi(k_t), both of shape (T, m); their inner products must be positive.
    """
    kernel = np.tril(query_features @ key_features.T)
    weights: Array = kernel / kernel.sum(axis=1, keepdims=True)
    return weights


def factored_attention(query_features: Array, key_features: Array, values: Array) -> Array:
    """Causal attention of a factored kernel as a recurrence (Proposition 9; Katharopoulos et al. 2020).

    Parameters
    ----------
    query_features, key_features
        phi(q_t) and phi(k_t), both of shape (T, m).
    values
        Shape (T, d_v).

    Returns
    -------
    Outputs, shape (T, d_v), those of `factored_weights` times the values, at a cost linear in
    T: the state is as large at every t.
    """
    numerator = np.zeros((key_features.shape[1], values.shape[1]))
    normaliser = np.zeros(key_features.shape[1])
    outputs = np.empty((len(values), values.shape[1]))
    for t, (query, key, value) in enumerate(zip(query_features, key_features, values, strict=True)):
        numerator += np.outer(key, value)
        normaliser += key
        outputs[t] = (query @ numerator) / (query @ normaliser)
    return outputs
