"""Random features of a vocabulary, and the cache through them, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from attnkernel.features import positive_features
from attnkernel.language.random_features import feature_cache
from bench import peers
from bench.cache import BETA, DIMENSIONS, zipf_document
from bench.race import Row, race, runner

TOKENS, TYPES, FEATURES = 4_000, 5_000, 256


def measure() -> list[Row]:
    """Race the features of every type, and the probabilities of one document's tokens through them."""
    document, vectors = zipf_document(TOKENS, TYPES, seed=TOKENS)
    x = np.sqrt(BETA) * vectors
    draws = np.random.default_rng(1).standard_normal((FEATURES, DIMENSIONS))
    features = positive_features(x, draws)
    maps: dict[str, Any] = {"PyTorch": peers.absent("torch")}
    caches: dict[str, Any] = {"PyTorch, positions by positions": peers.absent("torch")}
    if not peers.absent("torch"):
        maps = {"PyTorch": runner(_torch_features(x, draws))}
        caches = {"PyTorch, positions by positions": runner(_torch_cache(document, features))}
    return [
        *race("random features", f"{TYPES} types, m = {FEATURES}", runner(lambda: positive_features(x, draws)), maps),
        *race(
            "cache through random features",
            f"{TOKENS} tokens, m = {FEATURES}",
            runner(lambda: feature_cache([document], features)),
            caches,
        ),
    ]


def _torch_features(x: Any, draws: Any) -> Callable[[], object]:
    import torch

    torch.set_num_threads(1)
    points, rows = torch.from_numpy(x), torch.from_numpy(draws)
    return lambda: torch.exp(points @ rows.T - 0.5 * points.square().sum(dim=1, keepdim=True)) / len(rows) ** 0.5


def _torch_cache(document: Any, features: Any) -> Callable[[], object]:
    import torch

    target, known = torch.from_numpy(document[1:]), torch.from_numpy(features)
    context = torch.from_numpy(document[:-1])

    def cache() -> object:
        phi = known[context]
        kernel = (phi @ phi.T).tril_(-1)
        return ((kernel * (target == target[:, None])).sum(dim=1) / kernel.sum(dim=1))[1:]

    return cache
