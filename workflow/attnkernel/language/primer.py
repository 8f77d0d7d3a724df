"""The text that primes the models of the filings: its documents divided, their tokens numbered, and a network of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnkernel.corpus.readers import Document
from attnkernel.errors import InputError
from attnkernel.language import recurrent
from attnkernel.language.kneser_ney import RESERVED
from attnkernel.language.open_vocabulary import words

Integers = NDArray[np.int64]

# Group and tokens of a document.
Group = tuple[str, Sequence[str]]


def divided(documents: Sequence[Group], every: int) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
    """Tokens of the documents that the experts are trained on, and of those that teach how to weigh them.

    Parameters
    ----------
    documents
        Group and tokens of each; those of one group are not split.
    every
        Every how many groups is held out.

    Raises
    ------
    InputError
        There is one group.
    """
    groups = list(dict.fromkeys(group for group, _ in documents))
    held = set(groups[every - 1 :: every] or groups[-1:])
    if len(held) == len(groups):
        raise InputError("filing_codes.pool: the primer has one group, the pool needs two or more; or set it to null")
    return [tokens for group, tokens in documents if group not in held], [
        tokens for group, tokens in documents if group in held
    ]


def numbered(documents: Sequence[Sequence[str]]) -> tuple[list[str], Integers]:
    """Vocabulary of documents, the reserved words first, and the ids of all their tokens, (tokens,)."""
    tokens = [token for document in documents for token in document]
    vocabulary = [*RESERVED, *sorted(set(tokens).difference(RESERVED))]
    number = {word: index for index, word in enumerate(vocabulary)}
    return vocabulary, np.array([number[token] for token in tokens], dtype=np.int64)


def network(
    texts: Sequence[Document], every: int, settings: Mapping[str, Any], seed: np.random.SeedSequence
) -> recurrent.Saved:
    """Train a recurrent network on texts, read as words.

    Parameters
    ----------
    texts
        Documents; those of one group are not split.
    every
        Every how many groups is held out, as in `divided`.
    settings, seed
        As `recurrent.train` has them.

    Raises
    ------
    InputError
        As `divided`.
    """
    most, _ = divided([(text.group, words(text.text)) for text in texts], every)
    vocabulary, text = numbered(most)
    return recurrent.saved(recurrent.train(text, len(vocabulary), settings, seed), vocabulary)
