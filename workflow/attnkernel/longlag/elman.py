"""The Elman network, h_t = tanh(W_h h_{t-1} + W_x x_t) (Elman 1990)."""

from __future__ import annotations

import numpy as np

from attnkernel.longlag.recurrent import Recurrent, Trace
from attnkernel.longlag.task import Array


class Elman(Recurrent):
    """One hidden vector, one gate-free step."""

    gates = 1
    parts = 1

    def allocate(self, shape: tuple[int, int, int, int], dtype: np.dtype[np.float64]) -> tuple[Array, ...]:
        """Return nothing: the hidden states suffice."""
        return ()

    def advance(self, transition: Array, stacked: Array, memory: tuple[Array, ...]) -> None:
        """Fill the hidden states."""
        hidden = transition.shape[-2]
        rows = np.empty_like(stacked[0, :, :hidden])
        for before, after in zip(stacked[:-1], stacked[1:, :, :hidden], strict=True):
            np.matmul(transition, before, out=rows)
            np.tanh(rows, out=after)

    def slopes(self, trace: Trace, step: int) -> tuple[Array, ...]:
        """Return 1 - h_t^2."""
        return (1.0 - trace.hidden(step) ** 2,)

    def pull(self, slopes: tuple[Array, ...], backward: Array, adjoint: Array, d_rows: Array) -> None:
        """Take an adjoint through the tanh and the recurrent weights."""
        np.multiply(adjoint[0], slopes[0], out=d_rows)
        np.matmul(backward, d_rows, out=adjoint[0])
