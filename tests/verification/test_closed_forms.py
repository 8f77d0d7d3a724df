"""The published numbers of the closed-form chapters, to the printed digit, and the trained layer at full size."""

import numpy as np
import pytest

from attnkernel import circle, denoiser, scaling

SMOOTH = {1: 1.0, 2: 0.25}
ROUGH = dict.fromkeys(range(1, 7), 0.25)
SPECTRA = {"smooth": SMOOTH, "rough": ROUGH}
SIGMA = 0.5
SETTINGS = [("smooth", 32), ("smooth", 64), ("rough", 32)]
SIZES = [32, 64, 128, 1024, 10**6, 10**8]


def rounds_to(printed):
    digits = len(printed.partition(".")[2])
    return pytest.approx(float(printed), abs=0.5 * 10.0**-digits)


def test_the_first_six_gains():
    gains = circle.gains_bessel(range(1, 7), 64, 7.3)
    assert gains.tolist() == [rounds_to(text) for text in ("0.929", "0.746", "0.520", "0.318", "0.172", "0.083")]


@pytest.mark.parametrize(
    ("name", "constant", "ratios", "slope"),
    [
        ("smooth", "2.636", ["0.949", "0.962", "0.972", "0.988", "0.9993", "0.9999"], "0.4001"),
        ("rough", "17.513", ["0.816", "0.906", "0.929", "0.970", "0.9981", "0.9997"], "0.4003"),
    ],
)
def test_the_asymptote_of_the_optimum(name, constant, ratios, slope):
    table = circle.optimum_table({name: SPECTRA[name]}, SIGMA, SIZES)
    assert table["C"][0] == rounds_to(constant)
    assert table["ratio"].tolist() == [rounds_to(text) for text in ratios]
    slopes = circle.slopes_table({name: SPECTRA[name]}, SIGMA, (10**6, 10**8))
    assert slopes["slope"][0] == rounds_to(slope)


@pytest.mark.parametrize(
    ("name", "n", "c_star", "risk"),
    [
        ("smooth", 32, "10.01098", "0.0545627"),
        ("smooth", 64, "13.39066", "0.0315783"),
        ("rough", 32, "57.12988", "0.1404724"),
    ],
)
def test_the_optimum_and_its_risk(name, n, c_star, risk):
    table = circle.optimum_table({name: SPECTRA[name]}, SIGMA, [n])
    assert table["c_star"][0] == rounds_to(c_star)
    assert table["risk"][0] == rounds_to(risk)


def test_the_readouts_of_the_laboratory_at_c_11():
    table = circle.risk_curve_table(SPECTRA, SIGMA, [("smooth", 32)], [0.0, 11.0])
    readouts = [table[name][1] for name in ("risk", "bias2", "variance", "gain1")]
    assert readouts == [rounds_to(text) for text in ("0.0548", "0.0097", "0.0451", "0.953")]


def test_the_least_missed_weight():
    assert rounds_to("0.2689") == scaling.LEAST_MISSED


def test_the_trained_layer_lands_on_the_optimum():
    protocol = denoiser.Protocol(steps=4000, step_size=0.03, batch=1024, initial_scale=0.1, trace_every=100)
    ends, trace = denoiser.denoiser_tables(SPECTRA, SIGMA, SETTINGS, protocol, [1])
    assert ends["rel_dev"].max() < 0.002
    assert ends["anisotropy"].max() < 0.0011
    assert denoiser.summary_table(ends)["sharpness_ratio"][0] > 5.0
    # The window of the average lies past convergence: its two halves agree.
    second_half = trace["step"] > 2000
    for name, n in SETTINGS:
        c = trace["c"][second_half & (trace["spectrum"] == name) & (trace["n"] == n)]
        assert c[:10].mean() == pytest.approx(c[10:].mean(), rel=0.005)


PUBLISHED = {
    ("one_minus_max", False): [0.571, 0.309, 0.139, 0.073, 0.041],
    ("one_minus_max", True): [0.766, 0.755, 0.748, 0.751, 0.759],
    ("jacobian", False): [0.257, 0.250, 0.157, 0.093, 0.056],
    ("jacobian", True): [0.192, 0.203, 0.208, 0.207, 0.203],
}


def test_the_published_draws_lie_within_their_error_of_the_expectation():
    table = scaling.scaling_table(
        [4, 16, 64, 256, 1024], keys=16, draws=600, seed=np.random.SeedSequence(3), log2_points=11, scrambles=8
    )
    assert table["expectation_error"].max() < 1e-4
    for (quantity, scaled), published in PUBLISHED.items():
        keep = (table["quantity"] == quantity) & (table["scaled"] == scaled)
        miss = np.abs(np.array(published) - table["expectation"][keep])
        assert np.all(miss < 3.5 * table["standard_error"][keep])
