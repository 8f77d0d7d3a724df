"""Counts by history: exactly those that a scan of the text finds, and of the document none that is still to come."""

import numpy as np
import pytest

from attnkernel.language.decisions import STOP, Alphabet
from attnkernel.language.histories import contexts, counts, earlier, keys

SETTINGS = {"characters": [1, 2, 4], "words": [[], [1], [1, 2], [2]]}
TEXT = "the cost of oil rose </s> the price of oil fell </s> oil and gas rose </s> the cost fell </s>"
TOKENS = TEXT.split()


@pytest.fixture
def alphabet():
    return Alphabet(TOKENS)


@pytest.fixture
def symbols(alphabet):
    return alphabet.symbols(TOKENS)


def described(symbols):
    """Each history before each symbol and after the last, spelled out."""
    rows = []
    for t in range(len(symbols) + 1):
        before = symbols[:t].tolist()
        words, begun = [], []
        for symbol in before:
            begun.append(symbol)
            if symbol == STOP:
                words.append(tuple(begun))
                begun = []
        texts = [tuple(before[max(0, t - n) :]) for n in SETTINGS["characters"]]
        texts += [
            (tuple(begun), *(words[-back] if back <= len(words) else None for back in backs))
            for backs in SETTINGS["words"]
        ]
        rows.append(texts)
    return list(zip(*rows, strict=True))


def test_hashes_are_equal_where_the_histories_are_and_only_there(symbols):
    for found, texts in zip(contexts(symbols, SETTINGS), described(symbols), strict=True):
        pairs = set(zip(found.tolist(), texts, strict=True))
        assert len(pairs) == len({hashed for hashed, _ in pairs}) == len({text for _, text in pairs})


def test_the_history_needs_no_more_of_the_text_than_its_own_words(symbols):
    # As the decoder reads it: from a word's start, with words enough before.
    start = np.flatnonzero(symbols == STOP)[4] + 1
    whole, end = contexts(symbols, SETTINGS), contexts(symbols[start:], SETTINGS)
    assert np.array_equal(whole[:, -1], end[:, -1])


def test_counts_are_those_of_a_scan(symbols):
    for hashes, texts in zip(contexts(symbols, SETTINGS), described(symbols), strict=True):
        table = keys(hashes, symbols)
        for t in range(0, len(symbols), 7):
            after = [symbol for symbol, text in zip(symbols.tolist(), texts, strict=False) if text == texts[t]]
            low, high = np.array([2]), np.array([9])
            found = counts(table, hashes[t : t + 1], low, high)
            assert found.tolist() == [sum(2 <= symbol < 9 for symbol in after)]


def test_earlier_decisions_are_those_of_a_scan(alphabet, symbols):
    place, node, outcome = alphabet.decisions(symbols)
    for hashes in contexts(symbols, SETTINGS):
        down, up = earlier(hashes, place, node, outcome)
        for d in range(0, len(place), 5):
            before = (hashes[place[:d]] == hashes[place[d]]) & (node[:d] == node[d])
            assert (down[d], up[d]) == ((before & ~outcome[:d]).sum(), (before & outcome[:d]).sum())
