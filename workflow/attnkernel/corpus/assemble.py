"""One long table of tokens from documents: the form in which every corpus meets the models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnkernel.corpus.readers import Document, tokenise_document
from attnkernel.corpus.splits import SPLITS, split_of
from attnkernel.corpus.tokens import SENTENCE_END
from attnkernel.errors import InputError
from attnkernel.table import Table


def token_table(
    documents: Sequence[Document], settings: Mapping[str, Any], splits: Mapping[str, Any]
) -> tuple[Table, Counter[str]]:
    """The table of tokens of a corpus, and what was normalised or left out on the way.

    Parameters
    ----------
    documents
        As read; they keep their order.
    settings
        The corpus of the config (see `readers.tokenise_document`).
    splits
        Shares of train, dev and heldout, and the salt.

    Returns
    -------
    columns
        split, document, sentence (0-based in the document), position (0-based in the document), token; `</s>` closes
        each sentence.
    changed
        Counts by kind; documents without a word are counted and left out.

    Raises
    ------
    InputError
        A split got no document.
    """
    changed: Counter[str] = Counter()
    split: list[str] = []
    names: list[str] = []
    lengths: list[int] = []
    sentence_lengths: list[int] = []
    sentence_numbers: list[int] = []
    token: list[str] = []
    for document in documents:
        sentences, normalised = tokenise_document(document, settings)
        changed.update(normalised)
        if not sentences:
            changed["document without a word left out"] += 1
            continue
        before = len(token)
        for number, sentence in enumerate(sentences):
            token.extend(sentence)
            token.append(SENTENCE_END)
            sentence_lengths.append(len(sentence) + 1)
            sentence_numbers.append(number)
        split.append(split_of(document.group, splits, splits["salt"]))
        names.append(document.id)
        lengths.append(len(token) - before)
    _require_every_split(split, settings)
    starts = np.cumsum([0, *lengths])[:-1]
    columns = {
        "split": np.repeat(np.array(split, dtype=object), lengths),
        "document": np.repeat(np.array(names, dtype=object), lengths),
        "sentence": np.repeat(np.array(sentence_numbers, dtype=np.int64), sentence_lengths),
        "position": np.arange(len(token), dtype=np.int64) - np.repeat(starts, lengths),
        "token": np.array(token, dtype=object),
    }
    return columns, changed


def _require_every_split(found: Sequence[str], settings: Mapping[str, Any]) -> None:
    absent = [name for name in SPLITS if name not in found]
    if absent:
        raise InputError(
            f"{settings['path']}: none of its {len(found)} documents fell into {' or '.join(absent)}; add documents, "
            "or raise the share of that split or change the salt under `splits` in the config"
        )
