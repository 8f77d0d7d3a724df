"""Training, development and held-out documents, by hash."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

SPLITS: Final = ("train", "dev", "heldout")


def split_of(group: str, shares: Mapping[str, Any], salt: str) -> str:
    """The split of a group of documents.

    The group's digest places it on the unit interval, which the shares cut in the order of `SPLITS`: a document
    never moves when others are added, and documents of one group never part.

    Parameters
    ----------
    group
        What must not straddle a split: a company, an author; the document's id where nothing else is known.
    shares
        Probability of each split; they sum to one.
    salt
        Distinguishes otherwise equal draws; changing it draws anew.
    """
    digest = hashlib.sha256(f"{salt}\x00{group}".encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    edge = 0.0
    for name in SPLITS[:-1]:
        edge += shares[name]
        if place < edge:
            return name
    return SPLITS[-1]
