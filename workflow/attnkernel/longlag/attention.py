"""One layer of attention without positions (Definition 2), read at the last symbol.

Without positions the layer sees a multiset: equal symbols have equal scores, so a sum over positions is a sum
over symbols times their counts. That is exact, and makes the cost of a sequence independent of its lag.
"""

from __future__ import annotations

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


@dataclass(frozen=True)
class Lookup:
    """What a batch of lookups computes.

    Parameters
    ----------
    query, key, value
        Tables by symbol, (R, H, S).
    asking
        Which symbol is the last one and asks, one-hot, (R, S, B).
    counts
        Occurrences of each symbol, (R, S, B).
    mass
        Softmax weight of all occurrences of a symbol together, (R, S, B).
    output
        Weighted mean of the values, (R, H, B).
    """

    query: Array
    key: Array
    value: Array
    asking: Array
    counts: Array
    mass: Array
    output: Array

    @property
    def temperature(self) -> float:
        """The default, sqrt(d_k)."""
        return float(self.key.shape[-2] ** 0.5)


def _at_columns(table: Array, symbols: Symbols) -> Array:
    """Columns of a table by symbol, (R, H, S), at one symbol a sequence, (R, B): (R, H, B)."""
    return np.take_along_axis(table, symbols[:, None, :], axis=-1)


class Attention:
    """One layer, d_k = d_v = H, and a linear readout of its output as two logits; no positions, no biases."""

    def initialize(self, sizes: Sizes, generators: Sequence[np.random.Generator]) -> dict[str, Array]:
        """Draw the weights of one replica a generator."""
        square = (sizes.hidden, sizes.dimension)
        shapes = {
            "embedding": (sizes.dimension, sizes.symbols),
            "query": square,
            "key": square,
            "value": square,
            "readout": (BITS, sizes.hidden),
        }
        return normal_weights(generators, shapes, sizes.embedding_sd)

    def lookup(self, weights: Weights, symbols: Symbols) -> Lookup:
        """Read every position with the last one's query."""
        embedding = weights["embedding"]
        query, key, value = (weights[name] @ embedding for name in ("query", "key", "value"))
        read = one_hot(symbols, embedding.shape[-1])
        asking, counts = read[-1].astype(embedding.dtype), read.sum(axis=0)
        scores = key.swapaxes(-1, -2) @ (query @ asking) / key.shape[-2] ** 0.5
        # A symbol that does not occur must neither weigh nor set the maximum.
        scores = np.where(counts > 0, scores, -np.inf)
        mass = counts * np.exp(scores - scores.real.max(axis=-2, keepdims=True))
        mass /= mass.sum(axis=-2, keepdims=True)
        return Lookup(query, key, value, asking, counts, mass, value @ mass)

    def logits(self, weights: Weights, symbols: Symbols) -> Array:
        """Return the two logits after the last symbol, (R, 2, B)."""
        return weights["readout"] @ self.lookup(weights, symbols).output

    def loss_and_gradients(self, weights: Weights, symbols: Symbols) -> tuple[Array, dict[str, Array]]:
        """Return each replica's batch-mean loss in nats, (R,), and its gradients (Proposition 5)."""
        read = self.lookup(weights, symbols)
        loss, d_logits = cross_entropy(weights["readout"] @ read.output, symbols[0])
        d_logits /= symbols.shape[-1]
        d_output = weights["readout"].swapaxes(-1, -2) @ d_logits
        # alpha (v - o): Proposition 5's derivative in a score, along the loss.
        d_score = read.mass * (read.value.swapaxes(-1, -2) @ d_output - (read.output * d_output).sum(-2)[:, None])
        d_score = d_score @ read.asking.swapaxes(-1, -2) / read.temperature
        d_table = {
            "query": read.key @ d_score,
            "key": read.query @ d_score.swapaxes(-1, -2),
            "value": d_output @ read.mass.swapaxes(-1, -2),
        }
        gradients = {name: d_table[name] @ weights["embedding"].swapaxes(-1, -2) for name in d_table}
        gradients["embedding"] = sum(
            (weights[name].swapaxes(-1, -2) @ d_table[name] for name in d_table),
            start=np.zeros_like(weights["embedding"]),
        )
        gradients["readout"] = d_logits @ read.output.swapaxes(-1, -2)
        return loss.mean(axis=-1), gradients

    def bit_weight(self, read: Lookup, symbols: Symbols) -> Array:
        """Return the softmax weight on the bit, which occurs once, (R, B)."""
        return np.take_along_axis(read.mass, symbols[:1].swapaxes(0, 1), axis=-2)[:, 0]

    def bit_jacobian(self, weights: Weights, symbols: Symbols) -> Array:
        """Return the derivative of the output in the bit's token vector, (R, B, H, d) (Proposition 5)."""
        read = self.lookup(weights, symbols)
        weight = self.bit_weight(read, symbols)[..., None, None]
        reach = (_at_columns(read.value, symbols[0]) - read.output).swapaxes(-1, -2)
        score_slope = (weights["key"].swapaxes(-1, -2) @ (read.query @ read.asking)).swapaxes(-1, -2)
        through_key = reach[..., :, None] * score_slope[..., None, :] / read.temperature
        return weight * (weights["value"][:, None] + through_key)

    def log_bit_gradients(self, weights: Weights, symbols: Symbols, lags: Sequence[int]) -> Array:
        """Return log norms of each sequence's own loss gradient at the bit's token vector, (lags, R, B)."""
        return np.stack([self._log_bit_gradient(weights, symbols[: lag + 1]) for lag in lags])

    def _log_bit_gradient(self, weights: Weights, symbols: Symbols) -> Array:
        read = self.lookup(weights, symbols)
        _, d_logits = cross_entropy(weights["readout"] @ read.output, symbols[0])
        d_output = weights["readout"].swapaxes(-1, -2) @ d_logits
        reach = _at_columns(read.value, symbols[0]) - read.output
        query = read.query @ read.asking
        d_score = (d_output * reach).sum(axis=-2, keepdims=True) / read.temperature
        gradient = weights["value"].swapaxes(-1, -2) @ d_output + weights["key"].swapaxes(-1, -2) @ (d_score * query)
        log_norm: Array = np.log(np.linalg.norm(gradient, axis=-2) * self.bit_weight(read, symbols))
        return log_norm


def constructive_weights(sizes: Sizes, gap: float, margin: float) -> dict[str, Array]:
    """Build a layer that answers at any lag (Proposition 6), one replica.

    Its three token features say: a constant, whether the symbol is a bit, and which bit. Every query asks
    for bits with score `gap` over noise, and noise has value zero, so the weight on the bit is
    1/(1 + L exp(-gap)) and the sign of the output is right at every lag; `margin` is the logits' difference
    when all weight is on the bit.
    """
    embedding = np.zeros((3, sizes.symbols))
    embedding[0] = 1.0
    embedding[1, :BITS] = 1.0
    embedding[2, :BITS] = -1.0, 1.0
    rows = {
        "embedding": embedding,
        "query": np.array([[gap, 0.0, 0.0]]),
        "key": np.array([[0.0, 1.0, 0.0]]),
        "value": np.array([[0.0, 0.0, 1.0]]),
        "readout": np.array([[-margin / 2.0], [margin / 2.0]]),
    }
    return {name: row[None] for name, row in rows.items()}
