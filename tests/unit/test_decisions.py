"""Texts as decisions: one way to spell each, and probabilities that sum to one over all."""

import itertools

import numpy as np
import pytest

from attnkernel.language.decisions import STOP, Alphabet, joined, spelled

TOKENS = ["the", "cost", "rose", "</s>", "the", "price", "of", "oil", "rose", "</s>"]


@pytest.fixture
def alphabet():
    return Alphabet(TOKENS)


def test_a_sentence_end_is_a_stop_alone_and_a_word_ends_with_one(alphabet):
    assert alphabet.symbols(["</s>"]).tolist() == [STOP]
    assert alphabet.symbols(["of"]).tolist() == [*(1 + alphabet.characters.index(c) for c in "of"), STOP]
    assert [joined(spelled(token)) for token in TOKENS] == TOKENS


def test_a_character_that_training_lacks_is_the_other_one(alphabet):
    assert alphabet.symbols(["é"]).tolist() == [alphabet.other, STOP]


def test_the_decisions_lead_to_the_symbol_and_to_no_other(alphabet):
    above = np.random.default_rng(1).random(len(alphabet.cut))
    probability = alphabet.distribution(above)
    assert probability.sum() == pytest.approx(1.0)
    for symbol in range(alphabet.size):
        _, node, outcome = alphabet.decisions(np.array([symbol]))
        assert np.prod(np.where(outcome, above[node], 1.0 - above[node])) == pytest.approx(probability[symbol])


def test_probabilities_sum_to_one_over_all_texts_of_so_many_words(alphabet):
    # All words of up to three symbols and the mass of the longer ones: what is not a stop goes on.
    probability = alphabet.distribution(np.full(len(alphabet.cut), 0.4))
    words = sum(
        np.prod(probability[list(word)]) * probability[STOP]
        for length in range(3)
        for word in itertools.product(range(1, alphabet.size), repeat=length)
    )
    assert words + (1.0 - probability[STOP]) ** 3 == pytest.approx(1.0)


def test_frequent_symbols_take_few_decisions(alphabet):
    place, _, _ = alphabet.decisions(alphabet.symbols(TOKENS))
    assert len(place) / (place[-1] + 1) < np.log2(alphabet.size)
