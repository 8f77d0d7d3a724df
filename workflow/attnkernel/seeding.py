"""One seed in the config, one independent stream for every job."""

from __future__ import annotations

import hashlib

import numpy as np


def seed_sequence(seed: int, *names: str) -> np.random.SeedSequence:
    """The seed sequence of a named job, spawned from the run's one seed.

    The spawn key is a digest of the names, not a running number, so that a new job leaves the streams of all others
    as they were.
    """
    digest = hashlib.sha256("/".join(names).encode()).digest()
    return np.random.SeedSequence(seed, spawn_key=tuple(np.frombuffer(digest, dtype="<u4").tolist()))
