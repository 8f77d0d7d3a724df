"""Recurrent models of the long lag: what Elman and LSTM share.

A state and the one-hot symbol that it meets are stacked, so that one matrix product a step applies the
recurrent weights and looks up the symbol's input projection; the S projections are computed once a pass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnkernel.longlag.task import (
    BITS,
    Array,
    Sizes,
    Symbols,
    Weights,
    cross_entropy,
    normal_weights,
    one_hot,
)

# Symbols read at once when only the answer matters, so that long sequences need no long trace.
_SEGMENT = 64
# Steps between two rescalings of an adjoint: no product of so few Jacobians leaves the range of float64.
RESCALE_EVERY = 8


@dataclass(frozen=True)
class Trace:
    """What a forward pass leaves for the backward one.

    Parameters
    ----------
    stacked
        The hidden state before step t over the one-hot symbol of step t, (T + 1, R, H + S, B).
    memory
        The cell's own arrays, time first. Those of the state's parts beyond the hidden one lead, and like
        `stacked` hold the part before every step and after the last.
    size
        Length H of a hidden state.
    """

    stacked: Array
    memory: tuple[Array, ...]
    size: int

    def hidden(self, step: int) -> Array:
        """Return the hidden state after `step`, (R, H, B)."""
        return self.stacked[step + 1, :, : self.size]


class Recurrent(ABC):
    """A recurrent network with a linear readout of its last hidden state.

    A model keeps the arrays of its passes and writes the next pass into them, as fresh pages cost more than
    the arithmetic: a `Trace` is valid until the model's next pass. All other results are their caller's.
    """

    gates: int  # blocks of H rows in the transition matrix
    parts: int  # vectors of length H in a state

    def __init__(self) -> None:
        self._arrays: dict[str, Array] = {}

    def reuse(self, name: str, shape: tuple[int, ...], dtype: np.dtype[np.float64]) -> Array:
        """Return the array kept under a name, or a new one if shape or type changed, contents arbitrary."""
        kept = self._arrays.get(name)
        if kept is None or kept.shape != shape or kept.dtype != dtype:
            kept = self._arrays[name] = np.empty(shape, dtype)
        return kept

    @abstractmethod
    def advance(self, transition: Array, stacked: Array, memory: tuple[Array, ...]) -> None:
        """Fill the hidden states and the memory of a pass from their first state on, in place."""

    @abstractmethod
    def allocate(self, shape: tuple[int, int, int, int], dtype: np.dtype[np.float64]) -> tuple[Array, ...]:
        """Return the unfilled memory of a pass of shape (T, R, H, B)."""

    @abstractmethod
    def slopes(self, trace: Trace, step: int) -> tuple[Array, ...]:
        """Return what the Jacobian of `step` takes from the trace, valid until the next call."""

    @abstractmethod
    def pull(self, slopes: tuple[Array, ...], backward: Array, adjoint: Array, d_rows: Array) -> None:
        """Take an adjoint one step back, in place.

        Parameters
        ----------
        slopes
            Of the step.
        backward
            Transposed recurrent weights, (R, H, gates H).
        adjoint
            Gradient in the state after the step, then in the one before it, (parts, ..., R, H, B).
        d_rows
            Receives the gradient in the gates before their nonlinearity, (..., R, gates H, B).
        """

    def shapes(self, sizes: Sizes) -> dict[str, tuple[int, int]]:
        """Return the (out, in) shapes of the matrices."""
        return {
            "embedding": (sizes.dimension, sizes.symbols),
            "input": (self.gates * sizes.hidden, sizes.dimension),
            "recurrent": (self.gates * sizes.hidden, sizes.hidden),
            "readout": (BITS, sizes.hidden),
        }

    def initialize(self, sizes: Sizes, generators: Sequence[np.random.Generator]) -> dict[str, Array]:
        """Draw the weights of one replica a generator."""
        return normal_weights(generators, self.shapes(sizes), sizes.embedding_sd)

    def transition(self, weights: Weights) -> Array:
        """Return the matrix that a stacked state is multiplied by, (R, gates H, H + S)."""
        return np.concatenate([weights["recurrent"], weights["input"] @ weights["embedding"]], axis=-1)

    def transition_gradients(self, weights: Weights, d_matrix: Array) -> dict[str, Array]:
        """Return the gradients of the transition's weights, from that of the matrix itself."""
        hidden = weights["recurrent"].shape[-1]
        d_projection = d_matrix[..., hidden:]
        return {
            "recurrent": d_matrix[..., :hidden],
            "input": d_projection @ weights["embedding"].swapaxes(-1, -2),
            "embedding": weights["input"].swapaxes(-1, -2) @ d_projection,
        }

    def run(self, weights: Weights, symbols: Symbols, state: Array | None = None) -> Trace:
        """Read symbols, (T, R, B), from a state, (parts, R, H, B), or from zero."""
        length, replicas, batch = symbols.shape
        recurrent, count = weights["recurrent"], weights["embedding"].shape[-1]
        hidden = recurrent.shape[-1]
        stacked = self.reuse("stacked", (length + 1, replicas, hidden + count, batch), recurrent.dtype)
        stacked[:-1, :, hidden:] = one_hot(symbols, count)
        memory = self.allocate((length, replicas, hidden, batch), recurrent.dtype)
        for part, array in enumerate((stacked[:, :, :hidden], *memory[: self.parts - 1])):
            array[0] = 0.0 if state is None else state[part]
        self.advance(self.transition(weights), stacked, memory)
        return Trace(stacked, memory, hidden)

    def final_state(self, trace: Trace) -> Array:
        """Return a copy of the state after the last step, (parts, R, H, B)."""
        return np.stack([trace.stacked[-1, :, : trace.size], *(part[-1] for part in trace.memory[: self.parts - 1])])

    def logits(self, weights: Weights, symbols: Symbols) -> Array:
        """Return the two logits after the last symbol, (R, 2, B)."""
        recurrent, (_, replicas, batch) = weights["recurrent"], symbols.shape
        state = np.zeros((self.parts, replicas, recurrent.shape[-1], batch), recurrent.dtype)
        for start in range(0, len(symbols), _SEGMENT):
            state = self.final_state(self.run(weights, symbols[start : start + _SEGMENT], state))
        answer: Array = weights["readout"] @ state[0]
        return answer

    def loss_and_gradients(self, weights: Weights, symbols: Symbols) -> tuple[Array, dict[str, Array]]:
        """Return each replica's batch-mean loss in nats, (R,), and its gradient in every weight."""
        length, replicas, batch = symbols.shape
        hidden = weights["recurrent"].shape[-1]
        trace, backward = self.run(weights, symbols), weights["recurrent"].swapaxes(-1, -2)
        last = trace.hidden(length - 1)
        loss, d_logits = cross_entropy(weights["readout"] @ last, symbols[0])
        d_logits /= batch
        adjoint = np.zeros((self.parts, replicas, hidden, batch), dtype=last.dtype)
        adjoint[0] = weights["readout"].swapaxes(-1, -2) @ d_logits
        d_rows = self.reuse("d_rows", (length, replicas, self.gates * hidden, batch), last.dtype)
        for step in range(length - 1, -1, -1):
            self.pull(self.slopes(trace, step), backward, adjoint, d_rows[step])
        d_matrix = np.matmul(d_rows, trace.stacked[:-1].swapaxes(-1, -2)).sum(axis=0)
        gradients = self.transition_gradients(weights, d_matrix)
        gradients["readout"] = d_logits @ last.swapaxes(-1, -2)
        return loss.mean(axis=-1), gradients

    def log_bit_gradients(self, weights: Weights, symbols: Symbols, lags: Sequence[int]) -> Array:
        """Return log norms of each sequence's own loss gradient at the state after the bit, (lags, R, B).

        The state is all that the next step receives: an LSTM's cell counts. All lags share one forward pass
        and the Jacobians of one backward pass, which a lag joins at its own last symbol.
        """
        replicas, batch = symbols.shape[1:]
        hidden = weights["recurrent"].shape[-1]
        trace, backward = self.run(weights, symbols), weights["recurrent"].swapaxes(-1, -2)
        descending = sorted(lags, reverse=True)
        adjoints = np.zeros((self.parts, len(lags), replicas, hidden, batch))
        d_rows = np.empty((len(lags), replicas, self.gates * hidden, batch))
        log_norms = np.zeros((len(lags), replicas, batch))
        active = 0
        for step in range(descending[0], 0, -1):
            if active < len(lags) and step == descending[active]:
                _, d_logits = cross_entropy(weights["readout"] @ trace.hidden(step), symbols[0])
                adjoints[0, active] = weights["readout"].swapaxes(-1, -2) @ d_logits
                active += 1
            self.pull(self.slopes(trace, step), backward, adjoints[:, :active], d_rows[:active])
            if step % RESCALE_EVERY == 1:
                log_norms[:active] += rescale(adjoints[:, :active])
        return log_norms[[descending.index(lag) for lag in lags]]


def rescale(adjoint: Array) -> Array:
    """Scale each sequence's adjoint, (parts, ..., H, B), to norm 1 in place; return log norms, (..., B)."""
    norm = np.sqrt((adjoint**2).sum(axis=(0, -2)))
    adjoint /= norm[..., None, :]
    log_norm: Array = np.log(norm)
    return log_norm
