"""The article's mixture over an open vocabulary: what it copies, what it spells, and that it sums to one."""

import numpy as np
import pytest

from attnkernel.language import kneser_ney, open_vocabulary
from attnkernel.language.cache import cache_distribution
from attnkernel.language.speller import Speller

VOCABULARY = ["<unk>", "<s>", "</s>", "cost", "of", "revenue", "rose"]
TEXT = "Revenue rose. Cost of Zyltech rose. Zyltech revenue rose"


@pytest.fixture
def model():
    training = np.array([3, 4, 5, 6, 2, 5, 6, 2, 0, 6, 2])
    return kneser_ney.estimate(training, len(VOCABULARY), order=3, discounting=0.75)


@pytest.mark.parametrize(("characters", "cut"), [(7, "Revenue"), (9, "Revenue"), (12, "Revenue rose"), (3, "Rev")])
def test_an_excerpt_ends_after_a_whole_word(characters, cut):
    assert open_vocabulary.excerpt("Revenue rose\nfast", characters) == cut


def test_a_text_within_the_length_is_taken_whole():
    assert open_vocabulary.excerpt(TEXT, 1000) == open_vocabulary.excerpt(TEXT, None) == TEXT


def test_new_words_are_numbered_by_first_appearance_and_routed():
    text = open_vocabulary.read(TEXT + " qua zyltech", VOCABULARY)
    assert text.new == ["zyltech", "qua"]
    assert text.surface[text.token == 0].tolist() == [7, 7, 8, 7]
    assert [open_vocabulary.ROUTES[route] for route in text.route[text.token == 0]] == [
        "spelled",
        "copied",
        "spelled",
        "copied",
    ]


def test_the_normal_form_has_as_many_characters_as_its_tokens_count():
    assert open_vocabulary.normal_form("Cost, of!\n\nRevenue") == "cost of \nrevenue \n"


def test_known_copied_and_spelled_words_sum_to_one(model):
    # Over the vocabulary, the words that the document has already spelled, and all other strings.
    text, weight = open_vocabulary.read(TEXT, VOCABULARY), 0.9
    vectors = np.eye(len(VOCABULARY))
    vectors[0] = 0.0
    wide = open_vocabulary.surface_vectors(vectors, len(text.new))
    seen = text.surface[:-1]
    cache = cache_distribution(seen, wide, wide, 2.0)
    history = text.token[:-1][np.flatnonzero(text.token[:-1] == 2)[-1] + 1 :]
    classes = model.conditional(history)
    speller = Speller(VOCABULARY[3:], 3)
    numbered = frozenset(VOCABULARY)
    spelled = np.array([2.0 ** speller.log2_probability(word, numbered) for word in text.new])
    kneser_ney = np.concatenate([np.where(np.arange(len(VOCABULARY)) == 0, 0.0, classes), classes[0] * spelled])
    listed = weight * kneser_ney + (1.0 - weight) * cache
    other = weight * classes[0] * (1.0 - spelled.sum())
    assert listed.sum() + other == pytest.approx(1.0, abs=1e-12)
    bits = open_vocabulary.article_bits(
        text, model, speller, VOCABULARY, [open_vocabulary.Kernel("mix", vectors, vectors, 2.0, weight)]
    )
    assert 2.0 ** -bits["mix"][-1] == pytest.approx(listed[text.surface[-1]], rel=1e-12)


def test_a_copied_word_costs_less_than_when_it_was_spelled(model):
    text = open_vocabulary.read(TEXT, VOCABULARY)
    kernel = open_vocabulary.Kernel("mix", np.eye(7), np.eye(7), 0.0, 0.9)
    bits = open_vocabulary.article_bits(text, model, Speller(VOCABULARY[3:], 3), VOCABULARY, [kernel])
    first, again = np.flatnonzero(text.surface == 7)
    assert bits["mix"][again] < bits["kn"][again]
    assert bits["mix"][first] == pytest.approx(bits["kn"][first] - np.log2(0.9))
    assert bits["mix"][0] == bits["kn"][0]


def test_an_empty_text_costs_nothing(model):
    text = open_vocabulary.read("", VOCABULARY)
    kernel = open_vocabulary.Kernel("mix", np.eye(7), np.eye(7), 0.0, 0.9)
    bits = open_vocabulary.article_bits(text, model, Speller(VOCABULARY[3:], 3), VOCABULARY, [kernel])
    assert {name: len(values) for name, values in bits.items()} == {"kn": 0, "mix": 0}
