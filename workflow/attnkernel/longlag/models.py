"""The four models of the long lag, by family and by replica."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attnkernel.longlag.attention import Attention
from attnkernel.longlag.elman import Elman
from attnkernel.longlag.lstm import LSTM
from attnkernel.longlag.task import Array, Sizes, Weights, streams

# What the streams of a replica's seed are for.
WEIGHTS, SEQUENCES, FRESH = range(3)


@dataclass(frozen=True)
class Family:
    """Models that differ in their initial weights alone, and so run stacked as replicas of one.

    Parameters
    ----------
    names
        Of the models; replicas stand name by name.
    model
        Their common code.
    """

    names: tuple[str, ...]
    model: Attention | Elman | LSTM

    def initialize(self, sizes: Sizes, seeds: Sequence[np.random.SeedSequence]) -> dict[str, Array]:
        """Draw an initialization a seed of every name; all models share a seed's token vectors."""
        return self.model.initialize(sizes, self.streams(seeds, WEIGHTS))

    def streams(self, seeds: Sequence[np.random.SeedSequence], key: int) -> list[np.random.Generator]:
        """Return a generator a replica, of the child `key` of its seed: the same stream again for every name."""
        return [generator for _ in self.names for generator in streams(seeds, key)]


def families(forget_biases: Mapping[str, float], replicas: int) -> list[Family]:
    """Return attention, Elman, and the LSTMs named in `forget_biases`."""
    lstm = LSTM(np.repeat(list(forget_biases.values()), replicas))
    return [
        Family(("attention",), Attention()),
        Family(("elman",), Elman()),
        Family(tuple(forget_biases), lstm),
    ]


def one_replica(weights: Weights, replica: int) -> dict[str, Array]:
    """Return the weights of one replica, its axis kept."""
    return {name: value[replica : replica + 1] for name, value in weights.items()}
