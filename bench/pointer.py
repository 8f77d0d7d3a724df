"""A training step of the learned kernel against the same step in PyTorch, on the same documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from attnkernel.language.pointer import pointer_blocks, pointer_gradient
from attnkernel.optimize import Adam
from bench import peers
from bench.cache import DIMENSIONS, zipf_document
from bench.race import Row, race, runner

DOCUMENTS, TOKENS, TYPES, BETA, STEP_SIZE = 16, 400, 5_000, 4.0, 0.01


def measure() -> list[Row]:
    """Race one step over sixteen documents: pointer loss, gradient and Adam's update."""
    documents = [zipf_document(TOKENS, TYPES, seed)[0] for seed in range(DOCUMENTS)]
    vectors = zipf_document(TOKENS, TYPES, 0)[1]
    other: dict[str, Any] = {"PyTorch": peers.absent("torch")}
    if not peers.absent("torch"):
        other = {"PyTorch": runner(torch_step(documents, vectors))}
    size = f"{DOCUMENTS} documents of {TOKENS} tokens"
    return race("pointer loss, training step", size, runner(our_step(documents, vectors)), other)


def our_step(documents: Sequence[Any], vectors: Any) -> Callable[[], float]:
    """A step that returns the mean loss before it."""
    blocks = [block for document in documents for block in pointer_blocks(document)]
    maps = {name: np.sqrt(BETA) * np.eye(DIMENSIONS) for name in ("A", "B")}
    adam = Adam(maps, STEP_SIZE)

    def step() -> float:
        gradient = pointer_gradient(blocks, vectors, **maps)
        adam.update({"A": gradient.A / gradient.positions, "B": gradient.B / gradient.positions})
        return gradient.loss / gradient.positions

    return step


def torch_step(documents: Sequence[Any], vectors: Any) -> Callable[[], float]:
    """The same as PyTorch users write it: masked log-sums over positions by positions."""
    import torch

    torch.set_num_threads(1)
    A, B = (torch.tensor(BETA**0.5 * np.eye(DIMENSIONS), requires_grad=True) for _ in range(2))
    adam = torch.optim.Adam([A, B], lr=STEP_SIZE)
    prepared = []
    for document in documents:
        context, target = torch.from_numpy(vectors[document[:-1]]), torch.from_numpy(document[1:])
        earlier = torch.ones(len(target), len(target), dtype=torch.bool).tril(-1)
        same = earlier & (target == target[:, None])
        found = same.any(dim=1)
        prepared.append((context, earlier[found], same[found], found))
    positions = sum(int(found.sum()) for *_, found in prepared)

    def step() -> float:
        adam.zero_grad()
        total = torch.zeros((), dtype=torch.float64)
        for context, earlier, same, found in prepared:
            scores = (context[found] @ A.T) @ (context @ B.T).T
            whole = scores.masked_fill(~earlier, -torch.inf).logsumexp(dim=1)
            total = total + (whole - scores.masked_fill(~same, -torch.inf).logsumexp(dim=1)).sum()
        loss = total / positions
        loss.backward()
        adam.step()
        return float(loss.detach())

    return step
