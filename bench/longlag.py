"""A training step of each long-lag model against the same step in PyTorch on one CPU thread, on the same sequences.

A step is the loss, its gradients and Adam's update at lag 60, batch 64, 16 hidden units, float64; PyTorch runs its own
fused modules and optimizer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from attnkernel.longlag.models import families
from attnkernel.longlag.task import Sizes, Symbols, draw_sequences, streams
from attnkernel.optimize import Adam
from bench import peers
from bench.race import Row, race, runner

SIZES = Sizes(noise_symbols=8, dimension=16, hidden=16, embedding_sd=0.5)
LAG, BATCH, STEP_SIZE, STEPS = 60, 64, 0.01, 20


def measure() -> list[Row]:
    """Race one step of each model."""
    symbols = draw_sequences(streams([np.random.SeedSequence(2)], 0), LAG, BATCH, SIZES.noise_symbols)
    why = peers.absent("torch")
    theirs: dict[str, Any] = {} if why else torch_steps(symbols)
    return [
        row
        for model, step in our_steps(symbols).items()
        for row in race(
            f"{model}, training step",
            f"lag {LAG}, batch {BATCH}",
            runner(step, STEPS),
            {"PyTorch": why or runner(theirs[model], STEPS)},
        )
    ]


def our_steps(symbols: Symbols) -> dict[str, Callable[[], object]]:
    """One step of each model, a single replica."""
    seeds = [np.random.SeedSequence(1)]

    def step_of(model: Any, weights: Any) -> Callable[[], object]:
        adam = Adam(weights, STEP_SIZE)
        return lambda: adam.update(model.loss_and_gradients(weights, symbols)[1])

    steps = {}
    for family in families({"lstm": 1.0}, 1):
        steps[family.names[0]] = step_of(family.model, family.initialize(SIZES, seeds))
    return steps


def torch_steps(symbols: Symbols) -> dict[str, Callable[[], object]]:
    """The same steps as PyTorch users write them."""
    import torch
    from torch import nn

    torch.set_num_threads(1)
    read, bits = torch.from_numpy(symbols[:, 0]), torch.from_numpy(symbols[0, 0])
    wide = {"dtype": torch.float64}

    def step_of(body: nn.Module, answer: Callable[[Any], Any]) -> Callable[[], object]:
        embedding = nn.Embedding(SIZES.symbols, SIZES.dimension, **wide)
        readout = nn.Linear(SIZES.hidden, 2, bias=False, **wide)
        parameters = [weight for part in (embedding, body, readout) for weight in part.parameters()]
        adam = torch.optim.Adam(parameters, lr=STEP_SIZE)

        def step() -> None:
            adam.zero_grad()
            nn.functional.cross_entropy(readout(answer(body(embedding(read)))), bits).backward()
            adam.step()

        return step

    def attend(projected: Any) -> Any:
        query, key, value = (part.transpose(0, 1) for part in projected.chunk(3, dim=-1))
        return nn.functional.scaled_dot_product_attention(query[:, -1:], key, value)[:, 0]

    def last(output: Any) -> Any:
        return output[0][-1]

    d, h = SIZES.dimension, SIZES.hidden
    return {
        "attention": step_of(nn.Linear(d, 3 * h, bias=False, **wide), attend),
        "elman": step_of(nn.RNN(d, h, bias=False, **wide), last),
        "lstm": step_of(nn.LSTM(d, h, **wide), last),
    }
