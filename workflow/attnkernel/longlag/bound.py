"""Proposition 6: one factor at any lag, and a weight on the bit that only competition lowers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from attnkernel.longlag.attention import Attention, Lookup, constructive_weights
from attnkernel.longlag.models import FRESH, Family, one_replica
from attnkernel.longlag.task import BITS, Array, Sizes, Symbols, Table, Weights, child, draw_sequences, streams
from attnkernel.longlag.training import Schedule, evaluate, train_family


def jacobian_bound(weights: Weights, read: Lookup, bit_weight: Array) -> Array:
    """Bound the derivative of the output in the bit's token vector (Proposition 6, first part).

    alpha (|W_V| + 2 V_max |q| |W_K| / tau), in spectral norms, V_max over the values that occur.

    Returns
    -------
    (R, B).
    """
    value_norm, key_norm = (np.linalg.norm(weights[name], ord=2, axis=(-2, -1))[:, None] for name in ("value", "key"))
    lengths = np.linalg.norm(read.value, axis=-2)[..., None]
    largest = np.where(read.counts > 0, lengths, 0.0).max(axis=-2)
    query = np.linalg.norm(read.query @ read.asking, axis=-2)
    bound: Array = bit_weight * (value_norm + 2.0 * largest * query * key_norm / read.temperature)
    return bound


def score_gap(read: Lookup, symbols: Symbols) -> Array:
    """Return the bit's score over that of the best noise symbol present, in units of tau, (R, B)."""
    scores = read.key.swapaxes(-1, -2) @ (read.query @ read.asking) / read.temperature
    noise = np.where(read.counts[:, BITS:] > 0, scores[:, BITS:], -np.inf).max(axis=-2)
    gap: Array = np.take_along_axis(scores, symbols[:1].swapaxes(0, 1), axis=-2)[:, 0] - noise
    return gap


def gap_bound(gap: Array, lag: int) -> Array:
    """Return the least weight on the bit at a score gap D, 1/(1 + L exp(-D)) (Proposition 6, part two)."""
    bound: Array = 1.0 / (1.0 + lag * np.exp(-gap))
    return bound


def attention_states(
    sizes: Sizes,
    schedule: Schedule,
    *,
    gap: float,
    margin: float,
    seeds: Sequence[np.random.SeedSequence],
) -> dict[str, dict[str, Array]]:
    """Return the weights of the layer untrained, trained, and constructed; the last is one replica."""
    family = Family(("attention",), Attention())
    untrained = family.initialize(sizes, seeds)
    trained, _ = train_family(family, sizes, schedule, seeds)
    constructed = constructive_weights(sizes, gap, margin)
    return {"untrained": untrained, "trained": trained, "constructed": constructed}


def bound_table(
    states: Mapping[str, Weights],
    sizes: Sizes,
    *,
    lags: Sequence[int],
    batch: int,
    seed: np.random.SeedSequence,
) -> Table:
    """Hold Proposition 6 against layers at every lag, on fresh sequences.

    Parameters
    ----------
    states
        Weights by name, from `attention_states`.

    Returns
    -------
    Table `longlag_bound`, one row a state, replica and lag: medians over sequences of the Jacobian's
    spectral norm `jacobian` and of its `bound`; `least_slack`, the smallest ratio of bound to norm (at least
    1); `bit_weight`, the smallest weight on the bit; `gap`, the smallest score gap; `least_weight_slack`, the
    smallest ratio of that weight to its bound from the gap (at least 1); and the layer's `accuracy`.
    """
    model = Attention()
    columns = ("jacobian", "bound", "least_slack", "bit_weight", "gap", "least_weight_slack", "accuracy")
    keys: list[tuple[str, int, int]] = []
    rows: list[Array] = []
    for state, weights in states.items():
        replicas = len(weights["readout"])
        generators = streams([child(seed, replica) for replica in range(replicas)], FRESH)
        for lag in lags:
            symbols = draw_sequences(generators, lag, batch, sizes.noise_symbols)
            read = model.lookup(weights, symbols)
            weight, gap = model.bit_weight(read, symbols), score_gap(read, symbols)
            norm = np.linalg.norm(model.bit_jacobian(weights, symbols), ord=2, axis=(-2, -1))
            bound = jacobian_bound(weights, read, weight)
            accuracy, _ = evaluate(model, weights, symbols)
            measured = (
                np.median(norm, axis=-1),
                np.median(bound, axis=-1),
                (bound / norm).min(axis=-1),
                weight.min(axis=-1),
                gap.min(axis=-1),
                (weight / gap_bound(gap, lag)).min(axis=-1),
                accuracy,
            )
            keys += [(state, replica, lag) for replica in range(replicas)]
            rows.append(np.stack(measured, axis=-1))
    values = np.concatenate(rows)
    return {
        "state": np.array([key[0] for key in keys], dtype=object),
        "replica": np.array([key[1] for key in keys]),
        "lag": np.array([key[2] for key in keys]),
        **{name: values[:, index] for index, name in enumerate(columns)},
    }


def bound_summary(bounds: Table) -> Table:
    """Return the least of every replica and lag by layer.

    Parameters
    ----------
    bounds
        Table `longlag_bound`.

    Returns
    -------
    Table `longlag_bound_summary`, one row a state: `least_slack`, `least_weight_slack`, `least_accuracy`.
    """
    states = list(dict.fromkeys(bounds["state"].tolist()))
    least = {"least_slack": "least_slack", "least_weight_slack": "least_weight_slack", "least_accuracy": "accuracy"}
    return {
        "state": np.array(states, dtype=object),
        **{
            name: np.array([bounds[column][bounds["state"] == state].min() for state in states])
            for name, column in least.items()
        },
    }


def attention_table(
    states: Mapping[str, Weights], sizes: Sizes, *, lags: Sequence[int], seed: np.random.SeedSequence
) -> Table:
    """Say where the first replica of each layer looks, a fresh sequence of noise a lag, after either bit.

    Returns
    -------
    Table `longlag_attention`, one row a state, lag, bit and position: the `symbol` there (0 and 1 are the bit)
    and its softmax `weight`.
    """
    model = Attention()
    blocks: list[Table] = []
    for state, weights in states.items():
        generators = streams([seed], FRESH)
        first = one_replica(weights, 0)
        for lag in lags:
            symbols = np.tile(draw_sequences(generators, lag, 1, sizes.noise_symbols), BITS)
            symbols[0, 0] = range(BITS)
            read = model.lookup(first, symbols)
            each = read.mass[0] / np.maximum(read.counts[0], 1)
            for bit in range(BITS):
                positions = symbols[:, 0, bit]
                blocks.append(
                    {
                        "state": np.full(lag + 1, state, dtype=object),
                        "lag": np.full(lag + 1, lag),
                        "bit": np.full(lag + 1, bit),
                        "position": np.arange(lag + 1),
                        "symbol": positions,
                        "weight": each[positions, bit],
                    }
                )
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
