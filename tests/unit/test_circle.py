"""The circle: gains three ways, the exact risk against dense matrices and simulation, the optimum, every matrix M."""

import numpy as np
import pytest

from attnkernel import circle
from attnkernel.gradient_checks import population_risk
from attnkernel.gradients import central_difference, complex_step, relative_error

SMOOTH = {1: 1.0, 2: 0.25}
ROUGH = dict.fromkeys(range(1, 7), 0.25)
SPECTRA = {"smooth": SMOOTH, "rough": ROUGH}
SIGMA = 0.5
CONCENTRATIONS = [0.0, 0.1, 1.0, 7.3, 50.0, 713.0, 1e3, 1e4, 1e5]


def smoother_matrix(n, c):
    """The smoother's matrix straight from Definition 2, scores between unit vectors."""
    unit = circle.directions(circle.angles(n))
    mass = np.exp(c * (unit @ unit.T - 1.0))
    return mass / mass.sum(axis=1, keepdims=True)


def covariance(spectrum, n):
    angle = circle.angles(n)
    return sum(s * np.cos(k * (angle[:, None] - angle)) for k, s in spectrum.items())


@pytest.mark.parametrize("n", [1, 2, 3, 8, 17, 64, 257])
def test_gains_agree_three_ways_at_every_concentration(n):
    table = circle.gains_table([n], CONCENTRATIONS)
    assert table["fft_error"].max() < 1e-12
    assert table["direct_error"].max() < 1e-12


def test_gains_diagonalise_the_smoother():
    cosine = np.cos(3.0 * circle.angles(16))
    smoothed = smoother_matrix(16, 5.0) @ cosine
    np.testing.assert_allclose(smoothed, circle.gains_bessel([3], 16, 5.0) * cosine, atol=1e-14)


def test_gains_beyond_the_overflow_of_bessel_functions():
    np.testing.assert_allclose(
        circle.gains_bessel([1, 5], 4096, 1000.0), [0.9994998748748, 0.9875716472496], atol=5e-14
    )


def test_gains_fall_with_frequency_and_rise_with_concentration():
    gains = np.array([circle.gains_fft(64, c)[:20] for c in (1.0, 7.3, 50.0)])
    assert np.all(np.diff(gains, axis=0) >= -1e-15)
    assert np.all(np.diff(gains, axis=1) <= 1e-15)


@pytest.mark.parametrize("spectrum", [SMOOTH, ROUGH])
@pytest.mark.parametrize("n", [3, 7, 8, 12, 64])
@pytest.mark.parametrize("c", [0.0, 0.7, 10.0, 300.0])
def test_the_risk_is_that_of_the_dense_smoother_aliases_included(spectrum, n, c):
    A, F = smoother_matrix(n, c), covariance(spectrum, n)
    lost = A - np.eye(n)
    bias2, variance = circle.risk_parts(spectrum, SIGMA, n, c)
    assert bias2 == pytest.approx(np.trace(lost @ F @ lost.T) / n, rel=1e-9, abs=1e-14)
    assert variance == pytest.approx(SIGMA**2 * np.square(A).sum() / n, rel=1e-11)


def test_without_concentration_the_output_is_the_mean():
    bias2, variance = circle.risk_parts(SMOOTH, SIGMA, 32, 0.0)
    assert bias2 == pytest.approx(1.25, rel=1e-14)
    assert variance == pytest.approx(0.25 / 32.0, rel=1e-14)


def test_an_infinitely_sharp_kernel_returns_the_noisy_values():
    bias2, variance = circle.risk_parts(SMOOTH, SIGMA, 8, 1e5)
    assert bias2 == pytest.approx(0.0, abs=1e-20)
    assert variance == pytest.approx(0.25, rel=1e-12)


@pytest.mark.parametrize("n", [8, 32, 10**8])
@pytest.mark.parametrize("c", [0.3, 10.0, 2000.0])
def test_the_slope_of_the_risk_is_its_derivative(n, c):
    numeric = central_difference(lambda x: circle.risk(SMOOTH, SIGMA, n, float(x[0])), np.array([c]))[0]
    assert circle.risk_slope(SMOOTH, SIGMA, n, c) == pytest.approx(numeric, rel=1e-6, abs=1e-10)


def test_simulated_noise_agrees_with_the_formula():
    rng = np.random.default_rng(1)
    table = circle.simulation_table(
        SPECTRA, SIGMA, [("smooth", 32), ("rough", 16)], concentrations=[0.0, 2.0, 10.0, 60.0], draws=4000, rng=rng
    )
    assert np.abs(table["z"]).max() < 4.0


