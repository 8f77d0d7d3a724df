"""One long table of tokens from documents: the form in which every corpus meets the models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from attnkernel.corpus.readers import Document, tokenise_document
from attnkernel.corpus.splits import SPLITS, split_of
from attnkernel.corpus.text import GROUP
from attnkernel.corpus.tokens import SENTENCE_END
from attnkernel.errors import InputError
from attnkernel.progress import track
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
        each sentence; and group, if errors are clustered by group and one has several documents.
    changed
        Counts by kind; documents without a word are counted and left out.

    Raises
    ------
    InputError
        No document has a word, or a split got no document.
    """
    changed: Counter[str] = Counter()
    split: list[str] = []
    names: list[str] = []
    lengths: list[int] = []
    sentence_lengths: list[int] = []
    sentence_numbers: list[int] = []
    token: list[str] = []
    groups: set[str] = set()
    group_of: list[str] = []
    once: dict[str, str] = {}  # each word is kept in memory a single time
    for document in track(documents, "reading documents"):
        sentences, normalised = tokenise_document(document, settings)
        changed.update(normalised)
        if not sentences:
            changed["document without a word left out"] += 1
            continue
        groups.add(document.group)
        pieces = list(windows(sentences, settings["window"]))
        changed["document cut"] += len(pieces) > 1
        for count, piece in enumerate(pieces, start=1):
            before = len(token)
            for number, sentence in enumerate(piece):
                token.extend(once.setdefault(word, word) for word in sentence)
                token.append(SENTENCE_END)
                sentence_lengths.append(len(sentence) + 1)
                sentence_numbers.append(number)
            split.append(split_of(document.group, splits, splits["salt"]))
            names.append(document.id if len(pieces) == 1 else f"{document.id}#{count}")
            group_of.append(document.group)
            lengths.append(len(token) - before)
    _require_every_split(split, len(groups), settings)
    starts = np.cumsum([0, *lengths])[:-1]
    columns = {
        "split": np.repeat(np.array(split, dtype=object), lengths),
        "document": np.repeat(np.array(names, dtype=object), lengths),
        "sentence": np.repeat(np.array(sentence_numbers, dtype=np.int64), sentence_lengths),
        "position": np.arange(len(token), dtype=np.int64) - np.repeat(starts, lengths),
        "token": np.array(token, dtype=object),
    }
    if settings["cluster"] == GROUP and len(set(group_of)) < len(names):
        columns[GROUP] = np.repeat(np.array(group_of, dtype=object), lengths)
    return columns, +changed


def windows(sentences: Sequence[list[str]], longest: int | None) -> Iterator[list[list[str]]]:
    """Cut a document that has more than `longest` tokens, sentence ends included, between its sentences.

    A sentence that is longer by itself is cut as well.
    """
    if longest is None:
        yield list(sentences)
        return
    most = max(longest - 1, 1)
    piece: list[list[str]] = []
    size = 0
    for sentence in sentences:
        for start in range(0, len(sentence), most):
            part = sentence[start : start + most]
            if piece and size + len(part) + 1 > longest:
                yield piece
                piece, size = [], 0
            piece.append(part)
            size += len(part) + 1
    yield piece


def _require_every_split(found: Sequence[str], groups: int, settings: Mapping[str, Any]) -> None:
    if not found:
        raise InputError(f"{settings['path']}: none of its documents has a word; check that they are text")
    absent = [name for name in SPLITS if name not in found]
    if absent:
        raise InputError(
            f"{settings['path']}: none of its {len(found)} documents in {groups} groups fell into "
            f"{' or '.join(absent)}; add documents of other groups, or raise the share of that split or change the "
            "salt under `splits` in the config"
        )
