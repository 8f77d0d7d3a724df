"""A character model that spells the words Kneser-Ney does not know: a code length for an open vocabulary."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Final

# What may stand in a word: every code point but the surrogates.
_CODE_POINTS: Final = 0x110000 - 0x800
_START: Final = "\x02"
_END: Final = ""


class Speller:
    """Interpolated character n-grams with Witten-Bell weights, trained on word types.

    `p(c | h) = (n(h c) + t(h) p(c | h')) / (n(h) + t(h))`, where `t(h)` counts the distinct symbols seen
    after the history h and h' drops its oldest symbol (Witten and Bell 1991, method C). Below the shortest
    history lies the uniform distribution over the characters seen in training, the end of the word and one
    class for all other code points, which share it equally. Every conditional sums to 1 over all code points
    and the end, and the end is always possible: probabilities sum to 1 over all strings. Words are read in
    Unicode normal form C.

    Parameters
    ----------
    words
        Training types, each counted once.
    order
        Length of the n-grams, at least 1: a symbol sees the `order - 1` before it.

    Raises
    ------
    ValueError
        `order` is below 1.
    """

    def __init__(self, words: Iterable[str], order: int) -> None:
        if order < 1:
            raise ValueError(f"a character model needs an order of at least 1, not {order}")
        self._order = order
        self._following: dict[str, Counter[str]] = {}
        for word in words:
            spelled = unicodedata.normalize("NFC", word)
            for symbol, history in self._steps(spelled):
                for length in range(len(history) + 1):
                    suffix = history[len(history) - length :]
                    self._following.setdefault(suffix, Counter())[symbol] += 1
        self._total = {history: counts.total() for history, counts in self._following.items()}
        self._alphabet = set(self._following.get("", ())) - {_END}

    @property
    def alphabet(self) -> set[str]:
        """Characters seen in training."""
        return set(self._alphabet)

    def conditional(self, symbol: str, history: str) -> float:
        """Probability of a character, or of the end of the word (the empty string), after `history`."""
        probability = 1.0 / (len(self._alphabet) + 2)
        if symbol != _END and symbol not in self._alphabet:
            probability /= _CODE_POINTS - len(self._alphabet)
        for length in range(min(self._order, len(history) + 1)):
            suffix = history[len(history) - length :]
            following = self._following.get(suffix)
            if following is None:
                break
            distinct = len(following)
            probability = (following[symbol] + distinct * probability) / (self._total[suffix] + distinct)
        return probability

    def log2_probability(self, word: str) -> float:
        """Log of the probability of a whole word, its end included, in bits; never -inf."""
        spelled = unicodedata.normalize("NFC", word)
        return sum(math.log2(self.conditional(symbol, history)) for symbol, history in self._steps(spelled))

    def _steps(self, word: str) -> Iterable[tuple[str, str]]:
        """Each symbol of a word, its end last, with the history it sees."""
        symbols = (*word, _END)
        padded = _START + word
        return ((symbol, padded[max(0, i + 2 - self._order) : i + 1]) for i, symbol in enumerate(symbols))
