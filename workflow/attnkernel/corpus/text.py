"""The table of tokens as the models see it: integers over a closed vocabulary.

Like `readers`, this module reads a file; what it returns is arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from attnkernel import table
from attnkernel.corpus.splits import SPLITS
from attnkernel.corpus.tokens import RESERVED

Integers = NDArray[np.int64]

UNKNOWN_ID: Final = 0
START_ID: Final = 1
END_ID: Final = 2


@dataclass(frozen=True)
class Text:
    """Tokens of a corpus or of one split of it, in reading order.

    Attributes
    ----------
    vocabulary
        Token of each id: `<unk>`, `<s>`, `</s>`, then the known words, sorted.
    token
        Ids, (tokens,); a word that training does not hold often enough is 0.
    surface, surfaces
        Tokens as written: codes, (tokens,), and the distinct tokens they stand for.
    document, documents
        Codes, (tokens,), and names.
    sentence, position
        0-based in the document, (tokens,).
    split
        Codes into `splits.SPLITS`, (tokens,).
    """

    vocabulary: list[str]
    token: Integers
    surface: Integers
    surfaces: list[str]
    document: Integers
    documents: list[str]
    sentence: Integers
    position: Integers
    split: Integers

    def of(self, split: str) -> Text:
        """The documents of one split."""
        here = self.split == SPLITS.index(split)
        return replace(
            self,
            **{
                name: getattr(self, name)[here]
                for name in ("token", "surface", "document", "sentence", "position", "split")
            },
        )

    def by_document(self) -> list[Integers]:
        """Token ids of each document, in reading order."""
        return np.split(self.token, np.flatnonzero(np.diff(self.document)) + 1) if len(self.token) else []

    def sentences(self) -> Iterator[list[str]]:
        """Words of each sentence in the closed vocabulary, its end included."""
        words = [self.vocabulary[token] for token in self.token.tolist()]
        start = 0
        for end in (np.flatnonzero(self.token == END_ID) + 1).tolist():
            yield words[start:end]
            start = end

    def written(self) -> NDArray[np.object_]:
        """Each token as written, (tokens,)."""
        return np.array(self.surfaces, dtype=object)[self.surface]

    def document_names(self) -> NDArray[np.object_]:
        """Name of each token's document, (tokens,)."""
        return np.array(self.documents, dtype=object)[self.document]


def read_text(path: str | Path, min_count: int) -> Text:
    """Read a table of tokens over the vocabulary of its training split.

    Parameters
    ----------
    path
        A `tokens.parquet`.
    min_count
        A word is known if training holds it this often.

    Raises
    ------
    InputError
        The table or a column of it is missing.
    """
    columns = table.read(path, ["sentence", "position"])
    split_code, split_names = table.read_codes(path, "split")
    surface, surfaces = table.read_codes(path, "token")
    document, documents = table.read_codes(path, "document")
    split = np.array([SPLITS.index(name) for name in split_names], dtype=np.int64)[split_code]
    counts = np.bincount(surface[split == 0], minlength=len(surfaces))
    known = sorted(
        word
        for word, count in zip(surfaces, counts.tolist(), strict=True)
        if count >= min_count and word not in RESERVED
    )
    vocabulary = [*RESERVED, *known]
    number = {word: index for index, word in enumerate(vocabulary)}
    ids = np.array([number.get(word, UNKNOWN_ID) for word in surfaces], dtype=np.int64)
    return Text(
        vocabulary,
        ids[surface],
        surface,
        surfaces,
        document,
        documents,
        columns["sentence"],
        columns["position"],
        split,
    )
