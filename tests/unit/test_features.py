"""Kernels that factor: permutations in two dimensions, random features, and the recurrence."""

import numpy as np
import pytest

from attnkernel import features, smoother


@pytest.mark.parametrize("n", [2, 3, 10, 64])
def test_two_dimensions_realize_any_permutation(n):
    permutation = np.random.default_rng(n).permutation(n)
    queries, keys = features.permutation_head(permutation)
    weights = smoother.attention_weights(queries @ keys.T, 1e-5)
    np.testing.assert_allclose(weights, np.eye(n)[permutation], atol=1e-12)


def test_features_are_positive_and_unbiased_with_the_stated_variance():
    rng = np.random.default_rng(0)
    x, y = np.array([0.3, -0.2, 0.4]), np.array([0.1, 0.5, 0.2])
    draws = rng.standard_normal((20_000, 8, 3))
    estimates = np.array([features.positive_features(x, w) @ features.positive_features(y, w) for w in draws])
    variance = features.feature_variance(x, y, 8)
    assert estimates.min() > 0.0
    assert estimates.mean() == pytest.approx(np.exp(x @ y), abs=4.0 * np.sqrt(variance / len(draws)))
    assert estimates.var(ddof=1) == pytest.approx(variance, rel=0.05)


def test_features_of_many_points_are_the_features_of_each():
    rng = np.random.default_rng(1)
    x, draws = rng.standard_normal((2, 5, 3)), rng.standard_normal((7, 3))
    stacked = features.positive_features(x, draws)
    assert stacked.shape == (2, 5, 7)
    np.testing.assert_allclose(stacked[1, 2], features.positive_features(x[1, 2], draws))


def test_the_recurrence_is_causal_attention_with_the_factored_kernel():
    rng = np.random.default_rng(2)
    q, k = np.exp(rng.standard_normal((2, 30, 6)))
    v = rng.standard_normal((30, 4))
    ours = features.factored_attention(q, k, v)
    np.testing.assert_allclose(ours, features.factored_weights(q, k) @ v, rtol=1e-11, atol=1e-13)
    reference = smoother.nadaraya_watson(np.log(q @ k.T), v, smoother.causal(30))
    np.testing.assert_allclose(ours, reference, rtol=1e-11, atol=1e-13)


def test_the_recurrence_never_looks_ahead():
    rng = np.random.default_rng(3)
    q, k = np.exp(rng.standard_normal((2, 12, 3)))
    v = rng.standard_normal((12, 2))
    short = features.factored_attention(q[:7], k[:7], v[:7])
    np.testing.assert_array_equal(features.factored_attention(q, k, v)[:7], short)


def test_enough_features_approach_exact_attention():
    rng = np.random.default_rng(4)
    x = 0.5 * rng.standard_normal((10, 3))
    exact = smoother.attention_weights(x @ x.T, 1.0, smoother.causal(10))
    errors = []
    for count in (16, 65_536):
        phi = features.positive_features(x, rng.standard_normal((count, 3)))
        errors.append(0.5 * np.abs(features.factored_weights(phi, phi) - exact).sum(axis=1).mean())
    assert errors[1] < 0.01 < errors[0]
