r"""Text as tokens that lose nothing: lower-case words, numbers and marks, and how each is laid out.

A line feed is the sentence end. Any other token is a run of letters, a run of digits, or one character, with the
space before it and its capitals kept apart as its *layout*; a run that no layout gives back stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from attnkernel.corpus.tokens import SENTENCE_END

Floats = NDArray[np.float64]

_PIECE: Final = re.compile(r"\n| ?(?:[^\W\d_]+|\d+|[^\w\s]|_)|\s")
# Ways to write a word: as it is, with a capital, in capitals; each with and without a space before it.
_CASES: Final = 3
LAYOUTS: Final = 2 * _CASES
# Weight, in occurrences, of what is known of a layout in general against what was seen of this token.
_PRIOR: Final = 0.5


def split(text: str) -> tuple[list[str], list[int]]:
    """Tokens of a text and their layouts; `join` gives the text back."""
    tokens, layouts = [], []
    for piece in _PIECE.findall(text):
        if piece == "\n":
            tokens.append(SENTENCE_END)
            layouts.append(0)
            continue
        space = len(piece) > 1 and piece[0] == " "
        written = piece[space:]
        token, case = _lowered(written)
        tokens.append(token)
        layouts.append(_CASES * space + case)
    return tokens, layouts


def join(tokens: Sequence[str], layouts: Sequence[int]) -> str:
    """The text of which these are the tokens and layouts."""
    return "".join(
        "\n" if token == SENTENCE_END else " " * (layout // _CASES) + _written(token, layout % _CASES)
        for token, layout in zip(tokens, layouts, strict=True)
    )


class LayoutModel:
    """Adaptive probabilities of a token's layout, given the token and what stands before it.

    Counts of the layout in three ever narrower contexts, each interpolated with the wider one: what kind of token
    comes before, the token, and the token with the one before it.
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[str, ...], Floats] = {}

    def distribution(self, token: str, before: str) -> Floats:
        """Probability of each layout, (LAYOUTS,); a sentence end has only one."""
        probability = np.full(LAYOUTS, 1.0 / LAYOUTS)
        for context in _contexts(token, before):
            counts = self._counts.get(context)
            if counts is not None:
                probability = (counts + _PRIOR * probability) / (counts.sum() + _PRIOR)
        return probability

    def add(self, token: str, before: str, layout: int) -> None:
        """Count a layout."""
        for context in _contexts(token, before):
            self._counts.setdefault(context, np.zeros(LAYOUTS))[layout] += 1.0

    def learn(self, tokens: Sequence[str], layouts: Sequence[int]) -> None:
        """Count the layouts of a training text."""
        for token, before, layout in zip(tokens, [SENTENCE_END, *tokens], layouts, strict=False):
            if token != SENTENCE_END:
                self.add(token, before, layout)

    def read(self, tokens: Sequence[str], layouts: Sequence[int]) -> Floats:
        """Bits of each layout of a text, (tokens,), learning from each in turn."""
        bits = np.zeros(len(tokens))
        before = SENTENCE_END
        for place, (token, layout) in enumerate(zip(tokens, layouts, strict=True)):
            if token != SENTENCE_END:
                bits[place] = -np.log2(self.distribution(token, before)[layout])
                self.add(token, before, layout)
            before = token
        return bits


def _contexts(token: str, before: str) -> tuple[tuple[str, ...], ...]:
    kind = "a" if token.isalpha() else token
    kind_before = "a" if before.isalpha() else "0" if before.isdigit() else before
    return (kind, kind_before), (token, "", ""), (token, before, "", "")


def _lowered(written: str) -> tuple[str, int]:
    lower = written.lower()
    for case in range(_CASES):
        if _written(lower, case) == written:
            return lower, case
    return written, 0


def _written(token: str, case: int) -> str:
    return (token, token[:1].upper() + token[1:], token.upper())[case]
