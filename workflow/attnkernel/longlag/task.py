"""The long-lag task, and what every model of it shares.

Arrays put features before sequences and replicas before both: symbols are (positions, R, B), weights
(R, out, in), logits (R, 2, B). A replica is one initialization with its own sequences; it meets no other one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Symbols = NDArray[np.intp]
Weights = Mapping[str, Array]
Table = dict[str, NDArray[Any]]

BITS = 2  # symbols 0 and 1 are the bit, those above are noise


@dataclass(frozen=True)
class Sizes:
    """Sizes of the task and of its models.

    Parameters
    ----------
    noise_symbols
        Number of noise symbols.
    dimension
        Length d of a token vector.
    hidden
        Length H of keys, values and hidden states.
    embedding_sd
        Standard deviation of the entries of a token vector at initialization.
    """

    noise_symbols: int
    dimension: int
    hidden: int
    embedding_sd: float

    @property
    def symbols(self) -> int:
        """Number of symbols S, bits included."""
        return BITS + self.noise_symbols


class Model(Protocol):
    """What training and census ask of a model."""

    def logits(self, weights: Weights, symbols: Symbols) -> Array:
        """Return the two logits after the last symbol, (R, 2, B)."""

    def loss_and_gradients(self, weights: Weights, symbols: Symbols) -> tuple[Array, dict[str, Array]]:
        """Return each replica's batch-mean loss in nats, (R,), and its gradient in every weight."""

    def log_bit_gradients(self, weights: Weights, symbols: Symbols, lags: Sequence[int]) -> Array:
        """Return log norms of each sequence's own loss gradient at the bit, by lag, (lags, R, B)."""


def child(seed: np.random.SeedSequence, key: int) -> np.random.SeedSequence:
    """Return the child `key` of a seed; unlike `spawn`, the same at every call."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, key))


def streams(seeds: Sequence[np.random.SeedSequence], key: int) -> list[np.random.Generator]:
    """Return a generator a seed, of its child `key`."""
    return [np.random.default_rng(child(seed, key)) for seed in seeds]


def draw_sequences(generators: Sequence[np.random.Generator], lag: int, batch: int, noise_symbols: int) -> Symbols:
    """Draw fresh sequences: a fair bit, then `lag` uniform noise symbols.

    Parameters
    ----------
    generators
        One a replica.
    lag
        Number L of noise symbols between reading the bit and reporting it, at least 1.
    batch
        Sequences B a replica.

    Returns
    -------
    Symbols, (L + 1, R, B).

    Raises
    ------
    ValueError
        The lag is below 1: the bit would be its own query.
    """
    if lag < 1:
        raise ValueError(f"a lag is at least 1, not {lag}")
    symbols = np.empty((lag + 1, len(generators), batch), dtype=np.intp)
    for replica, generator in enumerate(generators):
        symbols[0, replica] = generator.integers(BITS, size=batch)
        symbols[1:, replica] = generator.integers(BITS, BITS + noise_symbols, size=(lag, batch))
    return symbols


def one_hot(symbols: Symbols, count: int) -> NDArray[np.bool_]:
    """Indicate which of `count` symbols stands where: (..., B) to (..., count, B)."""
    indicator: NDArray[np.bool_] = symbols[..., None, :] == np.arange(count)[:, None]
    return indicator


def normal_weights(
    generators: Sequence[np.random.Generator], shapes: Mapping[str, tuple[int, int]], embedding_sd: float
) -> dict[str, Array]:
    """Draw weights N(0, 1/fan_in), and an embedding of the given standard deviation, a replica a generator.

    Parameters
    ----------
    shapes
        (out, in) of every matrix; the embedding holds one column a symbol.

    Returns
    -------
    One (R, out, in) array a name.
    """
    scales = {name: embedding_sd if name == "embedding" else shape[1] ** -0.5 for name, shape in shapes.items()}
    replicas = [
        {name: scales[name] * generator.standard_normal(shape) for name, shape in shapes.items()}
        for generator in generators
    ]
    return {name: np.stack([replica[name] for replica in replicas]) for name in shapes}


def cross_entropy(logits: Array, bits: Symbols) -> tuple[Array, Array]:
    """Cross-entropy of the bit, and its gradient, by sequence.

    Written in the margin m of the right logit over the wrong one: the loss is log(1 + exp(-m)) and its slope
    -sigma(-m) = -exp(-m - loss), so that neither cancels when the model is sure.

    Parameters
    ----------
    logits
        (..., 2, B).
    bits
        0 or 1, (..., B).

    Returns
    -------
    The losses in nats, (..., B), and their gradients in the logits, (..., 2, B).
    """
    sign = 2.0 * bits - 1.0
    margin = sign * (logits[..., 1, :] - logits[..., 0, :])
    wrong = margin.real < 0
    loss = np.log1p(np.exp(np.where(wrong, margin, -margin))) + np.where(wrong, -margin, 0.0)
    slope = -sign * np.exp(-margin - loss)
    return loss, np.stack([-slope, slope], axis=-2)
