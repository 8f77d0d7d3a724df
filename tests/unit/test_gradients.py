"""Numerical derivatives: exact where they promise it, and the argument left as it was."""

import numpy as np
import pytest

from attnkernel.gradients import central_difference, complex_step, relative_error


def smooth(x):
    return np.sum(np.exp(x) * np.sin(3.0 * x)) + x.ravel()[0] * x.ravel()[-1]


def exact(x):
    gradient = np.exp(x) * (np.sin(3.0 * x) + 3.0 * np.cos(3.0 * x))
    gradient.ravel()[0] += x.ravel()[-1]
    gradient.ravel()[-1] += x.ravel()[0]
    return gradient


@pytest.mark.parametrize("shape", [(4,), (2, 3), (2, 2, 2)])
def test_the_complex_step_is_exact_to_rounding(shape):
    x = np.random.default_rng(0).standard_normal(shape)
    assert relative_error(complex_step(smooth, x), exact(x)) < 1e-14


def test_central_differences_are_close():
    x = np.random.default_rng(1).standard_normal((3, 2))
    assert relative_error(central_difference(smooth, x), exact(x)) < 1e-8


@pytest.mark.parametrize("method", [complex_step, central_difference])
def test_the_argument_is_left_as_it_was(method):
    x = np.array([0.5, -1.0, 2.0])
    before = x.copy()
    method(smooth, x)
    np.testing.assert_array_equal(x, before)


def test_a_wrong_gradient_is_seen():
    x = np.array([0.3, 0.7])
    wrong = exact(x)
    wrong[1] *= 1.0 + 1e-6
    assert relative_error(wrong, complex_step(smooth, x)) > 1e-8


def test_the_error_is_absolute_where_the_reference_vanishes():
    assert relative_error(np.array([3.0, 4.0]), np.zeros(2)) == 5.0
