"""The kernel cache against the plain sum over positions, and its growth with the document.

Run with the project's environment: `python bench/cache.py`. Peers that are not installed are left out.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from attnkernel.language.cache import cache_probabilities

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BETA = 2.0
DIMENSIONS = 50
# Zipf-Mandelbrot over this many types gives 16,000 tokens about the 3,000 distinct ones of a long speech.
NATURAL_TYPES = 5_000
FIXED_TYPES = 500


def zipf_document(tokens: int, types: int, seed: int) -> tuple[Integers, Floats]:
    """Tokens drawn by Zipf-Mandelbrot's law over `types`, and random unit vectors of these."""
    generator = np.random.default_rng(seed)
    weight = 1.0 / (np.arange(types) + 2.7) ** 1.1
    vectors = generator.normal(size=(types, DIMENSIONS))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return generator.choice(types, size=tokens, p=weight / weight.sum()), vectors


def whole_matrix(document: Integers, vectors: Floats) -> Floats:
    """All positions by all positions at once."""
    context, target = vectors[document[:-1]], document[1:]
    kernel = np.tril(np.exp(BETA * (context @ context.T)), -1)
    matching = (kernel * (target == target[:, None])).sum(axis=1)
    return matching[1:] / kernel.sum(axis=1)[1:]


def position_by_position(document: Integers, vectors: Floats) -> Floats:
    """Definition 3 as it is written: for each position a sum over the earlier ones."""
    probabilities = np.empty(len(document) - 2)
    for t in range(2, len(document)):
        kernel = np.exp(BETA * (vectors[document[: t - 1]] @ vectors[document[t - 1]]))
        probabilities[t - 2] = kernel[document[1:t] == document[t]].sum() / kernel.sum()
    return probabilities


def torch_attention(document: Integers, vectors: Floats) -> Floats:
    """Masked softmax attention as PyTorch users write it, on one thread."""
    import torch

    torch.set_num_threads(1)
    context, target = torch.from_numpy(vectors[document[:-1]]), torch.from_numpy(document[1:])
    scores = BETA * (context @ context.T)
    ahead = torch.ones_like(scores, dtype=torch.bool).triu()
    weights = torch.softmax(scores.masked_fill_(ahead, -torch.inf)[1:], dim=1)
    return ((weights * (target == target[1:, None])).sum(dim=1)).numpy()


def by_types(document: Integers, vectors: Floats) -> Floats:
    """Compute the same through context types with counts."""
    return cache_probabilities([document], vectors, vectors, [BETA])[0][0, 2:]


def measure(
    tokens: Sequence[int] = (1_000, 4_000, 16_000, 100_000), repeats: int = 5, plain_limit: int = 16_000
) -> list[dict[str, object]]:
    """Seconds of the cache and of its peers on one document, and the ratios.

    Parameters
    ----------
    tokens
        Lengths of the documents.
    repeats
        Runs of the cache; the slow peers run once.
    plain_limit
        Longest document for the peers, whose time and memory grow with its square (8 GB at 16,000 tokens).

    Returns
    -------
    One row a document and peer: benchmark, tokens, types, peer, ours (median seconds), spread (largest minus smallest),
    theirs (seconds), ratio (theirs over ours), difference (largest, of the probabilities). Rows without a peer give
    `microseconds_per_token` at a fixed number of types instead.
    """
    peers = {"whole matrix": whole_matrix, "position by position": position_by_position}
    if importlib.util.find_spec("torch"):
        peers["torch attention"] = torch_attention
    rows: list[dict[str, object]] = []
    for length in tokens:
        document, vectors = zipf_document(length, NATURAL_TYPES, seed=length)
        ours, seconds = _timed(by_types, document, vectors, repeats)
        measured = {
            "benchmark": "kernel cache, natural types",
            "tokens": length,
            "types": len(np.unique(document)),
            "ours": statistics.median(seconds),
            "spread": max(seconds) - min(seconds),
        }
        for name, peer in peers.items() if length <= plain_limit else ():
            theirs, (once,) = _timed(peer, document, vectors, 1)
            rows.append(
                measured
                | {
                    "peer": name,
                    "theirs": once,
                    "ratio": once / statistics.median(seconds),
                    "difference": float(np.abs(ours - theirs).max()),
                }
            )
        document, vectors = zipf_document(length, FIXED_TYPES, seed=length)
        _, seconds = _timed(by_types, document, vectors, repeats)
        rows.append(
            {
                "benchmark": "kernel cache, fixed types",
                "tokens": length,
                "types": len(np.unique(document)),
                "ours": statistics.median(seconds),
                "spread": max(seconds) - min(seconds),
                "microseconds_per_token": 1e6 * statistics.median(seconds) / length,
            }
        )
    return rows


def _timed(
    function: Callable[[Integers, Floats], Floats], document: Integers, vectors: Floats, repeats: int
) -> tuple[Floats, list[float]]:
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function(document, vectors)
        seconds.append(time.perf_counter() - start)
    return result, seconds


def main() -> None:
    """Print the measurements."""
    for row in measure():
        print("  ".join(f"{key} {value:.4g}" if isinstance(value, float) else f"{value}" for key, value in row.items()))


if __name__ == "__main__":
    main()
