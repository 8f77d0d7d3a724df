"""A training step of the circle layer against the same step in PyTorch, on the same batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from attnkernel.circle import angles, directions, fourier_basis, spectrum_of
from attnkernel.denoiser import loss_and_gradient, score_matrix, triangular_batches
from attnkernel.optimize import Adam
from bench import peers
from bench.race import Row, race, runner

KEYS, FUNCTIONS, SIGMA, STEP_SIZE = 32, 1024, 0.5, 0.03


def measure() -> list[Row]:
    """Race one step: loss, gradient and Adam's update; PyTorch also on the whole batch that ours stands for."""
    rng = np.random.default_rng(1)
    unit, basis = directions(angles(KEYS)), fourier_basis(spectrum_of([1.0, 0.25]), angles(KEYS))
    terms = basis.shape[1]
    lower = triangular_batches(terms + KEYS, FUNCTIONS, 1, rng)
    clean = basis @ lower[:, :terms]
    noisy = clean + SIGMA * lower[:, terms:]
    start = 0.1 * rng.standard_normal((2, 1, 2, 2))
    other: dict[str, Any] = {"PyTorch": peers.absent("torch"), "PyTorch, every function apart": peers.absent("torch")}
    if not peers.absent("torch"):
        whole = rng.standard_normal((1, terms + KEYS, FUNCTIONS)) / np.sqrt(FUNCTIONS)
        whole_clean = basis @ whole[:, :terms]
        whole_noisy = whole_clean + SIGMA * whole[:, terms:]
        other = {
            "PyTorch": runner(_torch_step(start, unit, noisy, clean), 200),
            "PyTorch, every function apart": runner(_torch_step(start, unit, whole_noisy, whole_clean), 200),
        }
    size = f"{KEYS} keys, {FUNCTIONS} functions"
    return race("circle layer, training step", size, runner(_our_step(start, unit, noisy, clean), 200), other)


def _our_step(start: Any, unit: Any, noisy: Any, clean: Any) -> Callable[[], None]:
    W_Q, W_K = start.copy()
    adam = Adam({"W_Q": W_Q, "W_K": W_K}, STEP_SIZE)

    def step() -> None:
        _, by_score = loss_and_gradient(score_matrix(W_Q, W_K), unit, noisy, clean)
        by_product = by_score / np.sqrt(2.0)
        adam.update({"W_Q": by_product @ W_K, "W_K": by_product.transpose(0, 2, 1) @ W_Q})

    return step


def _torch_step(start: Any, unit: Any, noisy: Any, clean: Any) -> Callable[[], None]:
    import torch

    W_Q, W_K = (torch.tensor(value[0], requires_grad=True) for value in start)
    u, y, f = (torch.from_numpy(np.ascontiguousarray(value)) for value in (unit, noisy[0], clean[0]))
    adam = torch.optim.Adam([W_Q, W_K], lr=STEP_SIZE)

    def step() -> None:
        adam.zero_grad()
        weights = torch.softmax(u @ (W_Q @ W_K.T / 2**0.5) @ u.T, dim=1)
        ((weights @ y - f).square().sum() / len(u)).backward()
        adam.step()

    return step
