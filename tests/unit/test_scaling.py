"""Why 1/sqrt(d): the Jacobian's norm, the expectations, and the bounds of Theorem 2."""

import numpy as np
import pytest

from attnkernel import scaling
from attnkernel.smoother import attention_weights

SOBOL = {"log2_points": 11, "scrambles": 8}


@pytest.fixture(scope="module")
def table():
    return scaling.scaling_table([4, 64], keys=16, draws=600, seed=np.random.SeedSequence(1), **SOBOL)


@pytest.mark.parametrize("n", [2, 3, 16])
@pytest.mark.parametrize("sharpness", [0.01, 1.0, 20.0])
def test_the_norm_of_the_jacobian_is_its_largest_eigenvalue(n, sharpness):
    weights = attention_weights(sharpness * np.random.default_rng(n).standard_normal((200, n)))
    reference = np.linalg.eigvalsh(scaling.jacobian(weights))[:, -1]
    np.testing.assert_allclose(scaling.jacobian_norm(weights), reference, atol=2e-15)


@pytest.mark.parametrize(
    ("weights", "norm"),
    [
        ([0.25, 0.25, 0.25, 0.25], 0.25),
        ([1.0, 0.0, 0.0], 0.0),
        ([0.5, 0.5, 0.0], 0.5),
        ([0.4, 0.4, 0.2], 0.4),
        ([0.9, 0.1, 0.0], 0.18),
        ([0.8, 0.1, 0.1], 0.24),
    ],
)
def test_ties_and_zeros_have_their_exact_norm(weights, norm):
    assert scaling.jacobian_norm(np.array(weights)) == pytest.approx(norm, abs=1e-15)


def test_a_nearly_saturated_softmax_keeps_its_digits():
    weights = attention_weights(np.array([0.0, -200.0]))
    assert scaling.jacobian_norm(weights) == pytest.approx(2.0 * np.exp(-200.0), rel=1e-12)
    assert scaling.missed_weight(weights) == pytest.approx(np.exp(-200.0), rel=1e-12)


def test_the_jacobian_is_the_derivative_of_the_softmax():
    scores, step = np.array([0.2, -1.0, 0.7]), 1e-6
    shifted = np.array([attention_weights(scores + step * np.eye(3)), attention_weights(scores - step * np.eye(3))])
    np.testing.assert_allclose(
        (shifted[0] - shifted[1]) / (2.0 * step), scaling.jacobian(attention_weights(scores)), atol=1e-9
    )


def test_order_statistics_have_the_law_of_sorted_normals():
    rng = np.random.default_rng(2)
    ordered = scaling.sorted_normals(rng.uniform(size=(20_000, 5)))
    assert np.all(np.diff(ordered, axis=1) <= 0.0)
    reference = -np.sort(-rng.standard_normal((20_000, 5)), axis=1)
    np.testing.assert_allclose(ordered.mean(axis=0), reference.mean(axis=0), atol=0.04)
    np.testing.assert_allclose(np.cov(ordered.T), np.cov(reference.T), atol=0.04)


def test_scores_have_mean_zero_and_variance_d():
    scores = scaling.sample_scores(9, 50, 4000, np.random.default_rng(3))
    assert scores.mean() == pytest.approx(0.0, abs=0.05)
    assert scores.var() == pytest.approx(9.0, rel=0.05)


def missed_weight_by_quadrature(length, keys=16):
    """E[1 - alpha_max] of scores `length` times iid normals: 1/(1 + x) as an integral of exp(-t (1 + x)) over t.

    Given that the largest normal is m, the others are iid below it, so their Laplace transform is a power.
    """
    node, weight = np.polynomial.legendre.leggauss(120)
    m, t = 6.5 * node + 0.5, np.exp(18.0 * node - 12.0)
    at_m = 6.5 * weight * np.exp(-0.5 * m**2) / np.sqrt(2.0 * np.pi)
    at_t = 18.0 * weight * t * np.exp(-t)
    total = 0.0
    for top, density in zip(m, at_m, strict=True):
        z = 0.5 * (node + 1.0) * (top + 8.0) - 8.0
        at_z = 0.5 * (top + 8.0) * weight * np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
        transform = np.exp(-t[:, None] * np.exp(-length * (top - z))) @ at_z
        total += density * (at_t @ transform ** (keys - 1))
    return 1.0 - keys * total


def test_the_limit_of_the_missed_weight_agrees_with_a_quadrature_that_draws_nothing():
    mean, error = scaling.expectations([np.inf], 16, np.random.default_rng(4), 12, 8)
    assert error[0, 1, 0] < 2e-5
    assert mean[0, 1, 0] == pytest.approx(missed_weight_by_quadrature(1.0), abs=4.0 * error[0, 1, 0])
    assert mean[0, 1, 0] == pytest.approx(0.75337, abs=5e-5)


def test_the_limit_of_the_jacobian_agrees_with_plain_draws():
    mean, error = scaling.expectations([np.inf], 16, np.random.default_rng(5), 12, 8)
    weights = attention_weights(np.random.default_rng(6).standard_normal((20_000, 16)))
    norms = np.linalg.eigvalsh(scaling.jacobian(weights))[:, -1]
    assert error[0, 1, 1] < 2e-5
    assert mean[0, 1, 1] == pytest.approx(norms.mean(), abs=4.0 * norms.std() / np.sqrt(len(norms)))
    assert mean[0, 1, 1] == pytest.approx(0.20458, abs=5e-5)


def test_the_means_of_the_draws_agree_with_the_expectations(table):
    assert np.abs(table["z"]).max() < 3.5


def test_the_scale_keeps_the_softmax_open_and_its_absence_closes_it(table):
    def mean(d, scaled):
        keep = (table["d"] == d) & (table["scaled"] == scaled) & (table["quantity"] == "one_minus_max")
        return table["mean"][keep][0]

    assert mean(64, False) < 0.3 * mean(4, False)
    assert mean(64, True) == pytest.approx(mean(4, True), rel=0.05)


def test_the_same_seed_gives_the_same_table(table):
    again = scaling.scaling_table([4, 64], keys=16, draws=600, seed=np.random.SeedSequence(1), **SOBOL)
    for name, column in table.items():
        np.testing.assert_array_equal(column, again[name])


@pytest.mark.parametrize("d", [1, 2, 5, 40, 1024])
def test_the_probability_of_a_small_score_agrees_with_adaptive_quadrature(d):
    from scipy.integrate import quad
    from scipy.special import erf
    from scipy.stats import chi

    reference, _ = quad(lambda r: erf(0.5 / r) * chi.pdf(r, d), 0.0, np.sqrt(d) + 12.0, limit=200, points=[np.sqrt(d)])
    assert scaling.small_score_probability(d) == pytest.approx(reference, rel=1e-6)


def test_the_probability_of_a_small_score_falls_like_one_over_root_pi_d():
    constants = [np.sqrt(np.pi * d) * scaling.small_score_probability(d) for d in (16, 256, 4096, 65536)]
    assert np.all(np.diff(constants) < 0.0)
    assert constants[-1] == pytest.approx(1.0, abs=2e-5)


def test_the_bounds_of_theorem_2_hold_on_every_draw():
    limits = scaling.limits_table([4, 256], keys=16, draws=300, seed=np.random.SeedSequence(2), **SOBOL)
    excess = limits["value"][np.char.startswith(limits["quantity"], "excess")]
    assert len(excess) == 3
    assert excess.max() < 1e-14
    least = np.char.startswith(limits["quantity"], "least")
    assert np.all(limits["value"][least] > 0.2689)
