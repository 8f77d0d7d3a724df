"""The probability of every token under every model, as it passes between rules.

Like `corpus.text`, this module reads a file; what it returns is arrays.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnkernel import table
from attnkernel.corpus.text import Text
from attnkernel.language.evaluate import Origin

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

_PREFIX: Final = "cache_"


class Scored(NamedTuple):
    """Every token of a split under every model.

    Attributes
    ----------
    token
        Class of each token in the closed vocabulary: equal codes are mentions of one word, (tokens,).
    known
        Whether training holds the token, (tokens,).
    origin
        Document of each token, and what errors are clustered by.
    sentence
        Codes, (tokens,).
    betas
        Inverse bandwidths of the caches, (betas,).
    kneser_ney
        Probabilities, (tokens,).
    caches
        Probabilities at each beta, (betas, tokens), NaN where nothing precedes.
    learned
        Probabilities of the learned kernel, (tokens,), NaN where nothing precedes; none before it is trained.
    """

    token: Integers
    known: Mask
    origin: Origin
    sentence: Integers
    betas: Floats
    kneser_ney: Floats
    caches: Floats
    learned: Floats | None = None


def cache_column(beta: float) -> str:
    """Name of the column that holds the cache's probabilities at `beta`, such as cache_0.5 or cache_inf."""
    return f"{_PREFIX}{beta:g}"


def read_scores(path: str | Path, text: Text) -> Scored:
    """Read a table of scores beside the text that it scores.

    Parameters
    ----------
    path
        A `caches-*.parquet` or `scores-*.parquet`.
    text
        The same split of the corpus.

    Raises
    ------
    InputError
        The table or a column of it is missing.
    """
    columns = table.read(path)
    names = [name for name in columns if name.startswith(_PREFIX)]
    return Scored(
        text.token,
        columns["known"],
        Origin(text.document, text.cluster),
        text.sentence,
        np.array([float(name.removeprefix(_PREFIX)) for name in names]),
        columns["kn"],
        np.array([columns[name] for name in names]),
        columns.get("learned"),
    )
