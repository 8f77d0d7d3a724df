"""The trained layer of the circle: one attention layer that learns to denoise random functions.

Its scores are u_i M u_j with M = W_Q W_K^T / sqrt 2, its values the noisy y_j; Adam minimises the squared
error against the clean function. Two exact reductions make a step cheap, and neither changes the distribution
of a step:

- One rotation theta_0 serves the whole batch. Turning the keys by theta_0 is turning M the other way, and the law of
  the functions is invariant under rotation, so the keys stay where they are and a function is drawn in the turned
  frame.
- The loss knows a batch of B functions, with coefficients and noise Z (D rows, B columns, standard normal), through
  Z Z^T alone. With Z = L Q, L lower triangular and the rows of Q orthonormal, L L^T = Z Z^T: the D columns of L are a
  batch with the same loss and gradient for every M. L has a known law (Bartlett 1933), so it is drawn directly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from attnkernel.circle import (
    Array,
    Setting,
    Spectrum,
    Table,
    angles,
    directions,
    fourier_basis,
    optimum,
    relative_deviation,
)
from attnkernel.errors import InputError
from attnkernel.optimize import Adam
from attnkernel.seeding import seed_sequence


class Training(NamedTuple):
    """What training left behind, replicas on the axis R."""

    M: Array
    """Average of M over the second half of the steps, shape (R, 2, 2)."""
    trace: Array
    """M after every `trace_every`-th step, shape (steps // trace_every, R, 2, 2)."""


def triangular_batches(rows: int, batch: int, count: int, rng: np.random.Generator) -> Array:
    """Triangular factors of the second moments of `count` batches of standard normal columns (Bartlett 1933).

    Parameters
    ----------
    rows
        Length D of a column.
    batch
        Number B >= D of columns in a batch.

    Returns
    -------
    Lower triangular L, shape (count, D, D); L L^T has the law of Z Z^T / B with Z a D x B standard normal matrix.

    Raises
    ------
    InputError
        The batch is smaller than a column is long, so that its second moments are singular.
    """
    if batch < rows:
        raise InputError(
            f"config: circle.denoiser.batch is {batch}; allowed: at least {rows}, the columns it is reduced to"
        )
    lower = np.zeros((count, rows, rows))
    below = np.tril_indices(rows, -1)
    lower[:, below[0], below[1]] = rng.standard_normal((count, len(below[0])))
    lower[:, np.arange(rows), np.arange(rows)] = np.sqrt(rng.chisquare(batch - np.arange(rows), (count, rows)))
    lower /= np.sqrt(batch)
    return lower


def loss_and_gradient(M: Array, unit: Array, noisy: Array, clean: Array) -> tuple[Array, Array]:
    """Mean squared error over positions, summed over the columns of a batch, and its gradient in M.

    Parameters
    ----------
    M
        Shape (R, 2, 2), one matrix a replica.
    unit
        Directions of the keys, shape (n, 2).
    noisy, clean
        Columns y and f of each replica's batch, shape (R, n, D); scaled so that the sum over columns is a
        mean over the batch.

    Returns
    -------
    Losses, shape (R,), and gradients, shape (R, 2, 2).
    """
    scores = unit @ M @ unit.T
    scores -= scores.max(axis=2, keepdims=True)
    A = np.exp(scores, out=scores)
    A /= A.sum(axis=2, keepdims=True)
    error = A @ noisy - clean
    by_weight = error @ noisy.transpose(0, 2, 1)
    weighted = A * by_weight
    weighted -= A * weighted.sum(axis=2, keepdims=True)
    n = len(unit)
    return np.square(error).sum(axis=(1, 2)) / n, (2.0 / n) * (unit.T @ weighted @ unit)


class Protocol(NamedTuple):
    """How a layer is trained."""

    steps: int
    """Adam steps, a multiple of 2 `trace_every`."""
    step_size: float
    """Adam's step on W_Q and W_K."""
    batch: int
    """Functions a step, at least n + 2 len(spectrum)."""
    initial_scale: float
    """Standard deviation of W_Q and W_K at the start; small, so that attention starts near uniform."""
    trace_every: int
    """Steps between two rows of the trace."""


def train(
    spectrum: Spectrum, sigma: float, n: int, protocol: Protocol, seeds: Sequence[np.random.SeedSequence]
) -> Training:
    """Train one replica a seed on fresh functions, noise and rotations at every step.

    A replica reads only its own seed and is updated elementwise: it ends the same whether it trains alone or
    stacked.

    Parameters
    ----------
    spectrum, sigma, n
        As in `circle.risk_parts`.

    Raises
    ------
    InputError
        The steps are no multiple of 2 `trace_every`, or the batch is too small (see `triangular_batches`).
    """
    steps, block_length = protocol.steps, protocol.trace_every
    if steps % (2 * block_length):
        raise InputError(
            f"config: circle.denoiser.steps is {steps}; allowed: a multiple of {2 * block_length}, twice `trace_every`"
        )
    generators = [np.random.default_rng(seed) for seed in seeds]
    starts = np.stack([rng.standard_normal((2, 2, 2)) for rng in generators], axis=1)
    W_Q, W_K = protocol.initial_scale * starts
    adam = Adam({"W_Q": W_Q, "W_K": W_K}, protocol.step_size)
    unit, basis = directions(angles(n)), fourier_basis(spectrum, angles(n))
    trace = np.empty((steps // block_length, len(seeds), 2, 2))
    summed = np.zeros((len(seeds), 2, 2))
    for block, recorded in enumerate(trace):
        turns, noisy, clean = _block(generators, basis, sigma, protocol.batch, block_length)
        for turn, y, f in zip(turns, noisy, clean, strict=True):
            back = turn.transpose(0, 2, 1)
            _, by_turned = loss_and_gradient(back @ score_matrix(W_Q, W_K) @ turn, unit, y, f)
            by_product = turn @ by_turned @ back / np.sqrt(2.0)
            adam.update({"W_Q": by_product @ W_K, "W_K": by_product.transpose(0, 2, 1) @ W_Q})
            if 2 * block >= len(trace):
                summed += score_matrix(W_Q, W_K)
        recorded[:] = score_matrix(W_Q, W_K)
    return Training(summed / (steps // 2), trace)


def score_matrix(W_Q: Array, W_K: Array) -> Array:
    """M = W_Q W_K^T / sqrt 2, shape (..., 2, 2)."""
    M: Array = W_Q @ np.swapaxes(W_K, -1, -2) / np.sqrt(2.0)
    return M


def concentration(M: Array) -> Array:
    """Learned c, half the trace of M, shape (..., 2, 2) to (...)."""
    c: Array = 0.5 * np.trace(M, axis1=-2, axis2=-1)
    return c


def anisotropy(M: Array) -> Array:
    """|M - c I| / |M|, with c half the trace, in the Frobenius norm, shape (..., 2, 2) to (...)."""
    rest = M - concentration(M)[..., None, None] * np.eye(2)
    ratio: Array = np.linalg.norm(rest, axis=(-2, -1)) / np.linalg.norm(M, axis=(-2, -1))
    return ratio


def denoiser_tables(
    spectra: Mapping[str, Spectrum],
    sigma: float,
    settings: Sequence[Setting],
    protocol: Protocol,
    seeds: Sequence[int],
) -> tuple[Table, Table]:
    """Tables `denoiser` and `denoiser_trace`: each setting trained once a seed, its replicas stacked.

    `denoiser` has the columns seed, spectrum, n, learned_c, c_star, rel_dev (|M - c* I| / |c* I|), miss_c
    (|learned_c - c*| / c*), anisotropy; `denoiser_trace` has seed, spectrum, n, step, c and anisotropy (of M
    after that step).
    """
    ends: list[Table] = []
    traces: list[Table] = []
    for name, n in settings:
        own = [seed_sequence(seed, "denoiser", name, str(n)) for seed in seeds]
        M, trace = train(spectra[name], sigma, n, protocol, own)
        learned, c_star = concentration(M), optimum(spectra[name], sigma, n)
        ends.append(
            {
                "seed": np.array(seeds),
                "spectrum": np.full(len(seeds), name),
                "n": np.full(len(seeds), n),
                "learned_c": learned,
                "c_star": np.full(len(seeds), c_star),
                "rel_dev": relative_deviation(M, c_star),
                "miss_c": np.abs(learned - c_star) / c_star,
                "anisotropy": anisotropy(M),
            }
        )
        seed, step = np.broadcast_arrays(np.array(seeds), protocol.trace_every * np.arange(1, len(trace) + 1)[:, None])
        traces.append(
            {
                "seed": seed.ravel(),
                "spectrum": np.full(seed.size, name),
                "n": np.full(seed.size, n),
                "step": step.ravel(),
                "c": concentration(trace).ravel(),
                "anisotropy": anisotropy(trace).ravel(),
            }
        )
    return _stack(ends), _stack(traces)


def summary_table(ends: Table) -> Table:
    """Table `denoiser_summary`: the worst row of each seed of the table `denoiser`.

    Columns: seed, rel_dev, miss_c, anisotropy (each the largest of the seed's rows), and sharpness_ratio: the
    largest ratio of the learned c of two spectra at one n.
    """
    seeds = np.unique(ends["seed"])
    summary: Table = {"seed": seeds}
    for name in ("rel_dev", "miss_c", "anisotropy"):
        summary[name] = np.array([ends[name][ends["seed"] == seed].max() for seed in seeds])
    summary["sharpness_ratio"] = np.array([_sharpness(ends, seed) for seed in seeds])
    return summary


def _sharpness(ends: Table, seed: np.generic) -> float:
    learned, sizes = ends["learned_c"].astype(np.float64), ends["n"]
    rows = [learned[(ends["seed"] == seed) & (sizes == n)] for n in np.unique(sizes)]
    return max(float(row.max() / row.min()) for row in rows)


def _stack(tables: Sequence[Table]) -> Table:
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def _block(
    generators: Sequence[np.random.Generator], basis: Array, sigma: float, batch: int, steps: int
) -> tuple[Array, Array, Array]:
    """Rotations (steps, R, 2, 2) and batches y, f (steps, R, n, D) of every replica's next steps."""
    n, coefficients = basis.shape
    turns, lowers = [], []
    for rng in generators:
        theta = rng.uniform(0.0, 2.0 * np.pi, steps)
        turns.append(np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]]).transpose(2, 0, 1))
        lowers.append(triangular_batches(coefficients + n, batch, steps, rng))
    lower = np.stack(lowers, axis=1)
    clean = basis @ lower[:, :, :coefficients]
    return np.stack(turns, axis=1), clean + sigma * lower[:, :, coefficients:], clean
