"""The table of tokens as the models see it: integers over a closed vocabulary.

Like `readers`, this module reads a file; what it returns is arrays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from attnkernel import table
from attnkernel.corpus.splits import SPLITS
from attnkernel.corpus.tokens import RESERVED
from attnkernel.errors import InputError

Integers = NDArray[np.int64]

UNKNOWN_ID: Final = 0
START_ID: Final = 1
END_ID: Final = 2
# The column of a table of tokens that stands there only where errors are clustered by something else than documents.
GROUP: Final = "group"


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
    cluster, clusters
        Codes of what standard errors are clustered by: the document, or the group that the table of tokens names for
        it, (tokens,); and names.
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
    cluster: Integers
    clusters: list[str]

    def of(self, split: str) -> Text:
        """The documents of one split."""
        here = self.split == SPLITS.index(split)
        return replace(
            self,
            **{
                name: getattr(self, name)[here]
                for name in ("token", "surface", "document", "sentence", "position", "split", "cluster")
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

    def cluster_names(self) -> NDArray[np.object_]:
        """Name of each token's cluster, (tokens,)."""
        return np.array(self.clusters, dtype=object)[self.cluster]

    def document_clusters(self) -> Integers:
        """Cluster of each document of `by_document`, (documents,)."""
        return self.cluster[np.append(True, np.diff(self.document) != 0)] if len(self.token) else self.cluster

    def document_names(self) -> NDArray[np.object_]:
        """Name of each token's document, (tokens,)."""
        return np.array(self.documents, dtype=object)[self.document]


def read_text(path: str | Path, min_count: int, words: str | Path | None = None) -> Text:
    """Read a table of tokens over the vocabulary of the corpus's training split.

    Parameters
    ----------
    path
        A `tokens.parquet`, or a shard of one.
    min_count
        A word is known if training holds it this often.
    words
        For a shard: the table of `training_words` over all shards.

    Raises
    ------
    InputError
        The table or a column of it is missing or has another type, a split has an unknown name, or the tokens of a
        document do not follow each other.
    """
    columns = table.read_complete(path, ["sentence", "position"])
    split_code, split_names = table.read_codes(path, "split")
    surface, surfaces = table.read_codes(path, "token")
    document, documents = table.read_codes(path, "document")
    _check(path, split_names, document, columns["position"])
    split = np.array([SPLITS.index(name) for name in split_names], dtype=np.int64)[split_code]
    if words is None:
        vocabulary = closed_vocabulary(surfaces, _in_training(split, surface, len(surfaces)), min_count)
    else:
        training = table.read(words)
        vocabulary = closed_vocabulary(training["token"].tolist(), training["count"], min_count)
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
        *(table.read_codes(path, GROUP) if GROUP in table.schema(path) else (document, documents)),
    )


def closed_vocabulary(words: Iterable[str], counts: Integers, min_count: int) -> list[str]:
    """`<unk>`, `<s>`, `</s>`, then the words that training holds `min_count` times, sorted."""
    known = zip(words, counts.tolist(), strict=True)
    return [*RESERVED, *sorted(word for word, count in known if count >= min_count and word not in RESERVED)]


def training_words(paths: Iterable[str | Path]) -> table.Table:
    """How often the training split holds each token, over the shards of a corpus: token, count; sorted by token."""
    total: Counter[str] = Counter()
    for path in paths:
        split_code, split_names = table.read_codes(path, "split")
        surface, surfaces = table.read_codes(path, "token")
        split = np.array([SPLITS.index(name) for name in split_names], dtype=np.int64)[split_code]
        total.update(dict(zip(surfaces, _in_training(split, surface, len(surfaces)).tolist(), strict=True)))
    found = sorted(word for word, count in total.items() if count)
    return {"token": np.array(found, dtype=object), "count": np.array([total[word] for word in found], dtype=np.int64)}


def class_counts(words: table.Columns, vocabulary: list[str]) -> Integers:
    """Tokens of the training split by id, (types,), from the table of `training_words`."""
    number = {word: index for index, word in enumerate(vocabulary)}
    ids = np.array([number.get(word, UNKNOWN_ID) for word in words["token"]], dtype=np.int64)
    counts = np.zeros(len(vocabulary), dtype=np.int64)
    np.add.at(counts, ids, words["count"])
    return counts


def _in_training(split: Integers, surface: Integers, surfaces: int) -> Integers:
    return np.bincount(surface[split == SPLITS.index("train")], minlength=surfaces).astype(np.int64)


def _check(path: str | Path, splits: list[str], document: Integers, position: Integers) -> None:
    """Refuse a table of tokens that another tool has put into another order."""
    unknown = sorted(set(splits).difference(SPLITS))
    if unknown:
        raise InputError(f"{path}: column 'split' holds {unknown[0]!r}; allowed: {', '.join(SPLITS)}")
    starts = np.flatnonzero(np.diff(document, prepend=-1))
    expected = np.arange(len(document)) - np.repeat(starts, np.diff(starts, append=len(document)))
    if len(np.unique(document[starts])) < len(starts) or not np.array_equal(position, expected):
        raise InputError(f"{path}: the rows are not in reading order; sort them by document and position")
