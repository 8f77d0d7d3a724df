"""The trained layer: its gradient, the two reductions that make a step cheap, and replicas that keep to themselves."""

import numpy as np
import pytest

from attnkernel import circle, denoiser
from attnkernel.errors import InputError
from attnkernel.gradient_checks import denoising_loss
from attnkernel.gradients import central_difference, complex_step, relative_error

SMOOTH = {1: 1.0, 2: 0.25}
UNIT = circle.directions(circle.angles(8))
SHORT = denoiser.Protocol(steps=200, step_size=0.03, batch=64, initial_scale=0.1, trace_every=50)


def rotation(theta):
    return np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])


def test_the_hand_written_gradient():
    rng = np.random.default_rng(0)
    M = 2.0 * rng.standard_normal((3, 2, 2))
    noisy, clean = rng.standard_normal((2, 3, 8, 5))
    losses, gradients = denoiser.loss_and_gradient(M, UNIT, noisy, clean)
    for replica in range(3):
        batch = UNIT, noisy[replica], clean[replica]
        assert losses[replica] == pytest.approx(denoising_loss(M[replica], *batch), rel=1e-13)
        exact = complex_step(lambda x, batch=batch: denoising_loss(x, *batch), M[replica])
        differences = central_difference(lambda x, batch=batch: denoising_loss(x, *batch), M[replica])
        assert relative_error(gradients[replica], exact) < 1e-10
        assert relative_error(gradients[replica], differences) < 1e-6


def test_a_batch_reduced_to_a_triangle_has_the_same_loss_and_gradient():
    rng = np.random.default_rng(1)
    basis = circle.fourier_basis(SMOOTH, circle.angles(8))
    Z = rng.standard_normal((12, 40)) / np.sqrt(40)
    L = np.linalg.qr(Z.T, mode="r").T
    M = rng.standard_normal((1, 2, 2))
    answers = []
    for batch in (Z, L):
        clean = basis @ batch[:4]
        noisy = clean + 0.5 * batch[4:]
        answers.append(denoiser.loss_and_gradient(M, UNIT, noisy[None], clean[None]))
    np.testing.assert_allclose(answers[0][0], answers[1][0], rtol=1e-12)
    np.testing.assert_allclose(answers[0][1], answers[1][1], rtol=1e-11)


def test_triangles_have_the_law_of_second_moments_of_batches():
    L = denoiser.triangular_batches(5, 20, 20_000, np.random.default_rng(2))
    assert np.all(np.triu(L[0], 1) == 0.0)
    drawn = L @ L.transpose(0, 2, 1)
    Z = np.random.default_rng(3).standard_normal((20_000, 5, 20))
    honest = Z @ Z.transpose(0, 2, 1) / 20
    # Wishart: the mean is the identity, the variance of an entry is (1 + [i = j]) / B.
    np.testing.assert_allclose(drawn.mean(axis=0), np.eye(5), atol=4.0 * np.sqrt(2.0 / 20 / 20_000))
    np.testing.assert_allclose(drawn.var(axis=0), (1.0 + np.eye(5)) / 20, rtol=0.08)
    largest = [np.linalg.eigvalsh(moments)[:, -1] for moments in (drawn, honest)]
    assert np.mean(largest[0]) == pytest.approx(np.mean(largest[1]), abs=0.02)
    assert np.std(largest[0]) == pytest.approx(np.std(largest[1]), rel=0.05)


def test_a_batch_smaller_than_its_reduction_is_an_error():
    with pytest.raises(InputError, match=r"circle\.denoiser\.batch is 11; allowed: at least 12"):
        denoiser.triangular_batches(12, 11, 1, np.random.default_rng(0))


def test_turning_the_keys_is_turning_the_matrix_the_other_way():
    rng = np.random.default_rng(4)
    theta, M = 0.7, rng.standard_normal((2, 2))
    noisy, clean = rng.standard_normal((2, 8, 5))
    turned = circle.directions(circle.angles(8) + theta)
    exact = complex_step(lambda x: denoising_loss(x, turned, noisy, clean), M)
    R = rotation(theta)
    losses, gradients = denoiser.loss_and_gradient((R.T @ M @ R)[None], UNIT, noisy[None], clean[None])
    assert losses[0] == pytest.approx(denoising_loss(M, turned, noisy, clean), rel=1e-12)
    np.testing.assert_allclose(R @ gradients[0] @ R.T, exact, rtol=1e-10, atol=1e-12)


def test_the_law_of_the_functions_does_not_turn_with_the_keys():
    still, turned = (circle.fourier_basis(SMOOTH, circle.angles(8) + theta) for theta in (0.0, 0.7))
    np.testing.assert_allclose(still @ still.T, turned @ turned.T, atol=1e-14)


def test_stacked_replicas_train_to_the_bit_as_they_would_apart():
    seeds = [np.random.SeedSequence(seed) for seed in (5, 6, 7)]
    together = denoiser.train(SMOOTH, 0.5, 8, SHORT, seeds)
    for replica, seed in enumerate(seeds):
        alone = denoiser.train(SMOOTH, 0.5, 8, SHORT, [np.random.SeedSequence(seed.entropy)])
        np.testing.assert_array_equal(together.M[replica], alone.M[0])
        np.testing.assert_array_equal(together.trace[:, replica], alone.trace[:, 0])


def test_training_starts_near_uniform_attention():
    protocol = SHORT._replace(steps=2, trace_every=1)
    trace = denoiser.train(SMOOTH, 0.5, 8, protocol, [np.random.SeedSequence(8)]).trace
    scores = UNIT @ trace[0, 0] @ UNIT.T
    assert np.abs(scores).max() < 0.2


def test_the_average_is_over_the_second_half():
    protocol = SHORT._replace(steps=40, trace_every=1)
    training = denoiser.train(SMOOTH, 0.5, 8, protocol, [np.random.SeedSequence(9)])
    np.testing.assert_allclose(training.M, training.trace[20:].mean(axis=0), rtol=1e-13)


def test_steps_that_cannot_be_halved_are_an_error():
    with pytest.raises(InputError, match=r"circle\.denoiser\.steps is 250; allowed: a multiple of 100"):
        denoiser.train(SMOOTH, 0.5, 8, SHORT._replace(steps=250), [np.random.SeedSequence(0)])


def test_anisotropy_is_what_no_multiple_of_the_identity_explains():
    M = np.array([[3.0, 1.0], [-1.0, 1.0]])
    assert denoiser.concentration(M) == 2.0
    assert denoiser.anisotropy(M) == pytest.approx(np.sqrt(4.0 / 12.0))
    assert denoiser.anisotropy(5.0 * np.eye(2)) == 0.0


def test_the_summary_keeps_the_worst_row_of_each_seed():
    ends = {
        "seed": np.array([1, 2, 1, 2]),
        "spectrum": np.array(["smooth", "smooth", "rough", "rough"]),
        "n": np.full(4, 32),
        "learned_c": np.array([10.0, 9.0, 55.0, 54.0]),
        "rel_dev": np.array([0.1, 0.2, 0.3, 0.1]),
        "miss_c": np.array([0.2, 0.1, 0.1, 0.3]),
        "anisotropy": np.array([0.0, 0.5, 0.1, 0.2]),
    }
    summary = denoiser.summary_table(ends)
    assert summary["rel_dev"].tolist() == [0.3, 0.2]
    assert summary["miss_c"].tolist() == [0.2, 0.3]
    assert summary["anisotropy"].tolist() == [0.1, 0.5]
    assert summary["sharpness_ratio"].tolist() == [5.5, 6.0]
