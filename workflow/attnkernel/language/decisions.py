"""Words as symbols, and each symbol as a few decisions between two sides of an ordered alphabet.

A word is its characters and a stop; a sentence end is a stop alone. So every string of symbols that ends with a stop is
one text and one only, and the probabilities of all texts of so many tokens sum to 1.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from attnkernel.corpus.tokens import SENTENCE_END

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

STOP: Final = 0
# What may stand behind the symbol of all characters that training does not have.
CODE_POINTS: Final = 0x110000
# A symbol fits into a byte, with the end of the alphabet.
_GREATEST: Final = 250


class Alphabet:
    """Symbols in the order of code points: the stop, the characters, and one for all others; and a tree over them.

    A node of the tree is a range of symbols, cut where its halves are as equally frequent as can be: a decision is
    whether the symbol lies at or above the cut.

    Parameters
    ----------
    tokens
        A training text, whose most frequent characters have a symbol of their own.

    Attributes
    ----------
    low, cut, high
        Of each node, (nodes,): symbols low to high - 1.
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        count = Counter(tokens)
        frequency: Counter[str] = Counter()
        for token, times in count.items():
            for character in spelled(token):
                frequency[character] += times
        self.characters = sorted(character for character, _ in frequency.most_common(_GREATEST))
        self._symbol = {character: index for index, character in enumerate(self.characters, start=1)}
        weights = [count.total(), *(frequency[character] for character in self.characters), 0]
        self.low, self.cut, self.high, self._paths = _tree(np.array(weights, dtype=np.float64) + 0.5)

    @property
    def size(self) -> int:
        """Number of symbols."""
        return len(self.characters) + 2

    @property
    def other(self) -> int:
        """The symbol of all characters that have none."""
        return self.size - 1

    def symbols(self, tokens: Iterable[str]) -> Integers:
        """Symbols of a text, each token's stop included, (symbols,)."""
        other, found = self.other, array("q")
        known: dict[str, list[int]] = {}
        for token in tokens:
            if token not in known:
                known[token] = [*(self._symbol.get(character, other) for character in spelled(token)), STOP]
            found.extend(known[token])
        return np.array(found, dtype=np.int64)

    def decisions(self, symbols: Integers) -> tuple[Integers, Integers, NDArray[np.bool_]]:
        """Place of the symbol, node and outcome of each decision that spells a text, (decisions,) each."""
        lengths = np.array([len(path) for path in self._paths])[symbols]
        node = [self._paths[symbol] for symbol in symbols.tolist()]
        nodes = np.array([index for path in node for index in path], dtype=np.int64)
        place = np.repeat(np.arange(len(symbols)), lengths)
        return place, nodes, symbols[place] >= self.cut[nodes]

    def distribution(self, above: Floats) -> Floats:
        """Probability of each symbol, (symbols,), from that of the upper side at each node, (nodes,)."""
        result = np.ones(self.size)
        for low, cut, high, upper in zip(
            self.low.tolist(), self.cut.tolist(), self.high.tolist(), above.tolist(), strict=True
        ):
            result[low:cut] *= 1.0 - upper
            result[cut:high] *= upper
        return result


def spelled(token: str) -> str:
    """The characters of a token before its stop: none of a sentence end."""
    return "" if token == SENTENCE_END else token


def _tree(weights: Floats) -> tuple[Integers, Integers, Integers, list[list[int]]]:
    total = np.concatenate([[0.0], np.cumsum(weights)])
    paths: list[list[int]] = [[] for _ in weights]
    nodes: list[tuple[int, int, int]] = []
    ranges: list[tuple[int, int]] = [(0, len(weights))]
    while ranges:
        low, high = ranges.pop()
        if high - low == 1:
            continue
        middle = total[low + 1 : high]
        cut = low + 1 + int(np.abs(middle - (total[low] + total[high]) / 2.0).argmin())
        for symbol in range(low, high):
            paths[symbol].append(len(nodes))
        nodes.append((low, cut, high))
        ranges += [(low, cut), (cut, high)]
    low_, cut_, high_ = np.array(nodes, dtype=np.int64).reshape(-1, 3).T
    return low_, cut_, high_, paths


def joined(symbols: Sequence[str]) -> str:
    """The token of these characters."""
    return "".join(symbols) or SENTENCE_END
