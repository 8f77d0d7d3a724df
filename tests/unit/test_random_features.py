"""The cache through random features: its table, its state form, its positivity."""

import numpy as np
import pytest

from attnkernel.features import feature_variance, positive_features
from attnkernel.language import random_features
from attnkernel.language.cache import cache_probabilities, mixture
from attnkernel.language.random_features import feature_cache, mixture_table, state_cache, total_variation

TYPES, DIMENSIONS = 30, 6
RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(TYPES, DIMENSIONS))
VECTORS /= np.linalg.norm(VECTORS, axis=1, keepdims=True)
VECTORS[0] = 0.0
DOCUMENTS = [np.minimum(RNG.zipf(1.4, size=n) - 1, TYPES - 1) for n in (0, 1, 2, 3, 40, 70)]
APART = np.arange(len(DOCUMENTS))
DRAWS = RNG.normal(size=(64, DIMENSIONS))


def literal_weights(document, kernel):
    """Attention over earlier positions, one position at a time."""
    for t in range(2, len(document)):
        weights = kernel[document[t - 1], document[: t - 1]]
        yield weights / weights.sum()


@pytest.mark.parametrize("block", [512, 16])
def test_total_variation_over_types_is_that_over_positions(monkeypatch, block):
    monkeypatch.setattr(random_features, "_BLOCK", block)
    table = total_variation(DOCUMENTS, APART, VECTORS, (0.5, 4.0), (8, 64), DRAWS)
    assert list(zip(table["beta"], table["features"], strict=True)) == [(0.5, 8), (0.5, 64), (4.0, 8), (4.0, 64)]
    for beta, size, ours in zip(table["beta"], table["features"], table["total_variation"], strict=True):
        features = positive_features(np.sqrt(beta) * VECTORS, DRAWS[:size])
        kernels = np.exp(beta * VECTORS @ VECTORS.T), features @ features.T
        distances = [
            0.5 * np.abs(exact - approximate).sum()
            for document in DOCUMENTS
            for exact, approximate in zip(*(literal_weights(document, kernel) for kernel in kernels), strict=True)
        ]
        assert ours == pytest.approx(np.mean(distances), abs=1e-12)


def test_the_relative_variance_of_the_normaliser_is_that_of_fresh_draws():
    # A small beta: at a larger one the variance rests on draws too rare to sample.
    document, beta, size = np.array([1, 2, 1, 3, 3]), 0.1, 4
    ours = total_variation([document], APART[:1], VECTORS, (beta,), (size,), DRAWS)["relative_variance"][0]
    known = np.sqrt(beta) * VECTORS
    draws = np.random.default_rng(1).normal(size=(20_000 * size, DIMENSIONS))
    expected = []
    for t in (2, 3, 4):
        read = positive_features(known[document[: t - 1]], draws).sum(axis=0)
        terms = (positive_features(known[document[t - 1]], draws) * read).reshape(-1, size).sum(axis=1)
        expected.append(terms.var() / terms.mean() ** 2)
    assert ours == pytest.approx(np.mean(expected), rel=0.05)


def test_reading_one_position_the_relative_variance_is_that_of_the_kernel():
    # Proposition 8 itself.
    x, y = np.sqrt(2.0) * VECTORS[[2, 1]]
    ours = total_variation([np.array([1, 2, 3])], APART[:1], VECTORS, (2.0,), (4,), DRAWS)["relative_variance"][0]
    assert ours == pytest.approx(feature_variance(x, y, 4) / np.exp(2.0 * (x @ y)), rel=1e-12)


def test_the_table_falls_with_features_and_grows_with_beta_on_average_draws():
    rng = np.random.default_rng(2)
    tables = [
        total_variation(DOCUMENTS, APART, VECTORS, (0.5, 2.0), (8, 64), rng.normal(size=(64, DIMENSIONS)))
        for _ in range(20)
    ]
    low_8, low_64, high_8, high_64 = np.mean([table["total_variation"] for table in tables], axis=0)
    assert low_64 < low_8 < high_8
    assert low_64 < high_64 < high_8


def test_errors_are_clustered_by_group_where_documents_have_one():
    two, pairs, arguments = DOCUMENTS[-2:], np.array([0, 1, 0, 1]), (VECTORS, (2.0,), (8,), DRAWS)
    once = total_variation(two, APART[:2], *arguments)
    copies = total_variation(2 * two, pairs, *arguments)
    apart = total_variation(2 * two, APART[:4], *arguments)
    assert copies["se"] == pytest.approx(once["se"])  # a document and its copy are one piece of evidence
    assert apart["se"] < 0.8 * once["se"]
    loss = mixture_table(two, APART[:2], VECTORS, np.full(110, 0.01), 2.0, 0.9, (8,), DRAWS)
    copied = mixture_table(2 * two, pairs, VECTORS, np.full(220, 0.01), 2.0, 0.9, (8,), DRAWS)
    assert copied["se"] == pytest.approx(loss["se"])


@pytest.mark.parametrize("beta", [0.5, 8.0])
def test_the_running_state_gives_the_weights_form(beta):
    features = positive_features(np.sqrt(beta) * VECTORS, DRAWS)
    for document, weights_form in zip(DOCUMENTS, feature_cache(DOCUMENTS, features), strict=True):
        np.testing.assert_allclose(state_cache(document, features), weights_form, rtol=0.0, atol=1e-12)


def test_exact_features_give_the_exact_cache():
    # The kernel's own Cholesky factor is a feature map without randomness.
    features = np.linalg.cholesky(np.exp(2.0 * VECTORS @ VECTORS.T))
    ours = feature_cache(DOCUMENTS, features)
    exact = cache_probabilities(DOCUMENTS, VECTORS, VECTORS, [2.0])
    for one, other in zip(ours, exact, strict=True):
        np.testing.assert_allclose(one, other[0], atol=1e-12)


def test_the_approximate_cache_still_mixes_to_probabilities():
    features = positive_features(np.sqrt(8.0) * VECTORS, DRAWS[:4])
    for cache in feature_cache(DOCUMENTS, features):
        mixed = mixture(np.full(len(cache), 0.01), cache, 0.9)
        assert ((mixed > 0.0) & (mixed <= 1.0)).all()
