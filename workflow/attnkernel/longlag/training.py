"""The training loop that every model of the long lag runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attnkernel.longlag.models import FRESH, SEQUENCES, Family, families
from attnkernel.longlag.task import (
    Array,
    Model,
    Sizes,
    Symbols,
    Table,
    Weights,
    cross_entropy,
    draw_sequences,
    streams,
)
from attnkernel.optimize import Adam
from attnkernel.progress import track

# Sequences evaluated at once, so that a pass over thousands stays near the processor.
_EVALUATED_AT_ONCE = 250


@dataclass(frozen=True)
class Schedule:
    """Adam's `steps` of size `step_size`, each on `batch` fresh sequences of `lag` noise symbols."""

    lag: int
    steps: int
    batch: int
    step_size: float


def train(
    model: Model,
    weights: Weights,
    generators: Sequence[np.random.Generator],
    schedule: Schedule,
    noise_symbols: int,
) -> Array:
    """Train every replica by Adam on the bit's cross-entropy; `weights` change in place.

    Parameters
    ----------
    weights
        Initial weights, replicas leading.
    generators
        Where the replicas draw their sequences, one each.

    Returns
    -------
    The batch losses in nats, (steps, R), each before its own update.
    """
    adam = Adam(weights, schedule.step_size)
    losses = np.empty((schedule.steps, len(generators)))
    for step in track(range(schedule.steps), "training on long lags"):
        symbols = draw_sequences(generators, schedule.lag, schedule.batch, noise_symbols)
        losses[step], gradients = model.loss_and_gradients(weights, symbols)
        adam.update(gradients)
    return losses


def evaluate(model: Model, weights: Weights, symbols: Symbols) -> tuple[Array, Array]:
    """Return each replica's accuracy and mean loss in nats on sequences (L + 1, R, B); a tie is an error."""
    correct, losses = [], []
    for start in range(0, symbols.shape[-1], _EVALUATED_AT_ONCE):
        part = symbols[..., start : start + _EVALUATED_AT_ONCE]
        logits, bits = model.logits(weights, part), part[0]
        losses.append(cross_entropy(logits, bits)[0])
        correct.append((2 * bits - 1) * (logits[:, 1] - logits[:, 0]) > 0)
    return np.concatenate(correct, axis=-1).mean(axis=-1), np.concatenate(losses, axis=-1).mean(axis=-1)


def train_family(
    family: Family, sizes: Sizes, schedule: Schedule, seeds: Sequence[np.random.SeedSequence]
) -> tuple[dict[str, Array], Array]:
    """Train a replica a seed of every model of a family in one pass; a seed's sequences are the same for all models.

    Returns
    -------
    The trained weights, and the batch losses, (steps, R).
    """
    weights = family.initialize(sizes, seeds)
    return weights, train(family.model, weights, family.streams(seeds, SEQUENCES), schedule, sizes.noise_symbols)


def training_tables(
    sizes: Sizes,
    forget_biases: Mapping[str, float],
    schedule: Schedule,
    *,
    test_lags: Sequence[int],
    test_sequences: int,
    seeds: Mapping[int, np.random.SeedSequence],
) -> tuple[Table, Table]:
    """Train all models and test them on fresh sequences, the same for all.

    Parameters
    ----------
    forget_biases
        Initial forget bias by LSTM name.
    test_lags, test_sequences
        Lags of the test, and sequences at each.
    seeds
        One a replica, by the name that the tables give it; of its weights, training and test sequences.

    Returns
    -------
    Table `longlag_training`, one row a model, seed and lag: `accuracy`, `loss` in nats, the training `steps`
    and the `test_sequences`. Table `longlag_curves`, one row a model, seed and step: batch `loss` in nats
    before that step.
    """
    replicas, sequences = len(seeds), list(seeds.values())
    generators = streams(sequences, FRESH)
    tests = [draw_sequences(generators, lag, test_sequences, sizes.noise_symbols) for lag in test_lags]
    names: list[str] = []
    results, curves = [], []
    for family in families(forget_biases, replicas):
        names += family.names
        weights, losses = train_family(family, sizes, schedule, sequences)
        curves.append(losses.T)
        stacked = [np.tile(test, (1, len(family.names), 1)) for test in tests]
        results.append(np.array([evaluate(family.model, weights, test) for test in stacked]))
    measured = np.concatenate(results, axis=-1)  # lag, (accuracy, loss), model and replica
    outcome: Table = {
        "model": np.repeat(np.array(names, dtype=object), replicas * len(test_lags)),
        "seed": np.tile(np.repeat(list(seeds), len(test_lags)), len(names)),
        "lag": np.tile(np.asarray(test_lags), replicas * len(names)),
        "accuracy": measured[:, 0].T.ravel(),
        "loss": measured[:, 1].T.ravel(),
    }
    outcome["steps"] = np.full(len(outcome["lag"]), schedule.steps)
    outcome["test_sequences"] = np.full(len(outcome["lag"]), test_sequences)
    history: Table = {
        "model": np.repeat(np.array(names, dtype=object), replicas * schedule.steps),
        "seed": np.tile(np.repeat(list(seeds), schedule.steps), len(names)),
        "step": np.tile(np.arange(schedule.steps), replicas * len(names)),
        "loss": np.concatenate(curves).ravel(),
    }
    return outcome, history
