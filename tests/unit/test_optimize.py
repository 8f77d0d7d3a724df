"""Adam: the published algorithm, in place, replicas apart."""

import numpy as np
import pytest

from attnkernel.optimize import Adam


def test_the_first_step_is_the_step_size_whatever_the_gradient():
    x = np.zeros(3)
    Adam({"x": x}, 0.1).update({"x": np.array([1e-3, -5.0, 1e6])})
    np.testing.assert_allclose(x, [-0.1, 0.1, -0.1], rtol=1e-4)


def test_updates_follow_the_published_recursion():
    rng = np.random.default_rng(0)
    x = start = rng.standard_normal()
    m = v = 0.0
    ours = np.array([start])
    adam = Adam({"x": ours}, 0.01, (0.8, 0.95), 1e-6)
    for t in range(1, 20):
        gradient = rng.standard_normal()
        m, v = 0.8 * m + 0.2 * gradient, 0.95 * v + 0.05 * gradient**2
        x -= 0.01 * (m / (1.0 - 0.8**t)) / (np.sqrt(v / (1.0 - 0.95**t)) + 1e-6)
        adam.update({"x": np.array([gradient])})
    assert ours[0] == pytest.approx(x, rel=1e-13)


def test_stacked_replicas_train_as_they_would_apart():
    rng = np.random.default_rng(1)
    gradients = rng.standard_normal((10, 3, 2))
    together = np.zeros((3, 2))
    apart = [np.zeros(2) for _ in range(3)]
    adam, alone = Adam({"x": together}, 0.1), [Adam({"x": x}, 0.1) for x in apart]
    for gradient in gradients:
        adam.update({"x": gradient})
        for optimiser, own in zip(alone, gradient, strict=True):
            optimiser.update({"x": own})
    np.testing.assert_array_equal(together, apart)


def test_it_finds_the_minimum_of_a_badly_scaled_bowl():
    x = np.array([5.0, -3.0])
    adam = Adam({"x": x}, 0.05)
    for _ in range(2000):
        adam.update({"x": np.array([1.0, 1e4]) * x})
    np.testing.assert_allclose(x, 0.0, atol=1e-6)


def test_a_gradient_left_untouched_by_the_update():
    gradient = np.ones(2)
    Adam({"x": np.zeros(2)}, 0.1).update({"x": gradient})
    assert gradient.tolist() == [1.0, 1.0]


def test_a_parameter_without_a_gradient_is_an_error():
    with pytest.raises(KeyError):
        Adam({"x": np.zeros(1), "y": np.zeros(1)}, 0.1).update({"x": np.zeros(1)})
