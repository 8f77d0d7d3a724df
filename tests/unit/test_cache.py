"""The kernel cache (Definition 3): its readouts, its limits, and that it never looks ahead."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnkernel.language.cache import cache_distribution, cache_probabilities, mixture

BETAS = (0.0, 0.5, 2.0, 16.0, 1000.0, np.inf)
# a, b and c of the worked example.
ABC = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])


def unit_vectors(types, dimensions, seed):
    """Random unit vectors, of which the first is zero and the next two are twins."""
    vectors = np.random.default_rng(seed).normal(size=(types, dimensions))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[0] = 0.0
    vectors[2] = vectors[1]
    return vectors


def zipf_document(tokens, types, seed):
    return np.minimum(np.random.default_rng(seed).zipf(1.3, size=tokens) - 1, types - 1)


def position_by_position(document, queries, keys, beta):
    """The definition read literally: a sum over all earlier positions for each position."""
    probabilities = np.full(len(document), np.nan)
    for t in range(2, len(document)):
        scores = keys[document[: t - 1]] @ queries[document[t - 1]]
        away = scores - scores.max()
        kernel = (away >= -1e-9).astype(float) if np.isinf(beta) else np.exp(beta * away)
        probabilities[t] = kernel[document[1:t] == document[t]].sum() / kernel.sum()
    return probabilities


@pytest.mark.parametrize("tokens", [0, 1, 2, 3, 63, 128, 129, 130, 400])
def test_sums_over_types_equal_sums_over_positions(tokens):
    vectors = unit_vectors(150, 20, seed=1)
    document = zipf_document(tokens, 150, seed=tokens)
    ours = cache_probabilities([document], vectors, vectors, BETAS)[0]
    assert ours.shape == (len(BETAS), tokens)
    for row, beta in zip(ours, BETAS, strict=True):
        np.testing.assert_allclose(row, position_by_position(document, vectors, vectors, beta), rtol=1e-12, atol=1e-15)


def test_sums_over_types_equal_sums_over_positions_for_frequent_targets():
    vectors = unit_vectors(6, 3, seed=16)
    document = np.random.default_rng(17).choice(6, size=1000, p=(0.5, 0.3, 0.1, 0.05, 0.04, 0.01))
    for row, beta in zip(cache_probabilities([document], vectors, vectors, BETAS)[0], BETAS, strict=True):
        np.testing.assert_allclose(row, position_by_position(document, vectors, vectors, beta), rtol=1e-11)


def test_queries_and_keys_may_differ_as_in_the_learned_kernel():
    rng = np.random.default_rng(2)
    queries, keys = 3.0 * rng.normal(size=(2, 80, 10))
    document = zipf_document(300, 80, seed=3)
    ours = cache_probabilities([document], queries, keys, [1.0])[0][0]
    np.testing.assert_allclose(ours, position_by_position(document, queries, keys, 1.0), rtol=1e-11)


def test_a_kernel_squared_is_the_kernel_at_twice_the_beta():
    vectors = unit_vectors(150, 20, seed=1)
    document = zipf_document(400, 150, seed=400)
    betas = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    together = cache_probabilities([document], vectors, vectors, betas)[0]
    alone = [cache_probabilities([document], vectors, vectors, [beta])[0][0] for beta in betas]
    np.testing.assert_allclose(together, alone, rtol=1e-13, atol=0.0)


@pytest.mark.parametrize("tokens", [200, 1500])
@pytest.mark.parametrize("learned", [False, True])
def test_later_tokens_change_no_bit_of_earlier_predictions(tokens, learned):
    types = 700
    vectors = unit_vectors(types, 20, seed=4)
    keys = unit_vectors(types, 20, seed=18) if learned else vectors
    rng = np.random.default_rng(5)
    # Type 0 is frequent enough to be summed by blocks of its own.
    document = rng.integers(0, types, size=tokens) * (rng.random(tokens) < 0.7)
    whole = cache_probabilities([document], vectors, keys, BETAS)[0]
    for t in rng.integers(0, tokens, size=12):
        changed = document.copy()
        changed[t + 1 :] = rng.integers(0, types, size=tokens - t - 1)
        for other in (document[: t + 1], changed):
            ours = cache_probabilities([other], vectors, keys, BETAS)[0]
            np.testing.assert_array_equal(ours[:, : t + 1], whole[:, : t + 1])


def test_a_document_is_scored_the_same_alone_and_among_others():
    vectors = unit_vectors(50, 8, seed=6)
    documents = [zipf_document(tokens, 50, seed=tokens) for tokens in (0, 7, 150, 31)]
    together = cache_probabilities(documents, vectors, vectors, BETAS)
    for document, ours in zip(documents, together, strict=True):
        np.testing.assert_array_equal(cache_probabilities([document], vectors, vectors, BETAS)[0], ours)


@pytest.mark.parametrize("beta", BETAS)
def test_the_cache_and_the_mixture_sum_to_one_over_the_vocabulary(beta):
    vectors = unit_vectors(60, 8, seed=7)
    document = zipf_document(90, 60, seed=8)
    kneser_ney = np.random.default_rng(9).dirichlet(np.ones(60))
    for t in (2, 3, 40, 90):
        cache = cache_distribution(document[:t], vectors, vectors, beta)
        assert cache.sum() == pytest.approx(1.0, abs=1e-12)
        assert mixture(kneser_ney, cache, 0.8).sum() == pytest.approx(1.0, abs=1e-12)


def test_token_probabilities_are_entries_of_the_distributions():
    vectors = unit_vectors(60, 8, seed=10)
    document = zipf_document(90, 60, seed=11)
    for beta, row in zip(BETAS, cache_probabilities([document], vectors, vectors, BETAS)[0], strict=True):
        for t in (2, 33, 89):
            expected = cache_distribution(document[:t], vectors, vectors, beta)[document[t]]
            assert row[t] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("beta", "after_a_b_a_c"),
    [
        (0.0, (1 / 3, 1 / 3, 1 / 3)),
        (2.0, (0.4272335603, 0.2863832198, 0.2863832198)),
        (8.0, (0.7123557208, (1 - 0.7123557208) / 2, (1 - 0.7123557208) / 2)),
        (np.inf, (1.0, 0.0, 0.0)),
    ],
)
def test_the_worked_example_comes_out(beta, after_a_b_a_c):
    assert cache_distribution(np.array([0, 1, 0, 2]), ABC, ABC, beta) == pytest.approx(after_a_b_a_c, abs=1e-10)


def test_beta_zero_is_the_unigram_cache():
    document = np.array([3, 1, 1, 2, 1])
    vectors = unit_vectors(4, 3, seed=12)
    assert cache_distribution(document, vectors, vectors, 0.0) == pytest.approx((0, 3 / 4, 1 / 4, 0))


def test_infinite_beta_is_the_bigram_cache_where_the_context_was_seen():
    document = np.array([3, 4, 3, 5, 3, 4, 3])
    vectors = unit_vectors(6, 3, seed=13)
    assert cache_distribution(document, vectors, vectors, np.inf) == pytest.approx((0, 0, 0, 0, 2 / 3, 1 / 3))


def test_infinite_beta_pools_twins_and_shares_equally():
    # Types 1 and 2 are twins: after 1, what followed either counts.
    document = np.array([1, 3, 2, 4, 1])
    vectors = unit_vectors(5, 3, seed=14)
    assert cache_distribution(document, vectors, vectors, np.inf) == pytest.approx((0, 0, 0, 0.5, 0.5))


def test_infinite_beta_falls_back_on_the_nearest_earlier_context():
    # c was never a context; b is nearer to it than a.
    assert cache_distribution(np.array([0, 0, 1, 0, 2]), ABC, ABC, np.inf) == pytest.approx((1.0, 0.0, 0.0))


@pytest.mark.parametrize("beta", [1000.0, 1e6])
def test_no_beta_is_too_sharp_for_a_distant_context(beta):
    # The only contexts are at a right angle to the query: exp(-beta) underflows, yet their shares are equal.
    vectors = np.eye(4)
    document = np.array([0, 1, 2, 3])
    assert cache_distribution(document, vectors, vectors, beta) == pytest.approx((0, 1 / 3, 1 / 3, 1 / 3))
    follow = np.array([0, 1, 2, 1])
    assert cache_probabilities([follow], vectors, vectors, beta)[0][0, 3] == pytest.approx(0.5)


def test_a_sharp_beta_still_weighs_close_contexts():
    # Cosines 1 and 0.999 to the query at beta = 1000: weights 1 / (1 + exp(-1)) and the rest.
    near = np.array([[1.0, 0.0], [0.999, np.sqrt(1.0 - 0.999**2)], [0.0, 1.0]])
    ours = cache_distribution(np.array([0, 1, 2, 0]), near, near, 1000.0)
    assert ours[1] == pytest.approx(0.7310585786, abs=1e-9)
    assert ours[2] == pytest.approx(0.2689414214, abs=1e-9)


def test_where_nothing_precedes_kneser_ney_stands_alone():
    cache = cache_probabilities([np.array([1])], ABC, ABC, [2.0])[0][0]
    assert -np.log(mixture(np.array([0.05]), cache, 0.8)) == pytest.approx(2.9957322736, abs=1e-10)


def test_an_empty_document_contributes_nothing():
    assert cache_probabilities([np.array([], dtype=np.int64)], ABC, ABC, [2.0])[0].shape == (1, 0)


@pytest.mark.parametrize("beta", [-1.0, np.nan])
def test_a_beta_out_of_range_is_refused(beta):
    with pytest.raises(ValueError, match="beta"):
        cache_probabilities([], ABC, ABC, [beta])


def test_nothing_to_read_is_an_error_not_a_nan():
    with pytest.raises(ValueError, match="nothing to read"):
        cache_distribution(np.array([1]), ABC, ABC, 2.0)


@given(st.lists(st.integers(0, 9), max_size=60), st.sampled_from(BETAS))
@settings(deadline=None)
def test_any_document_gets_probabilities_that_match_the_definition(tokens, beta):
    vectors = unit_vectors(10, 3, seed=15)
    document = np.array(tokens, dtype=np.int64)
    ours = cache_probabilities([document], vectors, vectors, [beta])[0][0]
    np.testing.assert_allclose(ours, position_by_position(document, vectors, vectors, beta), rtol=1e-9, atol=1e-12)
