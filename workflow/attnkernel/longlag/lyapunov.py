"""Why recurrent rows fall as they do: the leading Lyapunov exponent of the product of step Jacobians.

Over random noise the log norm of a long product grows like its length times the exponent (Furstenberg and
Kesten 1960). The exponent is estimated apart from the census, on sequences of its own, and predicts the slope
of the log10 gradient in the lag.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attnkernel.longlag.models import FRESH, families, one_replica
from attnkernel.longlag.recurrent import RESCALE_EVERY, Recurrent, rescale
from attnkernel.longlag.task import BITS, Array, Sizes, Symbols, Table, Weights, child, streams


def growth_rates(
    model: Recurrent, weights: Weights, symbols: Symbols, warmup: int, generator: np.random.Generator
) -> Array:
    """Return the mean log growth a step of a random adjoint pulled back over each sequence, (R, B).

    Parameters
    ----------
    symbols
        (warmup + length + warmup, R, B); the length is a multiple of `RESCALE_EVERY`.
    warmup
        Steps not counted at both ends: the state forgets its zero start, the adjoint finds its direction.
    generator
        Draws the directions to start from.

    Raises
    ------
    ValueError
        The counted length is not a positive multiple of `RESCALE_EVERY`.
    """
    total, replicas, batch = symbols.shape
    length, hidden = total - 2 * warmup, weights["recurrent"].shape[-1]
    if length <= 0 or length % RESCALE_EVERY:
        raise ValueError(f"the counted length must be a positive multiple of {RESCALE_EVERY}, not {length}")
    trace, backward = model.run(weights, symbols), weights["recurrent"].swapaxes(-1, -2)
    adjoint = generator.standard_normal((model.parts, replicas, hidden, batch))
    d_rows = np.empty((replicas, model.gates * hidden, batch))
    growth = np.zeros((replicas, batch))
    for pulled, step in enumerate(range(total - 1, warmup - 1, -1), start=1 - warmup):
        model.pull(model.slopes(trace, step), backward, adjoint, d_rows)
        if pulled % RESCALE_EVERY == 0:
            log_norm = rescale(adjoint)
            if pulled > 0:
                growth += log_norm
    rates: Array = growth / length
    return rates


def census_slopes(draws: Table, model: str, replica: int, from_lag: int, column: str) -> float:
    """Return the least-squares slope of a census column in the lag, a step, over lags from `from_lag` on."""
    rows = (draws["model"] == model) & (draws["replica"] == replica) & (draws["lag"] >= from_lag)
    lags = draws["lag"][rows].astype(np.float64)
    centred = lags - lags.mean()
    return float(centred @ draws[column][rows] / (centred @ centred))


def lyapunov_table(
    draws: Table,
    sizes: Sizes,
    forget_biases: Mapping[str, float],
    *,
    length: int,
    warmup: int,
    sequences: int,
    from_lag: int,
    seed: np.random.SeedSequence,
) -> Table:
    """Set the exponent of every recurrent initialization of the census beside the slope measured there.

    Parameters
    ----------
    draws
        Table `longlag_census`, taken with the same sizes, biases and seed.
    length, warmup, sequences
        Counted steps, steps not counted at both ends, independent sequences.
    from_lag
        Smallest lag of the measured slope.
    seed
        The census's: it gives the same weights; the sequences are fresh ones.

    Returns
    -------
    Table `longlag_lyapunov`, one row a recurrent model and replica: `exponent` (natural log a step) and its
    `standard_error` over sequences; `predicted_slope` (log10 a step); `census_slope` of the gradient averaged
    over the batch, and `typical_slope` of the typical sequence.
    """
    replicas = int(draws["replica"].max()) + 1
    seeds = [child(seed, replica) for replica in range(replicas)]
    columns: dict[str, list[object]] = {
        name: []
        for name in (
            "model",
            "replica",
            "exponent",
            "standard_error",
            "predicted_slope",
            "census_slope",
            "typical_slope",
        )
    }
    for family in families(forget_biases, replicas):
        if not isinstance(family.model, Recurrent):
            continue
        weights = family.initialize(sizes, seeds)
        for index in range(len(family.names) * replicas):
            name, replica = family.names[index // replicas], index % replicas
            (generator,) = streams(seeds[replica : replica + 1], FRESH)
            shape = (length + 2 * warmup, 1, sequences)
            noise = generator.integers(BITS, sizes.symbols, size=shape)
            rates = growth_rates(family.model, one_replica(weights, index), noise, warmup, generator)
            exponent = float(rates.mean())
            row = (
                name,
                replica,
                exponent,
                float(rates.std(ddof=1) / sequences**0.5),
                exponent / np.log(10.0),
                census_slopes(draws, name, replica, from_lag, "log10_gradient"),
                census_slopes(draws, name, replica, from_lag, "log10_typical"),
            )
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
    return {name: np.array(values, dtype=object if name == "model" else None) for name, values in columns.items()}


def lyapunov_summary(exponents: Table, lag: int) -> Table:
    """Say how well exponents predict the census, and how far apart initializations must end.

    Parameters
    ----------
    exponents
        Table `longlag_lyapunov`.
    lag
        Where the predicted slopes are spread out.

    Returns
    -------
    Table `longlag_lyapunov_summary`, one row a model: the `median`, `lowest` and `highest` exponent; `orders_apart`,
    the orders of magnitude that these put between the extreme initializations at the lag; and `rms_error`, the root
    mean square of predicted minus typical slope (log10 a step).
    """
    models = list(dict.fromkeys(exponents["model"].tolist()))
    chosen = [exponents["model"] == model for model in models]
    by_model = [exponents["exponent"][rows] for rows in chosen]
    errors = [(exponents["predicted_slope"] - exponents["typical_slope"])[rows] for rows in chosen]
    return {
        "model": np.array(models, dtype=object),
        "median": np.array([np.median(values) for values in by_model]),
        "lowest": np.array([values.min() for values in by_model]),
        "highest": np.array([values.max() for values in by_model]),
        "orders_apart": np.array([np.ptp(values) * lag / np.log(10.0) for values in by_model]),
        "rms_error": np.array([np.sqrt((error**2).mean()) for error in errors]),
    }
