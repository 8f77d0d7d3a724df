"""The corpus card: what a corpus is, in numbers, split by split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from attnkernel.corpus.splits import SPLITS
from attnkernel.corpus.tokens import SENTENCE_END
from attnkernel.table import Columns, Table


def corpus_card(columns: Columns, min_count: int) -> Table:
    """The card of a table of tokens in one; see `Card`."""
    card = Card()
    card.add(columns)
    return card.table(min_count)


class Card:
    """Counts of a corpus that comes in pieces of whole documents."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}
        self._counts = {split: np.zeros(0, dtype=np.int64) for split in SPLITS}
        self._documents = dict.fromkeys(SPLITS, 0)
        self._repeated = dict.fromkeys(SPLITS, 0)

    def through(self, pieces: Iterable[Columns]) -> Iterator[Columns]:
        """Count pieces of a table on their way to somewhere else."""
        for piece in pieces:
            self.add(piece)
            yield piece

    def add(self, columns: Columns) -> None:
        """Count one piece.

        Parameters
        ----------
        columns
            Columns of a table of tokens: split, document, sentence, position, token.
        """
        number = self._number
        words = columns["token"].tolist()
        token = np.fromiter((number.setdefault(word, len(number)) for word in words), np.int64, len(words))
        first = columns["position"] == 0
        repeated = _seen_before(np.cumsum(first), token)
        for split, counts in self._counts.items():
            here = columns["split"] == split
            found = np.bincount(token[here], minlength=len(number))
            found[: len(counts)] += counts
            self._counts[split] = found
            self._documents[split] += int(first[here].sum())
            self._repeated[split] += int(repeated[here].sum())

    def table(self, min_count: int) -> Table:
        """One row a split: documents, sentences, tokens, types, unknown rate, repeat share.

        Parameters
        ----------
        min_count
            A word is known if training holds it this often.

        Returns
        -------
        Columns split; documents; sentences; tokens (sentence ends included); words (without them); types; unknown_rate
        (share of the words that are not known); repeat_share (share of the tokens that occurred before in their
        document); characters a token (as written, one separator a token included).
        """
        is_word = np.array([word != SENTENCE_END for word in self._number], dtype=np.bool_)
        length = np.array([0 if word == SENTENCE_END else len(word) for word in self._number], dtype=np.int64) + 1
        known = self._counts[SPLITS[0]] >= min_count
        rows = []
        for split in SPLITS:
            counts = self._counts[split]
            tokens, words = int(counts.sum()), int(counts[is_word].sum())
            rows.append(
                {
                    "documents": self._documents[split],
                    "sentences": tokens - words,
                    "tokens": tokens,
                    "words": words,
                    "types": int(np.count_nonzero(counts[is_word])),
                    "unknown_rate": _share(int(counts[is_word & ~known].sum()), words),
                    "repeat_share": _share(self._repeated[split], tokens),
                    "characters_per_token": _share(int(counts @ length), tokens),
                }
            )
        return {
            "split": np.array(SPLITS, dtype=object),
            **{name: np.array([row[name] for row in rows]) for name in rows[0]},
        }


def _seen_before(document: NDArray[np.int64], token: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each token occurred before in its document; tokens are in reading order."""
    pair = document * (int(token.max(initial=0)) + 1) + token
    _, first = np.unique(pair, return_index=True)
    seen = np.ones(len(pair), dtype=np.bool_)
    seen[first] = False
    return seen


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
