"""The speller: a proper distribution over all strings that knows how words look."""

import itertools
import math

import numpy as np
import pytest

from attnkernel.language.speller import Speller

WORDS = ["ab", "abba", "baab", "a", "bab", "aab"]
UNSEEN = 0x110000 - 0x800 - 2


@pytest.mark.parametrize("order", [1, 2, 3, 6])
@pytest.mark.parametrize("history", ["", "\x02", "\x02a", "ba", "zzz", "\x02abba"])
def test_every_conditional_sums_to_one_over_all_code_points_and_the_end(order, history):
    speller = Speller(WORDS, order)
    seen = sum(speller.conditional(symbol, history) for symbol in ("a", "b", ""))
    assert seen + UNSEEN * speller.conditional("z", history) == pytest.approx(1.0, abs=1e-12)


def test_probabilities_sum_to_one_over_all_strings():
    # Strings of up to n characters, and what starts one longer: nothing is lost and nothing counted twice.
    speller, length = Speller(WORDS, 3), 3
    symbols = {"a": 1, "b": 1, "z": UNSEEN}
    total = 0.0
    for n in range(length + 1):
        for word in itertools.product(symbols, repeat=n):
            copies = math.prod(symbols[symbol] for symbol in word)
            total += copies * 2.0 ** speller.log2_probability("".join(word))
            if n == length:
                end = speller.conditional("", ("\x02" + "".join(word))[-2:])
                total += copies * 2.0 ** speller.log2_probability("".join(word)) / end * (1.0 - end)
    assert total == pytest.approx(1.0, abs=1e-9)


def test_with_numbered_words_probabilities_sum_to_one_over_all_other_strings():
    speller, numbered, length = Speller(WORDS, 3), {"", "a", "ab"}, 2
    symbols = {"a": 1, "b": 1, "z": UNSEEN}
    total = 0.0
    for n in range(length + 1):
        for word in map("".join, itertools.product(symbols, repeat=n)):
            if word not in numbered:
                total += math.prod(symbols[symbol] for symbol in word) * 2.0 ** speller.log2_probability(word, numbered)
    # What starts with each longer string: its symbols without the end.
    for word in map("".join, itertools.product(symbols, repeat=length + 1)):
        copies = math.prod(symbols[symbol] for symbol in word)
        end = speller.conditional("", ("\x02" + word)[-2:])
        total += copies * 2.0 ** speller.log2_probability(word, numbered) / end
    assert total == pytest.approx(1.0, abs=1e-9)


def test_witten_bell_by_hand():
    # One word, order 1: the symbols x, x, end; two distinct; the uniform level has x, the end and the unseen.
    speller = Speller(["xx"], 1)
    assert speller.conditional("x", "") == pytest.approx((2 + 2 / 3) / 5)
    assert speller.conditional("", "") == pytest.approx((1 + 2 / 3) / 5)
    assert speller.log2_probability("x") == pytest.approx(np.log2((8 / 15) * (1 / 3)))


def test_a_longer_history_spells_training_words_shorter():
    words = ["transaction", "translation", "transition", "nation", "station", "ration"]
    bits = [-sum(Speller(words, order).log2_probability(word) for word in words) for order in (1, 2, 3, 5)]
    assert bits == sorted(bits, reverse=True)


def test_a_likely_word_costs_less_than_its_reversal_and_an_alien_one_stays_finite():
    speller = Speller(["transaction", "translation", "nation"], 4)
    assert speller.log2_probability("transnation") > speller.log2_probability("noitansnart")
    assert speller.log2_probability("λόγος") > -np.inf


def test_a_decomposed_accent_is_spelled_as_the_composed_one():
    speller = Speller(["café"], 3)
    assert speller.log2_probability("cafe\u0301") == speller.log2_probability("café")


def test_an_order_below_one_is_refused():
    with pytest.raises(ValueError, match="order"):
        Speller(WORDS, 0)
