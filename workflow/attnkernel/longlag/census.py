"""The gradient census: how much of the loss's gradient reaches the bit, by model and lag, untrained.

Gradients are carried as logarithms from the backward pass to the table: a product of hundreds of Jacobians
leaves the range of float64, and must not become a silent zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from attnkernel.longlag.models import SEQUENCES, families, one_replica
from attnkernel.longlag.task import Array, Sizes, Table, child, draw_sequences, streams
from attnkernel.progress import track


def log10_batch_means(log_norms: Array) -> tuple[Array, Array]:
    """Return log10 of the arithmetic and the geometric mean over the last axis, from natural logarithms."""
    top = log_norms.max(axis=-1, keepdims=True)
    arithmetic = np.log(np.exp(log_norms - top).mean(axis=-1)) + top[..., 0]
    return arithmetic / np.log(10.0), log_norms.mean(axis=-1) / np.log(10.0)


def log10_quantile(log10_values: Array, quantile: float) -> float:
    """Return log10 of a quantile of values given by their log10, 1-d, as `numpy.quantile` interpolates."""
    ordered = np.sort(log10_values)
    below, fraction = divmod(quantile * (len(ordered) - 1), 1.0)
    low, high = ordered[int(below)], ordered[int(np.ceil(below + fraction))]
    return float(high + np.log10((1.0 - fraction) * 10.0 ** (low - high) + fraction))


def census_draws(
    sizes: Sizes,
    forget_biases: Mapping[str, float],
    *,
    lags: Sequence[int],
    replicas: int,
    batch: int,
    seed: np.random.SeedSequence,
) -> Table:
    """Take the census, one row an initialization.

    The gradient of the batch-mean loss that reaches the bit's own representation (attention: the bit's token
    vector; recurrent: the state after reading it): the norm is each sequence's own, averaged over the batch.
    All lags read the same sequences, each its first L + 1 symbols, and so do all models: the columns compare
    lags and models, not draws.

    Parameters
    ----------
    forget_biases
        Initial forget bias by LSTM name.
    lags, replicas, batch
        Lags L, initializations, and sequences a batch.

    Returns
    -------
    Table `longlag_census`: model, lag, replica, `log10_gradient` (averaged over the batch) and
    `log10_typical` (the geometric mean over the batch: the typical sequence, where the average is carried by
    the largest).
    """
    seeds = [child(seed, replica) for replica in range(replicas)]
    symbols = draw_sequences(streams(seeds, SEQUENCES), max(lags), batch, sizes.noise_symbols)
    models: list[str] = []
    means, typical = [], []
    for family in track(families(forget_biases, replicas), "gradient census"):
        weights = family.initialize(sizes, seeds)
        for index, name in enumerate(family.names):
            models += [name] * (len(lags) * replicas)
            # A replica at a time: a trace of all of them would not fit in memory.
            log_norms = [
                family.model.log_bit_gradients(
                    one_replica(weights, index * replicas + replica), symbols[:, replica : replica + 1], lags
                )
                for replica in range(replicas)
            ]
            # The batch-mean loss gives each sequence 1/B of its own gradient.
            averages = log10_batch_means(np.concatenate(log_norms, axis=1) - np.log(batch))
            means.append(averages[0].ravel())
            typical.append(averages[1].ravel())
    return {
        "model": np.array(models, dtype=object),
        "lag": np.tile(np.repeat(np.asarray(lags), replicas), len(means)),
        "replica": np.tile(np.arange(replicas), len(lags) * len(means)),
        "log10_gradient": np.concatenate(means),
        "log10_typical": np.concatenate(typical),
    }


def reference(model: str, lag: int, forget_biases: Mapping[str, float]) -> float:
    """Return what a path keeps over a lag: 1/(L + 1) of attention, sigma(b)^L of an LSTM; NaN for Elman."""
    if model == "attention":
        return 1.0 / (lag + 1)
    if model in forget_biases:
        return float((1.0 + np.exp(-forget_biases[model])) ** -lag)
    return float("nan")


def census_summary(draws: Table, forget_biases: Mapping[str, float]) -> Table:
    """Summarize the census over initializations.

    Parameters
    ----------
    draws
        Table `longlag_census`.

    Returns
    -------
    Table `longlag_census_summary`, one row a model and lag: `median`, `q25` and `q75` of the gradient (0 only
    where float64 ends; their `log10_` columns go on), `median_times_positions` (times L + 1),
    `log10_typical_median` (of the typical sequence), and `reference`.
    """
    cells = list(dict.fromkeys(zip(draws["model"].tolist(), draws["lag"].tolist(), strict=True)))
    chosen = [(draws["model"] == model) & (draws["lag"] == lag) for model, lag in cells]

    def over_draws(column: str, quantile: float) -> Array:
        return np.array([log10_quantile(draws[column][rows], quantile) for rows in chosen])

    table: Table = {
        "model": np.array([model for model, _ in cells], dtype=object),
        "lag": np.array([lag for _, lag in cells]),
    }
    for name, quantile in (("median", 0.5), ("q25", 0.25), ("q75", 0.75)):
        table[f"log10_{name}"] = over_draws("log10_gradient", quantile)
        table[name] = 10.0 ** table[f"log10_{name}"]
    table["median_times_positions"] = table["median"] * (table["lag"] + 1)
    table["log10_typical_median"] = over_draws("log10_typical", 0.5)
    table["reference"] = np.array([reference(model, lag, forget_biases) for model, lag in cells])
    return table


def census_facts(summary: Table, *, gated: str, near_lag: int, far_lag: int) -> Table:
    """Say what the census shows, one row a fact.

    Parameters
    ----------
    summary
        Table `longlag_census_summary`.
    gated
        The LSTM that attention is held against.
    near_lag, far_lag
        Where it is ahead of attention, and where attention has overtaken it.

    Returns
    -------
    Table `longlag_census_facts`, columns fact and value: the smallest and largest attention gradient times
    L + 1; the orders of magnitude that Elman's falls from the first lag to the last; and whether (1 or 0)
    `gated` is ahead of attention at the near lag and behind it at the far one, in the median over draws of the
    batch average and of the typical sequence.
    """
    dilution = summary["median_times_positions"][summary["model"] == "attention"]
    elman = summary["log10_median"][summary["model"] == "elman"]
    facts: dict[str, float] = {
        "dilution_low": dilution.min(),
        "dilution_high": dilution.max(),
        "elman_orders": elman[0] - elman[-1],
    }
    for column, which in (("log10_median", "average"), ("log10_typical_median", "typical")):
        medians = {
            (model, lag): summary[column][(summary["model"] == model) & (summary["lag"] == lag)].item()
            for model in (gated, "attention")
            for lag in (near_lag, far_lag)
        }
        facts[f"{which}_ahead"] = medians[gated, near_lag] > medians["attention", near_lag]
        facts[f"{which}_behind"] = medians[gated, far_lag] < medians["attention", far_lag]
    names = np.array(list(facts), dtype=object)
    return {"fact": names, "value": np.array(list(facts.values()), dtype=np.float64)}
