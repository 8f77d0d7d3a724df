"""One long table of tokens from documents: the form in which every corpus meets the models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from attnkernel.corpus.readers import Document, tokenise_document
from attnkernel.corpus.splits import SPLITS, split_of
from attnkernel.corpus.text import GROUP
from attnkernel.corpus.tokens import SENTENCE_END
from attnkernel.errors import InputError
from attnkernel.progress import track
from attnkernel.table import Table, concatenate

_PIECE: Final = 2**20  # tokens
# What a corpus of the config says if several documents may be of one group.
_GROUPING: Final = ("group", "group_pattern", "window")


def token_table(
    documents: Iterable[Document], settings: Mapping[str, Any], splits: Mapping[str, Any]
) -> tuple[Table, Counter[str]]:
    """The table of tokens of a corpus in one, and what was normalised or left out on the way; see `Assembly`."""
    assembly = Assembly(documents, settings, splits)
    columns = concatenate(list(assembly.pieces()))
    return columns, +assembly.changed


class Assembly:
    """The table of tokens of a corpus, piece by piece.

    Parameters
    ----------
    documents
        As read; they keep their order.
    settings
        The corpus of the config (see `readers.tokenise_document`).
    splits
        Shares of train, dev and heldout, and the salt.

    Attributes
    ----------
    changed
        What was normalised or left out so far, counts by kind; documents without a word are counted and left out.
    """

    def __init__(self, documents: Iterable[Document], settings: Mapping[str, Any], splits: Mapping[str, Any]) -> None:
        self.changed: Counter[str] = Counter()
        self._documents, self._settings, self._splits = documents, settings, splits
        self._found: Counter[str] = Counter()  # documents of each split
        self._groups: set[str] = set()
        self._once: dict[str, str] = {}  # each word is kept in memory a single time

    def pieces(self) -> Iterator[Table]:
        """Tables of whole documents, about a million tokens each.

        Yields
        ------
        Columns split, document, sentence (0-based in the document), position (0-based in the document), token; `</s>`
        closes each sentence; and group, if errors are clustered by group and the settings let one have several
        documents.

        Raises
        ------
        InputError
            No document has a word, or a split got no document.
        """
        clustered = self._settings["cluster"] == GROUP and any(self._settings[name] for name in _GROUPING)
        piece = _Piece(clustered)
        for document in track(self._documents, "reading documents"):
            self._add(document, piece)
            if len(piece.token) >= _PIECE:
                yield piece.columns()
                piece = _Piece(clustered)
        _require_every_split(self._found, len(self._groups), self._settings)
        if piece.token:
            yield piece.columns()

    def _add(self, document: Document, piece: _Piece) -> None:
        sentences, normalised = tokenise_document(document, self._settings)
        self.changed.update(normalised)
        if not sentences:
            self.changed["document without a word left out"] += 1
            return
        self._groups.add(document.group)
        split = split_of(document.group, self._splits, self._splits["salt"])
        cut = list(windows(sentences, self._settings["window"]))
        self._found[split] += len(cut)
        self.changed["document cut"] += len(cut) > 1
        for count, part in enumerate(cut, start=1):
            once = [[self._once.setdefault(word, word) for word in sentence] for sentence in part]
            piece.add(split, document.id if len(cut) == 1 else f"{document.id}#{count}", document.group, once)


class _Piece:
    """Rows of the table of tokens, as lists."""

    def __init__(self, clustered: bool) -> None:
        self.token: list[str] = []
        self._group: list[str] | None = [] if clustered else None
        self._split: list[str] = []
        self._name: list[str] = []
        self._lengths: list[int] = []
        self._sentence_lengths: list[int] = []
        self._sentence_numbers: list[int] = []

    def add(self, split: str, name: str, group: str, sentences: list[list[str]]) -> None:
        """Add a document."""
        before = len(self.token)
        for number, sentence in enumerate(sentences):
            self.token.extend(sentence)
            self.token.append(SENTENCE_END)
            self._sentence_lengths.append(len(sentence) + 1)
            self._sentence_numbers.append(number)
        self._split.append(split)
        self._name.append(name)
        if self._group is not None:
            self._group.append(group)
        self._lengths.append(len(self.token) - before)

    def columns(self) -> Table:
        """The rows as a table."""
        starts = np.cumsum([0, *self._lengths])[:-1]
        group = {} if self._group is None else {GROUP: np.repeat(np.array(self._group, dtype=object), self._lengths)}
        return {
            "split": np.repeat(np.array(self._split, dtype=object), self._lengths),
            "document": np.repeat(np.array(self._name, dtype=object), self._lengths),
            "sentence": np.repeat(np.array(self._sentence_numbers, dtype=np.int64), self._sentence_lengths),
            "position": np.arange(len(self.token), dtype=np.int64) - np.repeat(starts, self._lengths),
            "token": np.array(self.token, dtype=object),
            **group,
        }


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


def _require_every_split(found: Counter[str], groups: int, settings: Mapping[str, Any]) -> None:
    if not found:
        raise InputError(f"{settings['path']}: none of its documents has a word; check that they are text")
    absent = [name for name in SPLITS if name not in found]
    if absent:
        raise InputError(
            f"{settings['path']}: none of its {found.total()} documents in {groups} groups fell into "
            f"{' or '.join(absent)}; add documents of other groups, or raise the share of that split or change the "
            "salt under `splits` in the config"
        )
