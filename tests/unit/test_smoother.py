"""The smoother: limits of the temperature, empty rows, and agreement with independent estimators."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnkernel import smoother

INF = np.inf
finite = st.floats(-1e6, 1e6)
rows = st.lists(finite, min_size=1, max_size=8)
temperatures = st.one_of(st.just(0.0), st.just(INF), st.floats(1e-300, 1e300))


@given(rows, temperatures)
def test_weights_are_a_distribution_at_every_temperature(scores, temperature):
    weights = smoother.attention_weights(np.array(scores), temperature)
    assert np.all(weights >= 0.0)
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)


@given(rows, temperatures)
def test_weights_do_not_depend_on_the_order_of_the_keys(scores, temperature):
    forward = smoother.attention_weights(np.array(scores), temperature)
    backward = smoother.attention_weights(np.array(scores[::-1]), temperature)
    np.testing.assert_allclose(forward, backward[::-1], rtol=1e-12)


def test_a_constant_added_to_a_row_changes_nothing():
    scores = np.random.default_rng(0).standard_normal((4, 6))
    shifted = scores + np.array([[3.0], [-700.0], [1e5], [0.0]])
    np.testing.assert_allclose(smoother.attention_weights(shifted), smoother.attention_weights(scores), rtol=1e-10)


def test_ties_share_the_weight_at_temperature_zero():
    weights = smoother.attention_weights(np.array([1.0, 3.0, 3.0, -INF]), 0.0)
    assert weights.tolist() == [0.0, 0.5, 0.5, 0.0]


def test_infinite_temperature_averages_what_may_be_read_and_nothing_else():
    readable = np.array([True, True, False, True])
    weights = smoother.attention_weights(np.array([5.0, -2.0, 9.0, -INF]), INF, readable)
    assert weights.tolist() == [0.5, 0.5, 0.0, 0.0]


def test_temperature_goes_to_its_limits_continuously():
    scores = np.array([0.3, 1.1, -0.4])
    np.testing.assert_allclose(smoother.attention_weights(scores, 1e-3), smoother.attention_weights(scores, 0.0))
    np.testing.assert_allclose(
        smoother.attention_weights(scores, 1e9), smoother.attention_weights(scores, INF), rtol=1e-8
    )


def test_a_large_inverse_temperature_neither_overflows_nor_loses_its_digits():
    weights = smoother.attention_weights(np.array([1.0, 0.999]), 1.0 / 1000.0)
    np.testing.assert_allclose(weights, [0.7310585786, 0.2689414214], atol=5e-11)


def test_scores_as_large_as_floats_go_are_no_accident():
    assert smoother.attention_weights(np.array([1e308, -1e308]), 1e-300).tolist() == [1.0, 0.0]


def test_a_masked_score_is_not_looked_at():
    weights = smoother.attention_weights(np.array([np.nan, 2.0]), 1.0, np.array([False, True]))
    assert weights.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("temperature", [0.0, 1.0, INF])
def test_scores_that_are_all_minus_infinity_are_an_error(temperature):
    with pytest.raises(ValueError, match=r"row \(1,\) has nothing to read"):
        smoother.attention_weights(np.array([[0.0, 1.0], [-INF, -INF]]), temperature)


def test_a_row_whose_mask_leaves_nothing_is_an_error():
    with pytest.raises(ValueError, match="nothing to read"):
        smoother.attention(np.ones((2, 3)), np.ones((2, 3)), np.ones((2, 1)), readable=np.tri(2, k=-1, dtype=bool))


def test_a_row_without_positions_is_an_error():
    with pytest.raises(ValueError, match="nothing to read"):
        smoother.attention_weights(np.zeros((2, 0)))


@pytest.mark.parametrize("score", [np.nan, INF])
def test_a_score_that_no_weight_could_answer_is_an_error(score):
    with pytest.raises(ValueError, match="NaN or plus infinity"):
        smoother.attention_weights(np.array([0.0, score]))


@pytest.mark.parametrize("temperature", [-1.0, np.nan])
def test_a_temperature_below_zero_is_an_error(temperature):
    with pytest.raises(ValueError, match="temperature"):
        smoother.attention_weights(np.zeros(2), temperature)


def test_causal_attention_reads_the_past_and_the_present_only():
    rng = np.random.default_rng(1)
    q, k, v = rng.standard_normal((3, 5, 2))
    outputs = smoother.attention(q, k, v, readable=smoother.causal(5))
    for t in range(5):
        alone = smoother.attention(q[t : t + 1], k[: t + 1], v[: t + 1])
        np.testing.assert_allclose(outputs[t : t + 1], alone, rtol=1e-12)


def test_the_default_temperature_is_the_root_of_the_key_dimension():
    rng = np.random.default_rng(2)
    q, k, v = rng.standard_normal((3, 4, 9))
    np.testing.assert_array_equal(smoother.attention(q, k, v), smoother.attention(q, k, v, 3.0))


def test_far_queries_and_ties_give_the_nearest_values():
    x = np.arange(4.0)[:, None]
    scores = smoother.gaussian_scores(np.array([[1.5], [50.0]]), x)
    np.testing.assert_array_equal(smoother.attention_weights(scores, 0.01**2) @ x[:, 0] ** 2, [2.5, 9.0])
    # The same through the logarithm of a Gaussian kernel.
    np.testing.assert_array_equal(smoother.nadaraya_watson(scores / 0.01**2, x[:, 0] ** 2), [2.5, 9.0])


def test_a_kernel_of_compact_support_averages_its_window():
    distance = np.abs(np.arange(3.0)[:, None] - np.arange(3.0))
    log_box = np.where(distance <= 1.0, 0.0, -INF)
    np.testing.assert_allclose(smoother.nadaraya_watson(log_box, np.array([3.0, 6.0, 9.0])), [4.5, 6.0, 7.5])


def test_the_gaussian_smoother_agrees_with_statsmodels():
    from statsmodels.nonparametric.kernel_regression import KernelReg

    rng = np.random.default_rng(3)
    x, y, queries = rng.uniform(-2.0, 2.0, (40, 2)), rng.standard_normal(40), rng.uniform(-1.0, 1.0, (7, 2))
    reference, _ = KernelReg(y, x, "cc", reg_type="lc", bw=[0.6, 0.6], rng=rng).fit(queries)
    ours = smoother.attention_weights(smoother.gaussian_scores(queries, x), 0.6**2) @ y
    np.testing.assert_allclose(ours, reference, rtol=1e-10)


@pytest.mark.parametrize("temperature", [0.01, 0.2, 3.0])
def test_attention_on_the_circle_is_a_von_mises_smoother(temperature):
    from scipy.stats import vonmises

    angle, query = np.random.default_rng(4).uniform(-np.pi, np.pi, (2, 11))
    unit = [np.stack([np.cos(a), np.sin(a)], axis=1) for a in (query, angle)]
    density = vonmises.pdf(query[:, None] - angle, 1.0 / temperature)
    reference = density / density.sum(axis=1, keepdims=True)
    ours = smoother.attention_weights(unit[0] @ unit[1].T, temperature)
    np.testing.assert_allclose(ours, reference, rtol=1e-9, atol=1e-300)


def test_leading_axes_are_independent_problems():
    rng = np.random.default_rng(5)
    q, k, v = rng.standard_normal((3, 2, 4, 3))
    stacked = smoother.attention(q, k, v)
    for instance in range(2):
        np.testing.assert_allclose(stacked[instance], smoother.attention(q[instance], k[instance], v[instance]))


def test_equal_scores_dilute_every_derivative_by_the_number_of_positions():
    k, v = np.random.default_rng(6).standard_normal((2, 5, 3))
    derivatives = smoother.lookup_derivatives(np.zeros(3), k, v, 1.0)
    np.testing.assert_allclose(derivatives.value, 0.2, rtol=1e-14)
    np.testing.assert_allclose(derivatives.query, np.cov(v.T, k.T, bias=True)[:3, 3:], atol=1e-14)


def test_the_rate_bounds_are_met_with_equality_by_two_equal_lookups():
    # Two keys, opposite values of length 1: the missed weight is exp(-D) / (1 + exp(-D)), twice of it the error.
    scores, values = np.array([4.0, 0.0]), np.array([[1.0], [-1.0]])
    bounds = smoother.rate_bounds(scores, values, 1.0)
    assert bounds.missed_weight == pytest.approx(np.exp(-4.0))
    assert bounds.lookup_error == pytest.approx(2.0 * np.exp(-4.0))
    weights = smoother.attention_weights(scores)
    assert bounds.least_weight <= weights.min() <= weights.max() <= bounds.largest_weight
    assert weights[1] == pytest.approx(bounds.missed_weight, rel=0.02)


def test_mixture_draws_fall_on_components_by_their_design_weights():
    keys, values = np.array([[0.0], [2.0]]), np.array([[0.0], [1.0]])
    rng = np.random.default_rng(7)
    Q, V = smoother.mixture_draws(keys, values, 2.0, 40_000, rng)
    share = np.exp(1.0) / (1.0 + np.exp(1.0))
    assert V.mean() == pytest.approx(share, abs=4.0 * np.sqrt(share * (1.0 - share) / 40_000))
    assert np.std(Q[V[:, 0] == 1.0]) == pytest.approx(np.sqrt(2.0), rel=0.02)