def test_functions_have_the_spectrum_they_were_drawn_from():
    basis = circle.fourier_basis(ROUGH, circle.angles(20))
    np.testing.assert_allclose(basis @ basis.T, covariance(ROUGH, 20), atol=1e-14)


@pytest.mark.parametrize(("spectrum", "n"), [(SMOOTH, 32), (ROUGH, 32), (SMOOTH, 10**6)])
def test_nothing_near_the_optimum_is_better(spectrum, n):
    c_star = circle.optimum(spectrum, SIGMA, n)
    best = circle.risk(spectrum, SIGMA, n, c_star)
    assert all(circle.risk(spectrum, SIGMA, n, c_star * factor) > best for factor in (0.99, 0.9999, 1.0001, 1.01))


def test_a_risk_without_a_minimum_is_an_error():
    # So much noise that the best concentration is nearly 0, far below the asymptote that the search starts from.
    with pytest.raises(ValueError, match="no minimum"):
        circle.optimum(SMOOTH, 1e4, 32)


def test_under_heavy_noise_the_optimum_is_that_of_small_concentrations():
    # To first order rho_1 = c / 2 and sum w^2 = (1 + c^2 / 2) / n, so that the minimum is at 1 / (1/2 + sigma^2 / n).
    expected = 1.0 / (0.5 + 100.0**2 / 32.0)
    assert circle.optimum({1: 1.0}, 100.0, 32) == pytest.approx(expected, rel=1e-4)


def test_the_gradient_of_the_population_risk():
    def plain(M):
        return population_risk(M, ROUGH, SIGMA, 5, rotations=3)

    population = circle.PopulationRisk(ROUGH, SIGMA, 5, rotations=3)
    for M in 2.0 * np.random.default_rng(2).standard_normal((3, 2, 2)):
        value, gradient = population(M)
        assert value == pytest.approx(plain(M), rel=1e-13)
        assert relative_error(gradient, complex_step(plain, M)) < 1e-10
        assert relative_error(gradient, central_difference(plain, M)) < 1e-6


def test_eight_rotations_integrate_the_population_risk_to_rounding():
    M = np.array([[20.0, 6.0], [-3.0, 70.0]])
    coarse, fine = (circle.PopulationRisk(ROUGH, SIGMA, 32, rotations)(M)[0] for rotations in (8, 32))
    assert coarse == pytest.approx(fine, rel=1e-13)


def test_the_population_risk_of_an_isotropic_matrix_is_the_closed_form():
    value, _ = circle.PopulationRisk(SMOOTH, SIGMA, 32)(9.0 * np.eye(2))
    assert value == pytest.approx(circle.risk(SMOOTH, SIGMA, 32, 9.0), rel=1e-13)


def test_every_search_ends_at_the_isotropic_optimum():
    table = circle.search_table(
        SPECTRA,
        SIGMA,
        [("smooth", 32), ("smooth", 64), ("rough", 32)],
        random_starts=5,
        start_scale=3.0,
        rng=np.random.default_rng(3),
    )
    assert len(table["start"]) == 18
    assert table["deviation"].max() < 1e-3
    assert table["risk_gap"].max() < 1e-6


def test_the_grid_point_nearest_the_optimum_is_marked_once_a_setting():
    table = circle.risk_curve_table(SPECTRA, SIGMA, [("smooth", 32), ("rough", 32)], [0.0, 5.0, 11.0, 55.0, 400.0])
    assert table["c"][table["nearest"]].tolist() == [11.0, 55.0]
    np.testing.assert_allclose(table["risk"], table["bias2"] + table["variance"])


def test_the_smoothed_values_at_the_keys_are_the_circulant_smoother():
    table = circle.smoother_table(
        SPECTRA, SIGMA, [("smooth", 8)], concentrations=[3.0], points=9, rng=np.random.default_rng(4)
    )
    noisy, smoothed = (table["value"][table["series"] == series] for series in ("noisy", "smoothed"))
    np.testing.assert_allclose(smoothed[:8], smoother_matrix(8, 3.0) @ noisy, rtol=1e-12)
    assert smoothed[8] == pytest.approx(smoothed[0])


def test_the_grid_of_concentrations_is_made_of_even_pieces():
    pieces = [{"to": 0.3, "step": 0.1}, {"to": 2, "step": 0.5}]
    assert circle.concentration_grid([*pieces, {"to": 4, "step": 2}]) == [0.0, 0.1, 0.2, 0.3, 0.8, 1.3, 1.8, 3.8]


def test_a_spectrum_starts_at_frequency_one():
    assert circle.spectrum_of([1.0, 0.25]) == SMOOTH
