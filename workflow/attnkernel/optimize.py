"""Adam, the one optimiser that every trained model of this project uses."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Parameters = Mapping[str, NDArray[np.float64]]


class Adam:
    """Adam (Kingma and Ba 2015, algorithm 1), elementwise and in place.

    Replicas of a model may be stacked on any leading axis of the parameters: every element has moments of its own,
    so stacked replicas train exactly as they would apart.

    Parameters
    ----------
    parameters
        Named floating arrays; `update` changes them in place.
    step
        Step size (alpha in the paper).
    decay
        Decay rates of the first and the second moment.
    epsilon
        Added to the root of the second moment.
    """

    def __init__(
        self,
        parameters: Parameters,
        step: float,
        decay: tuple[float, float] = (0.9, 0.999),
        epsilon: float = 1e-8,
    ) -> None:
        self._parameters = dict(parameters)
        self._step, self._decay, self._epsilon = step, decay, epsilon
        self._first = {name: np.zeros_like(value) for name, value in parameters.items()}
        self._second = {name: np.zeros_like(value) for name, value in parameters.items()}
        self._time = 0

    def update(self, gradients: Parameters, scale: float = 1.0) -> None:
        """Take one descent step along `gradients`, which has the names and shapes of the parameters.

        Parameters
        ----------
        gradients
            Of the loss.
        scale
            Of the step, for one that changes as training goes on.

        Raises
        ------
        KeyError
            A parameter has no gradient.
        """
        self._time += 1
        beta1, beta2 = self._decay
        correct1, correct2 = 1.0 - beta1**self._time, 1.0 - beta2**self._time
        for name, parameter in self._parameters.items():
            gradient, first, second = gradients[name], self._first[name], self._second[name]
            first *= beta1
            first += (1.0 - beta1) * gradient
            second *= beta2
            second += (1.0 - beta2) * gradient**2
            change = (self._step * scale / correct1) * first / (np.sqrt(second / correct2) + self._epsilon)
            np.subtract(parameter, change, out=parameter)
