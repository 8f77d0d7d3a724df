"""Numerical derivatives that check the hand-written ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Scalar = Callable[[NDArray[Any]], Any]


def complex_step(function: Scalar, x: NDArray[np.float64], step: float = 1e-30) -> NDArray[np.float64]:
    """Gradient of a real-analytic scalar function by the complex step (Squire and Trapp 1998).

    No difference is taken, so there is no cancellation: the result is exact to rounding. The function must compute
    in complex arithmetic as written (no `abs`, no comparison of complex numbers, transposes instead of adjoints).

    Parameters
    ----------
    function
        Maps an array of the shape of `x` to a scalar.
    x
        Where to differentiate, any shape.

    Returns
    -------
    The gradient, shape of `x`.
    """
    gradient = np.empty_like(x)
    point = x.astype(np.complex128)
    for index in np.ndindex(x.shape):
        saved = point[index]
        point[index] = saved + 1j * step
        gradient[index] = np.imag(function(point)) / step
        point[index] = saved
    return gradient


def central_difference(function: Scalar, x: NDArray[np.float64], step: float = 1e-5) -> NDArray[np.float64]:
    """Gradient of a scalar function by central differences of relative width `step`; arguments as `complex_step`."""
    gradient = np.empty_like(x)
    point = x.copy()
    for index in np.ndindex(x.shape):
        saved, width = point[index], step * max(1.0, abs(float(point[index])))
        point[index] = saved + width
        above = function(point)
        point[index] = saved - width
        gradient[index] = (above - function(point)) / (2.0 * width)
        point[index] = saved
    return gradient


def relative_error(ours: NDArray[np.float64], reference: NDArray[np.float64]) -> float:
    """Norm of the difference over the norm of the reference (over 1 where the reference vanishes)."""
    scale = float(np.linalg.norm(reference))
    return float(np.linalg.norm(ours - reference)) / (scale if scale > 0.0 else 1.0)
