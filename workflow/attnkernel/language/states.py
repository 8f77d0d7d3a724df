"""Kernels over the states of a recurrent network: what followed where the network was in a similar state.

The estimator of Nadaraya and Watson once more, with keys that are made of all the words before a place, not of the last
few: `p(w) ~ sum_i exp(-|h - h_i|^2 / bandwidth) [x_i = w]`, over the places of the training text (Khandelwal and others
2020, eq. 2) and over those of the document so far (Grave, Joulin and Usunier 2017).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# The kernel over the training text ends where it is e to the minus this of its value at the nearest place.
_REACH: Final = 6.0
# Places that are compared at once: their distances stay in the cache.
_BLOCK: Final = 8192
# Of states that are all the same, so that their distances can be divided by it.
_LEAST_SPREAD: Final = 1e-9


@dataclass(frozen=True)
class Store:
    """States of a training text on their principal axes, and what followed each.

    Attributes
    ----------
    axes
        Orthonormal columns, (width, dimensions).
    keys
        `-2 k` and `|k|^2` of each projected state k, (places, dimensions + 1): their product with a query `(h, 1)` is
        the squared distance less `|h|^2`.
    following
        Id of the token that came next, (places,).
    types
        Number of ids.
    bandwidth, own
        Of the kernel over the training text and over the document, squared distances.
    """

    axes: Array
    keys: Array
    following: Integers
    types: int
    bandwidth: float
    own: float

    def rows(self, states: Array) -> list[Floats]:
        """Distribution of the next token after each state, (states, width) to as many (types,)."""
        query = np.append(states @ self.axes, np.ones((len(states), 1), dtype=states.dtype), axis=1)
        nearest = np.full(len(states), np.inf, dtype=states.dtype)
        found: list[tuple[Integers, Integers, Array]] = []
        for start in range(0, len(self.keys), _BLOCK):
            distance = query @ self.keys[start : start + _BLOCK].T
            np.minimum(nearest, distance.min(axis=1), out=nearest)
            near = np.flatnonzero(distance <= (nearest + _REACH * self.bandwidth)[:, None])
            state, place = np.divmod(near, distance.shape[1])
            found.append((state, place + start, distance.ravel()[near]))
        state, place, distance = (np.concatenate(column) for column in zip(*found, strict=True))
        beyond = (distance - nearest[state]).astype(np.float64) / self.bandwidth
        mass = np.where(beyond < _REACH, np.exp(-beyond), 0.0)
        rows = np.zeros((len(states), self.types))
        np.add.at(rows, (state, self.following[place]), mass)
        rows /= rows.sum(axis=1, keepdims=True)
        return list(rows)


class Own:
    """The states of a document so far, and the tokens that followed them.

    Parameters
    ----------
    store
        Its axes and bandwidth serve here too.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._keys = np.zeros((64, store.keys.shape[1]), dtype=store.keys.dtype)
        self._token = np.zeros(64, dtype=np.int64)
        self._size = 0

    def row(self, state: Array, size: int) -> Floats:
        """Distribution of the next token after a state, (width,) to (size,): empty at the document's start."""
        if not self._size:
            return np.zeros(0)
        distance = self._keys[: self._size] @ np.append(state @ self._store.axes, np.float32(1.0))
        mass = np.exp((distance.min() - distance).astype(np.float64) / self._store.own)
        return np.asarray(np.bincount(self._token[: self._size], weights=mass, minlength=size) / mass.sum())

    def add(self, state: Array, token: int) -> None:
        """Remember that a token followed a state."""
        if self._size == len(self._token):
            self._keys = np.concatenate([self._keys, np.zeros_like(self._keys)])
            self._token = np.concatenate([self._token, np.zeros_like(self._token)])
        self._keys[self._size] = _keys((state @ self._store.axes)[None])[0]
        self._token[self._size] = token
        self._size += 1


def store(states: Array, following: Integers, types: int, settings: Mapping[str, Any]) -> Store:
    """Keep the states of a training text.

    Parameters
    ----------
    states
        After each token but the last, (places, width).
    following
        Id of the token that came next, (places,).
    types
        Number of ids.
    settings
        `dimensions`, how many principal axes; `bandwidth` and `own`, of the two kernels, as shares of the mean squared
        distance between two states.
    """
    covariance = _covariance(states)
    _, vectors = np.linalg.eigh(covariance)
    axes = vectors[:, ::-1][:, : settings["dimensions"]].astype(states.dtype)
    spread = max(2.0 * float(np.trace(covariance)), _LEAST_SPREAD)
    return Store(axes, _keys(states @ axes), following, types, settings["bandwidth"] * spread, settings["own"] * spread)


def _covariance(states: Array) -> Floats:
    """As `np.cov`, a block at a time: the states of a long text are large, and a copy in double precision larger."""
    mean = states.mean(axis=0, dtype=np.float64)
    blocks = (states[start : start + _BLOCK] - mean for start in range(0, len(states), _BLOCK))
    total = sum((block.T @ block for block in blocks), np.zeros((len(mean), len(mean))))
    return np.asarray(total / max(1, len(states) - 1))


def _keys(projected: Array) -> Array:
    return np.concatenate([-2.0 * projected, (projected**2).sum(axis=1, keepdims=True)], axis=1)
