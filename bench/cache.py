"""The kernel cache against the plain sum over positions, and against the machine's memory bandwidth."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnkernel.language.cache import cache_probabilities, lay_out
from bench import peers
from bench.race import Row, Runner, race, runner

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

WHOLE = "NumPy, whole matrix"
# What the cache is held against, and what of it the cache gets round.
YARDSTICK = (
    "bytes of the scores, written once, and at each beta above 0 of the scores read, the kernel written, and for each "
    "position a row of the contexts before it read; positions that share a context share its row, so less is moved"
)
BETA = 2.0
BETAS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
DIMENSIONS = 50
TOKENS = (1_000, 4_000, 16_000, 100_000)
# Zipf-Mandelbrot over this many types gives 16,000 tokens about the 3,000 distinct ones of a long speech.
NATURAL_TYPES = 5_000
# Peers whose time grows with the square of the document run on about so many of its positions, or batches of them.
POSITIONS, BATCH, BATCHES = 1_000, 256, 16
# The whole matrix and its copies at 16,000 tokens.
MATRIX_BYTES = 10 * 2**30


def zipf_document(tokens: int, types: int, seed: int) -> tuple[Integers, Floats]:
    """Tokens drawn by Zipf-Mandelbrot's law over `types`, and random unit vectors of these."""
    generator = np.random.default_rng(seed)
    weight = 1.0 / (np.arange(types) + 2.7) ** 1.1
    vectors = generator.normal(size=(types, DIMENSIONS))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return generator.choice(types, size=tokens, p=weight / weight.sum()), vectors


def by_types(document: Integers, vectors: Floats) -> Floats:
    """Probabilities through context types with counts: ours."""
    return cache_probabilities([document], vectors, vectors, [BETA])[0][0, 2:]


def whole_matrix(document: Integers, vectors: Floats) -> Floats:
    """All positions by all positions at once."""
    context, target = vectors[document[:-1]], document[1:]
    kernel = np.tril(np.exp(BETA * (context @ context.T)), -1)
    matching = (kernel * (target == target[:, None])).sum(axis=1)
    return matching[1:] / kernel.sum(axis=1)[1:]


def position_by_position(document: Integers, vectors: Floats, positions: Integers) -> Floats:
    """Definition 3 as it is written: for each position a sum over the earlier ones."""
    probabilities = []
    for t in positions:
        kernel = np.exp(BETA * (vectors[document[: t - 1]] @ vectors[document[t - 1]]))
        probabilities.append(kernel[document[1:t] == document[t]].sum() / kernel.sum())
    return np.array(probabilities)


def torch_batches(document: Integers, vectors: Floats, starts: Integers) -> Floats:
    """Masked softmax attention in PyTorch, on one thread, a batch of positions from each start on."""
    import torch

    torch.set_num_threads(1)
    context, target = torch.from_numpy(vectors[document[:-1]]), torch.from_numpy(document[1:])
    found = []
    for start in starts.tolist():
        stop = min(start + BATCH, len(target))
        scores = BETA * (context[start:stop] @ context[:stop].T)
        ahead = torch.arange(stop) >= torch.arange(start, stop)[:, None]
        weights = torch.softmax(scores.masked_fill_(ahead, -torch.inf), dim=1)
        found.append((weights * (target[:stop] == target[start:stop, None])).sum(dim=1))
    return torch.cat(found).numpy()


def triad(elements: int = 20_000_000) -> Callable[[], float]:
    """Measure memory bandwidth, bytes a second, of `c = 3 a + b` over arrays too large for the processor's caches."""
    a, b, c = np.ones(elements), np.ones(elements), np.empty(elements)

    def update() -> None:
        np.multiply(a, 3.0, out=c)
        np.add(c, b, out=c)

    update()
    # NumPy makes two passes: two arrays move in the first, three in the second.
    return lambda: 5 * 8 * elements / runner(update).seconds()


def bytes_moved(document: Integers) -> int:
    """Bytes that the sum over context types moves if each position reads its own row; see `YARDSTICK`."""
    layout = lay_out(document)
    table = len(layout.types) ** 2
    kernels = sum(beta > 0.0 for beta in BETAS)
    return 8 * (table + kernels * (2 * table + int(layout.known.sum())))


def measure() -> list[Row]:
    """Race the cache at each length; hold it at all finite bandwidths of the article against the memory beside it."""
    rows: list[Row] = []
    for tokens in TOKENS:
        document, vectors = zipf_document(tokens, NATURAL_TYPES, seed=tokens)
        size = f"{tokens} tokens"
        # At 16,000 tokens at least 50 times a plain sum.
        goals = {WHOLE: 50.0 if tokens == 16_000 else 1.0}
        rows += race("kernel cache", size, runner(_call(by_types, document, vectors)), _peers(document, vectors), goals)
        every = runner(lambda text=document, unit=vectors: cache_probabilities([text], unit, unit, BETAS))
        bandwidth = {"a row read for each position, at the bandwidth of STREAM's triad": _bandwidth(document)}
        held = race("kernel cache, seven bandwidths", size, every, bandwidth, dict.fromkeys(bandwidth, 0.25))
        rows += [{**row, "note": YARDSTICK} for row in held]
    return rows


def _bandwidth(document: Integers) -> Runner:
    moved, bandwidth = bytes_moved(document), triad()
    return Runner(lambda: moved / bandwidth(), lambda: math.nan)


def _peers(document: Integers, vectors: Floats) -> dict[str, Any]:
    tokens = len(document)
    positions, starts = np.arange(2, tokens), np.arange(1, tokens - 1, BATCH)
    found: dict[str, Any] = {
        "NumPy, position by position": _sampled(position_by_position, document, vectors, positions, POSITIONS),
        "PyTorch, in batches": peers.absent("torch") or _sampled(torch_batches, document, vectors, starts, BATCHES),
    }
    if tokens > 16_000:
        return found
    short = tokens > 4_000 and os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES") < MATRIX_BYTES
    whole = "the matrix does not fit into memory" if short else runner(_call(whole_matrix, document, vectors))
    return {WHOLE: whole, **found}


def _call(function: Callable[..., Floats], *arguments: Any) -> Callable[[], Floats]:
    return lambda: function(*arguments)


def _sampled(
    function: Callable[..., Floats], document: Integers, vectors: Floats, every: Integers, most: int
) -> Runner:
    """A runner on about `most` evenly spaced positions; its seconds stand for all, by the earlier ones of each."""
    some = every[:: max(1, len(every) // most)]
    share = float(some.sum() / every.sum())
    part = runner(_call(function, document, vectors, some))
    return Runner(lambda: part.seconds() / share, part.mebibytes)
