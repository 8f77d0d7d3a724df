"""A character model that spells the words Kneser-Ney does not know: a code length for an open vocabulary."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from attnkernel.normal_form import normalised

# What may stand in a word: every code point but the surrogates.
CODE_POINTS: Final = 0x110000 - 0x800
START: Final = "\x02"
_END: Final = ""
_LONG: Final = 1000  # a word of more characters is no word of a language


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
        self._following: dict[str, dict[str, int]] = {}
        self._total: dict[str, int] = {}
        self._alphabet: dict[str, None] = {}
        for word in words:
            self.add(word)

    def add(self, word: str) -> None:
        """Count one more word."""
        spelled = normalised(word, "NFC")
        self._alphabet.update(dict.fromkeys(spelled))
        for symbol, history in self._steps(spelled):
            for length in range(len(history) + 1):
                suffix = history[len(history) - length :]
                following = self._following.get(suffix)
                if following is None:
                    following = self._following[suffix] = {}
                following[symbol] = following.get(symbol, 0) + 1
                self._total[suffix] = self._total.get(suffix, 0) + 1

    @property
    def alphabet(self) -> list[str]:
        """Characters seen so far, by first appearance."""
        return list(self._alphabet)

    def conditional(self, symbol: str, history: str) -> float:
        """Probability of a character, or of the end of the word (the empty string), after `history`."""
        probability = 1.0 / (len(self._alphabet) + 2)
        if symbol != _END and symbol not in self._alphabet:
            probability /= CODE_POINTS - len(self._alphabet)
        for following, total in self._matches(history):
            distinct = len(following)
            probability = (following.get(symbol, 0) + distinct * probability) / (total + distinct)
        return probability

    def conditionals(self, history: str) -> list[float]:
        """Probabilities after `history`: of the end, of all unseen code points together, of each of `alphabet`."""
        place = {symbol: index for index, symbol in enumerate(self._alphabet, start=2)} | {_END: 0}
        values = [1.0 / (len(self._alphabet) + 2)] * (len(self._alphabet) + 2)
        for following, total in self._matches(history):
            distinct = len(following)
            values = [distinct * value / (total + distinct) for value in values]
            for symbol, count in following.items():
                values[place[symbol]] += count / (total + distinct)
        return values

    def log2_probability(self, word: str, numbered: Collection[str] = ()) -> float:
        """Log of the probability of a whole word, its end included, in bits; never -inf.

        Parameters
        ----------
        word
            A string, not one of `numbered`.
        numbered
            Words that have a number and so are never spelled: no string ends where one of them would, and what
            remains of that conditional is scaled up. Probabilities then sum to 1 over all other strings.
        """
        spelled = normalised(word, "NFC")
        # To look at every beginning of a word takes the square of its length; none is longer than the longest of these.
        reach = len(spelled) if len(spelled) <= _LONG else max(map(len, numbered), default=0)
        bits = 0.0
        for length, (symbol, history) in enumerate(self._steps(spelled)):
            bits += math.log2(self.conditional(symbol, history))
            if length <= reach and spelled[:length] in numbered:
                bits -= math.log2(1.0 - self.conditional(_END, history))
        return bits

    def _matches(self, history: str) -> Iterator[tuple[dict[str, int], int]]:
        """What followed each suffix of the history that was seen, the shortest first, and how often."""
        for length in range(min(self._order, len(history) + 1)):
            suffix = history[len(history) - length :]
            following = self._following.get(suffix)
            if following is None:
                return
            yield following, self._total[suffix]

    def _steps(self, word: str) -> Iterable[tuple[str, str]]:
        """Each symbol of a word, its end last, with the history it sees."""
        symbols = (*word, _END)
        padded = START + word
        return ((symbol, padded[max(0, i + 2 - self._order) : i + 1]) for i, symbol in enumerate(symbols))
