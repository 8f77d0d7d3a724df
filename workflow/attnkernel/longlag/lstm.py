"""The LSTM with a forget gate (Hochreiter and Schmidhuber 1997; Gers, Schmidhuber and Cummins 2000).

With f, i, o = sigma(...) and g = tanh(...): c_t = f c_{t-1} + i g and h_t = o tanh(c_t). Rows stand in the
order o, f, i, g, so that the sigmoid gates are one block and so are the three that the cell's gradient
reaches. As sigma(z) = (1 + tanh(z/2))/2, one tanh serves all rows once those of the sigmoids are halved.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from attnkernel.longlag.recurrent import Recurrent, Trace
from attnkernel.longlag.task import Array, Sizes, Weights


class LSTM(Recurrent):
    """A hidden and a cell vector; the forget gate alone has a bias.

    Parameters
    ----------
    forget_bias
        Initial bias of every forget gate: a number, or one a replica. It is trained like any weight.
    """

    gates = 4
    parts = 2

    def __init__(self, forget_bias: ArrayLike) -> None:
        super().__init__()
        self._forget_bias = np.asarray(forget_bias, dtype=np.float64)

    def initialize(self, sizes: Sizes, generators: Sequence[np.random.Generator]) -> dict[str, Array]:
        """Draw the weights of one replica a generator; the bias consumes no randomness."""
        bias = np.broadcast_to(self._forget_bias[..., None], (len(generators), sizes.hidden))
        return {**super().initialize(sizes, generators), "forget_bias": bias.copy()}

    def transition(self, weights: Weights) -> Array:
        """Return the transition, sigmoid rows halved, the bias in every symbol's column: a step reads one."""
        hidden = weights["recurrent"].shape[-1]
        matrix = super().transition(weights)
        matrix[:, hidden : 2 * hidden, hidden:] += weights["forget_bias"][..., None]
        matrix[:, : 3 * hidden] *= 0.5
        return matrix

    def transition_gradients(self, weights: Weights, d_matrix: Array) -> dict[str, Array]:
        """Return the gradients of the weights that the transition is made of, the bias included."""
        hidden = weights["recurrent"].shape[-1]
        gradients = super().transition_gradients(weights, d_matrix)
        gradients["forget_bias"] = d_matrix[:, hidden : 2 * hidden, hidden:].sum(axis=-1)
        return gradients

    def allocate(self, shape: tuple[int, int, int, int], dtype: np.dtype[np.float64]) -> tuple[Array, ...]:
        """Return arrays for the cells, their tanh, and the gates o, f, i, g."""
        length, replicas, hidden, batch = shape
        return (
            self.reuse("cells", (length + 1, replicas, hidden, batch), dtype),
            self.reuse("squashed", shape, dtype),
            self.reuse("gates", (length, replicas, 4 * hidden, batch), dtype),
        )

    def advance(self, transition: Array, stacked: Array, memory: tuple[Array, ...]) -> None:
        """Fill the hidden states and the memory."""
        cells, squashed, all_gates = memory
        hidden = cells.shape[-2]
        written = np.empty_like(cells[0])
        for step, gates in enumerate(all_gates):
            sigmoids, cell = gates[:, : 3 * hidden], cells[step + 1]
            np.matmul(transition, stacked[step], out=gates)
            np.tanh(gates, out=gates)
            sigmoids *= 0.5
            sigmoids += 0.5
            np.multiply(gates[:, hidden : 2 * hidden], cells[step], out=cell)
            np.multiply(gates[:, 2 * hidden : 3 * hidden], gates[:, 3 * hidden :], out=written)
            cell += written
            np.tanh(cell, out=squashed[step])
            np.multiply(gates[:, :hidden], squashed[step], out=stacked[step + 1, :, :hidden])

    def slopes(self, trace: Trace, step: int) -> tuple[Array, ...]:
        """Return the slopes in the rows by block (R, 4, H, B), of h in c, and of c in the cell before."""
        cells, squashed, all_gates = trace.memory
        gates, hidden = all_gates[step], trace.size
        by_row = self.reuse("by_row", gates.shape, gates.dtype)
        by_cell = self.reuse("by_cell", cells[step].shape, gates.dtype)
        sigmoids, candidate = slice(0, 3 * hidden), slice(3 * hidden, 4 * hidden)
        np.subtract(1.0, gates[:, sigmoids], out=by_row[:, sigmoids])
        by_row[:, sigmoids] *= gates[:, sigmoids]
        np.multiply(gates[:, candidate], gates[:, candidate], out=by_row[:, candidate])
        np.subtract(1.0, by_row[:, candidate], out=by_row[:, candidate])
        by_row[:, :hidden] *= squashed[step]
        by_row[:, hidden : 2 * hidden] *= cells[step]
        by_row[:, 2 * hidden : 3 * hidden] *= gates[:, candidate]
        by_row[:, candidate] *= gates[:, 2 * hidden : 3 * hidden]
        np.multiply(squashed[step], squashed[step], out=by_cell)
        np.subtract(1.0, by_cell, out=by_cell)
        by_cell *= gates[:, :hidden]
        return by_row.reshape(len(gates), 4, hidden, -1), by_cell, gates[:, hidden : 2 * hidden]

    def pull(self, slopes: tuple[Array, ...], backward: Array, adjoint: Array, d_rows: Array) -> None:
        """Take an adjoint through the cell, the gates and the recurrent weights."""
        by_row, by_cell, forget = slopes
        d_hidden, d_cell = adjoint
        d_blocks = d_rows.reshape(*d_cell.shape[:-2], *by_row.shape[1:])
        through_output = self.reuse("through_output", d_cell.shape, d_cell.dtype)
        np.multiply(d_hidden, by_cell, out=through_output)
        d_cell += through_output
        np.multiply(d_hidden, by_row[:, 0], out=d_blocks[..., 0, :, :])
        np.multiply(d_cell[..., None, :, :], by_row[:, 1:], out=d_blocks[..., 1:, :, :])
        d_cell *= forget
        np.matmul(backward, d_rows, out=d_hidden)
