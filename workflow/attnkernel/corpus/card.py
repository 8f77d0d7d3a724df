"""The corpus card: what a corpus is, in numbers, split by split."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attnkernel.corpus.splits import SPLITS
from attnkernel.corpus.tokens import SENTENCE_END
from attnkernel.table import Columns, Table


def corpus_card(columns: Columns, min_count: int) -> Table:
    """One row a split: documents, sentences, tokens, types, unknown rate, repeat share.

    Parameters
    ----------
    columns
        The corpus's table of tokens: split, document, sentence, position, token.
    min_count
        A word is known if training holds it this often.

    Returns
    -------
    Columns split; documents; sentences; tokens (sentence ends included); words (without them); types; unknown_rate
    (share of the words that are not known); repeat_share (share of the tokens that occurred before in their
    document); characters a token (as written, one separator a token included).
    """
    types, token = np.unique(columns["token"].astype(str), return_inverse=True)
    _, document = np.unique(columns["document"].astype(str), return_inverse=True)
    is_word = (types != SENTENCE_END)[token]
    training = columns["split"] == SPLITS[0]
    known = np.bincount(token[training], minlength=len(types)) >= min_count
    repeated = _seen_before(document, token)
    length = np.array([0 if word == SENTENCE_END else len(word) for word in types.tolist()])[token] + 1
    rows = []
    for split in SPLITS:
        here = columns["split"] == split
        words = here & is_word
        rows.append(
            {
                "documents": len(np.unique(document[here])),
                "sentences": int(here.sum() - words.sum()),
                "tokens": int(here.sum()),
                "words": int(words.sum()),
                "types": len(np.unique(token[words])),
                "unknown_rate": _mean(~known[token[words]]),
                "repeat_share": _mean(repeated[here]),
                "characters_per_token": _mean(length[here]),
            }
        )
    names = list(rows[0])
    return {
        "split": np.array(SPLITS, dtype=object),
        **{name: np.array([row[name] for row in rows]) for name in names},
    }


def _seen_before(document: NDArray[np.int64], token: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each token occurred before in its document; tokens are in reading order."""
    pair = document * (int(token.max(initial=0)) + 1) + token
    _, first = np.unique(pair, return_index=True)
    seen = np.ones(len(pair), dtype=np.bool_)
    seen[first] = False
    return seen


def _mean(values: NDArray[np.bool_] | NDArray[np.int64]) -> float:
    return float(np.mean(values)) if values.size else float("nan")
