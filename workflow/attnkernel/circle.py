"""Attention on keys around a circle: Theorem 1, Corollary 1, and the search over every 2 x 2 score matrix.

Keys and queries sit at n equally spaced angles and score c <u_i, u_j>. The smoother is then circulant, so its
bias and variance are sums over Fourier gains, and the gains are ratios of modified Bessel functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnkernel.smoother import attention_weights

Array = NDArray[np.float64]
Table = dict[str, NDArray[np.generic]]
Spectrum = Mapping[int, float]
"""Variance s_k of the coefficients of cos k theta and of sin k theta, by frequency k >= 1."""


def angles(n: int) -> Array:
    """Angles of n equally spaced keys, in radians, shape (n,)."""
    angle: Array = 2.0 * np.pi * np.arange(n) / n
    return angle


def directions(angle: Array) -> Array:
    """Return the unit vectors (cos, sin), shape (..., 2)."""
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def weights(n: int, c: float) -> Array:
    """Weights of the circulant smoother by offset, shape (n,).

    The scores are taken relative to the nearest key as -2c sin^2, which keeps their digits at any
    concentration.
    """
    return attention_weights(-2.0 * c * np.sin(0.5 * angles(n)) ** 2)


def gains_fft(n: int, c: float) -> Array:
    """Gains rho_0 .. rho_(n/2) as the discrete Fourier transform of the weights, shape (n // 2 + 1,)."""
    gains: Array = np.fft.rfft(weights(n, c)).real
    return gains


def gains_direct(n: int, c: float) -> Array:
    """Gains as what the smoother keeps of each cosine at position 0, shape (n // 2 + 1,)."""
    offset = np.arange(n)
    # The product is reduced modulo n first: an angle of many turns would lose the digits that are compared
    # here.
    turns = np.outer(np.arange(n // 2 + 1), offset) % n
    return np.cos(angles(n))[turns] @ weights(n, c)


def bessel_sums(orders: NDArray[np.int64], n: float, c: float) -> Array:
    """Aliased Bessel functions, sum_m I_(k + mn)(c) exp(-c) over all integers m, for each order k.

    The exponential scaling never overflows. Terms of order beyond sqrt(80 c) + 40 are below exp(-40) of the
    sum.
    """
    from scipy.special import ive

    reach = np.sqrt(80.0 * c) + 40.0
    aliases = np.arange(-np.ceil(reach / n) - 1, np.ceil(reach / n) + 2) * n
    sums: Array = ive(np.abs(orders[..., None] + aliases), c).sum(axis=-1)
    return sums


def gains_bessel(modes: Iterable[int], n: float, c: float) -> Array:
    """Gains rho_k of the given modes by Theorem 1 (i), aliases included, shape (len(modes),)."""
    orders = np.array([0, *modes], dtype=np.int64)
    sums = bessel_sums(orders, n, c)
    gains: Array = sums[1:] / sums[0]
    return gains


def risk_parts(spectrum: Spectrum, sigma: float, n: float, c: float) -> tuple[float, float]:
    """Squared bias and variance of the smoother (Theorem 1 ii), exact at every n at the same cost.

    The sum of squared weights is the variance factor, and by Poisson summation sum_j w_j^2 is a ratio of
    aliased Bessel sums at 2c and at c.

    Parameters
    ----------
    spectrum
        Variances by frequency.
    sigma
        Standard deviation of the noise.
    n
        Number of keys (a float may be passed where n is huge).
    c
        Concentration, >= 0.
    """
    zero = np.zeros(1, dtype=np.int64)
    lost = 1.0 - gains_bessel(spectrum, n, c)
    squared = bessel_sums(zero, n, 2.0 * c)[0] / (n * bessel_sums(zero, n, c)[0] ** 2)
    return float(np.array([*spectrum.values()]) @ lost**2), float(sigma**2 * squared)


def risk(spectrum: Spectrum, sigma: float, n: float, c: float) -> float:
    """Mean squared error against the clean function, R(c) of Theorem 1; arguments as `risk_parts`."""
    return sum(risk_parts(spectrum, sigma, n, c))


def risk_slope(spectrum: Spectrum, sigma: float, n: float, c: float) -> float:
    """dR/dc, from I_k' = (I_(k-1) + I_(k+1)) / 2; arguments as `risk_parts`."""
    modes = np.array([*spectrum], dtype=np.int64)
    variances = np.array([*spectrum.values()])
    below, at, above = bessel_sums(modes + np.array([[-1], [0], [1]]), n, c)
    zeroth, first = bessel_sums(np.arange(2), n, c)
    zeroth2, first2 = bessel_sums(np.arange(2), n, 2.0 * c)
    gain = at / zeroth
    gain_slope = 0.5 * (below + above) / zeroth - gain * first / zeroth
    squared = zeroth2 / (n * zeroth**2)
    squared_slope = 2.0 * squared * (first2 / zeroth2 - first / zeroth)
    return float(-2.0 * variances @ ((1.0 - gain) * gain_slope) + sigma**2 * squared_slope)


def asymptotic_constant(spectrum: Spectrum, sigma: float) -> float:
    """C of Corollary 1: c*(n) ~ C n^(2/5)."""
    curvature = 0.25 * sum(variance * k**4 for k, variance in spectrum.items())
    return float((4.0 * curvature / (sigma**2 * np.sqrt(np.pi))) ** 0.4)


def optimum(spectrum: Spectrum, sigma: float, n: float) -> float:
    """Concentration c* that minimises the exact risk; arguments as `risk_parts`.

    A grid around Corollary 1's asymptote finds the valley, and the root of the slope its bottom, which a
    minimiser of R itself could place to half the digits only. The grid reaches far below the asymptote, where the
    optimum lies when noise is heavy and keys are few.

    Raises
    ------
    ValueError
        The risk has no minimum inside the grid.
    """
    from scipy.optimize import brentq

    asymptote = asymptotic_constant(spectrum, sigma) * n**0.4
    grid = asymptote * np.geomspace(1e-3, 10.0, 81)
    lowest = int(np.argmin([risk(spectrum, sigma, n, c) for c in grid]))
    if not 0 < lowest < len(grid) - 1:
        raise ValueError(f"at n = {n} the risk has no minimum between {grid[0]:.3g} and {grid[-1]:.3g}")
    bracket = float(grid[lowest - 1]), float(grid[lowest + 1])
    return float(brentq(lambda c: risk_slope(spectrum, sigma, n, c), *bracket, xtol=1e-300, rtol=1e-14))


def fourier_basis(spectrum: Spectrum, angle: Array) -> Array:
    """Columns sqrt(s_k) cos k theta, sqrt(s_k) sin k theta, shape (..., 2 len(spectrum)).

    Standard normal coefficients of these columns give a random function of the spectrum.
    """
    modes, scale = np.array([*spectrum]), np.sqrt(np.array([*spectrum.values()]))
    turns = angle[..., None] * modes
    return np.concatenate([scale * np.cos(turns), scale * np.sin(turns)], axis=-1)


def simulated_risk(
    spectrum: Spectrum, sigma: float, n: int, c: float, *, draws: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Mean and standard error of the squared error over random functions and noise, by smoothing them."""
    functions = rng.standard_normal((draws, 2 * len(spectrum))) @ fourier_basis(spectrum, angles(n)).T
    noisy = functions + sigma * rng.standard_normal((draws, n))
    unit = directions(angles(n))
    smoothed = noisy @ attention_weights(c * unit @ unit.T).T
    errors = np.square(smoothed - functions).mean(axis=1)
    return float(errors.mean()), float(errors.std(ddof=1) / np.sqrt(draws))


class PopulationRisk:
    """Exact risk of attention with scores u_i M u_j^T for any 2 x 2 matrix M, and its gradient.

    The risk averages over the rotation theta_0 of the keys. It is smooth and has period 2 pi / n in theta_0,
    so equally spaced rotations integrate it to rounding.

    Parameters
    ----------
    spectrum, sigma, n
        As in `risk_parts`.
    rotations
        Number of quadrature points in one period.
    """

    def __init__(self, spectrum: Spectrum, sigma: float, n: int, rotations: int = 8) -> None:
        angle = angles(n) + (2.0 * np.pi / n) * np.arange(rotations)[:, None] / rotations
        self._unit = directions(angle)
        self._basis = fourier_basis(spectrum, angle)
        self._noise = sigma**2

    def __call__(self, M: Array) -> tuple[float, Array]:
        """Risk of M, shape (2, 2), and its gradient, shape (2, 2)."""
        unit, basis = self._unit, self._basis
        transposed = np.swapaxes(unit, 1, 2)
        A = attention_weights(unit @ M @ transposed)
        count = A.shape[0] * A.shape[1]
        bias = A @ basis - basis
        value = (np.square(bias).sum() + self._noise * np.square(A).sum()) / count
        by_weight = bias @ np.swapaxes(basis, 1, 2) + self._noise * A
        by_score = A * (by_weight - (A * by_weight).sum(axis=2, keepdims=True))
        gradient: Array = (2.0 / count) * (transposed @ by_score @ unit).sum(axis=0)
        return float(value), gradient


def search(
    population: PopulationRisk, starts: Array, gradient_tolerance: float = 1e-10
) -> tuple[Array, Array, NDArray[np.int64]]:
    """Minimise the population risk over all M from each start by BFGS with the exact gradient.

    Parameters
    ----------
    starts
        Shape (S, 2, 2).

    Returns
    -------
    The minimisers, shape (S, 2, 2), their risks and the evaluations they took, both of shape (S,).
    """
    from scipy.optimize import minimize

    def flat(x: Array) -> tuple[float, Array]:
        value, gradient = population(x.reshape(2, 2))
        return value, gradient.ravel()

    ends = [
        minimize(flat, start.ravel(), jac=True, method="BFGS", options={"gtol": gradient_tolerance}) for start in starts
    ]
    return (
        np.array([end.x.reshape(2, 2) for end in ends]),
        np.array([end.fun for end in ends]),
        np.array([end.nfev for end in ends], dtype=np.int64),
    )


Setting = tuple[str, int]
"""Name of a spectrum and number of keys."""


def spectrum_of(variances: Sequence[float]) -> Spectrum:
    """Make a spectrum of its variances at the frequencies 1, 2, ..."""
    return dict(enumerate(variances, start=1))


def concentration_grid(pieces: Sequence[Mapping[str, float]]) -> list[float]:
    """Concentrations from 0 up, in pieces of even steps: `{"to": 2, "step": 0.1}` goes on to 2 in steps of 0.1."""
    points = [0.0]
    for piece in pieces:
        start, count = points[-1], round((piece["to"] - points[-1]) / piece["step"])
        # Rounded, so that a point such as 0.3 is the number that one would look up.
        points += [round(start + i * piece["step"], 10) for i in range(1, count + 1)]
    return points


def gains_table(sizes: Sequence[int], concentrations: Sequence[float]) -> Table:
    """Table `circle_gains`: every gain three ways on a grid of n and c.

    Columns: n, c, mode, gain (Bessel series), fft_error and direct_error (what the other two ways differ by).
    """
    parts: list[tuple[NDArray[Any], ...]] = []
    for n in sizes:
        modes = np.arange(n // 2 + 1)
        for c in concentrations:
            gain = gains_bessel(modes, n, c)
            errors = np.abs(gains_fft(n, c) - gain), np.abs(gains_direct(n, c) - gain)
            parts.append((np.full(len(modes), n), np.full(len(modes), float(c)), modes, gain, *errors))
    names = ("n", "c", "mode", "gain", "fft_error", "direct_error")
    return {name: np.concatenate(column) for name, column in zip(names, zip(*parts, strict=True), strict=True)}


def optimum_table(spectra: Mapping[str, Spectrum], sigma: float, sizes: Sequence[int]) -> Table:
    """Table `circle_optimum`: the exact optimum beside Corollary 1's asymptote.

    Columns: spectrum, n, C, c_star, risk, bias2, variance (the three at c_star), ratio (c_star over C
    n^(2/5)).
    """
    rows = []
    for name, spectrum in spectra.items():
        constant = asymptotic_constant(spectrum, sigma)
        for n in sizes:
            c_star = optimum(spectrum, sigma, n)
            bias2, variance = risk_parts(spectrum, sigma, n, c_star)
            rows.append((name, n, constant, c_star, bias2 + variance, bias2, variance, c_star / (constant * n**0.4)))
    return _columns(("spectrum", "n", "C", "c_star", "risk", "bias2", "variance", "ratio"), rows)


def slopes_table(spectra: Mapping[str, Spectrum], sigma: float, sizes: tuple[int, int]) -> Table:
    """Table `circle_slopes`: log-log slope of c* between two n. Columns: spectrum, n_low, n_high, slope."""
    low, high = sizes
    rows = []
    for name, spectrum in spectra.items():
        ratio = optimum(spectrum, sigma, high) / optimum(spectrum, sigma, low)
        rows.append((name, low, high, np.log(ratio) / np.log(high / low)))
    return _columns(("spectrum", "n_low", "n_high", "slope"), rows)


def search_table(
    spectra: Mapping[str, Spectrum],
    sigma: float,
    settings: Sequence[Setting],
    *,
    random_starts: int,
    start_scale: float,
    rng: np.random.Generator,
) -> Table:
    """Table `circle_search`: where minimising the exact risk over all 2 x 2 matrices ends, from each start.

    Start 0 is the identity; the others have independent N(0, start_scale^2) entries.

    Columns: spectrum, n, start, m11, m12, m21, m22 (the minimiser), deviation (|M - c* I| / |c* I|), risk,
    risk_gap (|risk - R(c*)|), evaluations.
    """
    rows = []
    for name, n in settings:
        c_star = optimum(spectra[name], sigma, n)
        best = risk(spectra[name], sigma, n, c_star)
        starts = np.concatenate([np.eye(2)[None], start_scale * rng.standard_normal((random_starts, 2, 2))])
        ends = search(PopulationRisk(spectra[name], sigma, n), starts)
        for start, (M, value, evaluations) in enumerate(zip(*ends, strict=True)):
            deviation = relative_deviation(M, c_star)
            rows.append((name, n, start, *M.ravel(), deviation, value, abs(value - best), evaluations))
    names = (
        "spectrum",
        "n",
        "start",
        "m11",
        "m12",
        "m21",
        "m22",
        "deviation",
        "risk",
        "risk_gap",
        "evaluations",
    )
    return _columns(names, rows)


def simulation_table(
    spectra: Mapping[str, Spectrum],
    sigma: float,
    settings: Sequence[Setting],
    *,
    concentrations: Sequence[float],
    draws: int,
    rng: np.random.Generator,
) -> Table:
    """Table `circle_simulation`: the formula of the risk against smoothed random functions.

    Columns: spectrum, n, c, draws, mean, se, risk, z (the miss of the mean in standard errors).
    """
    rows = []
    for name, n in settings:
        for c in concentrations:
            mean, se = simulated_risk(spectra[name], sigma, n, c, draws=draws, rng=rng)
            exact = risk(spectra[name], sigma, n, c)
            rows.append((name, n, float(c), draws, mean, se, exact, (mean - exact) / se))
    return _columns(("spectrum", "n", "c", "draws", "mean", "se", "risk", "z"), rows)


def risk_curve_table(
    spectra: Mapping[str, Spectrum],
    sigma: float,
    settings: Sequence[Setting],
    concentrations: Sequence[float],
) -> Table:
    """Table `circle_risk_curve`: risk, its parts and the first gain over a grid of c.

    Columns: spectrum, n, c, risk, bias2, variance, gain1, nearest (whether c is the grid's nearest to c*).
    """
    grid = np.array(concentrations, dtype=np.float64)
    rows = []
    for name, n in settings:
        nearest = np.argmin(np.abs(grid - optimum(spectra[name], sigma, n)))
        for index, c in enumerate(grid):
            bias2, variance = risk_parts(spectra[name], sigma, n, c)
            gain = gains_bessel([1], n, c)[0]
            rows.append((name, n, c, bias2 + variance, bias2, variance, gain, bool(index == nearest)))
    return _columns(("spectrum", "n", "c", "risk", "bias2", "variance", "gain1", "nearest"), rows)


def smoother_table(
    spectra: Mapping[str, Spectrum],
    sigma: float,
    settings: Sequence[Setting],
    *,
    concentrations: Sequence[float],
    points: int,
    rng: np.random.Generator,
) -> Table:
    """Table `circle_smoother`: a random function for each setting, its noisy values, and their smoothing.

    Columns: spectrum, n, series (`true`, `noisy`, `smoothed`), c (NaN but for `smoothed`), theta (radians),
    value. The true function and the smoothed ones are given on `points` equally spaced angles that close the
    circle, the noisy values at the keys. A query between two keys is smoothed like any other.
    """
    around = np.linspace(0.0, 2.0 * np.pi, points)
    rows: list[tuple[object, ...]] = []
    for name, n in settings:
        coefficients = rng.standard_normal(2 * len(spectra[name]))
        true = fourier_basis(spectra[name], around) @ coefficients
        noisy = fourier_basis(spectra[name], angles(n)) @ coefficients + sigma * rng.standard_normal(n)
        rows += [(name, n, "true", np.nan, *point) for point in zip(around, true, strict=True)]
        rows += [(name, n, "noisy", np.nan, *point) for point in zip(angles(n), noisy, strict=True)]
        cosines = directions(around) @ directions(angles(n)).T
        for c in concentrations:
            smoothed = attention_weights(c * cosines) @ noisy
            rows += [(name, n, "smoothed", float(c), *point) for point in zip(around, smoothed, strict=True)]
    return _columns(("spectrum", "n", "series", "c", "theta", "value"), rows)


def checks_table(gains: Table, found: Table, simulation: Table) -> Table:
    """Table `circle_checks`: the worst case of each of the tables that check Theorem 1.

    Columns: check, instances, worst.
    """
    worst = (
        ("gains: Bessel series - FFT", gains["fft_error"]),
        ("gains: Bessel series - direct", gains["direct_error"]),
        ("search: |M - c* I| / |c* I|", found["deviation"]),
        ("search: |risk - R(c*)|", found["risk_gap"]),
        ("simulation: |z| of the risk", np.abs(simulation["z"].astype(np.float64))),
    )
    return _columns(("check", "instances", "worst"), [(check, len(value), value.max()) for check, value in worst])


def exact_tables(
    variances: Mapping[str, Sequence[float]],
    sigma: float,
    settings: Sequence[Setting],
    *,
    gains: Mapping[str, Any],
    optimum: Mapping[str, Any],
    search: Mapping[str, Any],
    simulation: Mapping[str, Any],
    risk_curve: Sequence[Mapping[str, float]],
    smoother: Mapping[str, Any],
    seed: np.random.SeedSequence,
) -> dict[str, Table]:
    """All tables of this module by name.

    Parameters
    ----------
    variances
        Variances at the frequencies 1, 2, ... of each spectrum.
    gains, optimum, search, simulation, risk_curve, smoother
        Arguments of the table of that name; `risk_curve` as in `concentration_grid`.
    """
    spectra = {name: spectrum_of(values) for name, values in variances.items()}
    common = spectra, sigma, settings
    searching, noise, drawing = (np.random.default_rng(own) for own in seed.spawn(3))
    tables = {
        "circle_gains": gains_table(**gains),
        "circle_optimum": optimum_table(spectra, sigma, optimum["sizes"]),
        "circle_slopes": slopes_table(spectra, sigma, optimum["slope_between"]),
        "circle_search": search_table(*common, **search, rng=searching),
        "circle_simulation": simulation_table(*common, **simulation, rng=noise),
        "circle_risk_curve": risk_curve_table(*common, concentration_grid(risk_curve)),
        "circle_smoother": smoother_table(*common, **smoother, rng=drawing),
    }
    worst = (tables[f"circle_{name}"] for name in ("gains", "search", "simulation"))
    return tables | {"circle_checks": checks_table(*worst)}


def relative_deviation(M: Array, c: Array | float) -> Array:
    """|M - c I| / |c I| in the Frobenius norm, shapes (..., 2, 2) and (...) to (...)."""
    target = np.asarray(c)[..., None, None] * np.eye(2)
    deviation: Array = np.linalg.norm(M - target, axis=(-2, -1)) / np.linalg.norm(target, axis=(-2, -1))
    return deviation


def _columns(names: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """Table of rows; each column takes the type of its values."""
    return {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
