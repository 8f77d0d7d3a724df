"""Lossless tokens: whatever the text, nothing of it is lost; and layouts that are foreseen cost little."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnkernel.language.lossless import LAYOUTS, LayoutModel, join, split


@given(st.text())
def test_any_text_comes_back(text):
    assert join(*split(text)) == text


@pytest.mark.parametrize(
    "text", ["", "\n\n", "  two  spaces ", "ExxonMobil’s U.S. GAAP\r\n", "a\tb\u00a0c", "ǅ İ ß SS", "x² 10,5% _id_"]
)
def test_odd_texts_come_back(text):
    assert join(*split(text)) == text


def test_case_and_spaces_are_kept_apart_from_the_words():
    tokens, layouts = split("The the THE ExxonMobil\n")
    assert tokens == ["the", "the", "the", "ExxonMobil", "</s>"]
    assert layouts == [1, 3, 5, 3, 0]


def test_layouts_sum_to_one_and_a_sentence_end_has_none():
    model = LayoutModel()
    model.learn(*split("The cost. The revenue."))
    assert model.distribution("the", ".").sum() == pytest.approx(1.0)
    assert len(model.distribution("new", "")) == LAYOUTS
    assert model.read(["</s>"], [0]).tolist() == [0.0]


def test_reading_costs_what_the_distributions_say_and_learns_as_learning_does():
    text = split("The cost. The revenue.\nThe end")
    read, learnt = LayoutModel(), LayoutModel()
    bits = read.read(*text)
    learnt.learn(*text)
    assert bits[0] == pytest.approx(np.log2(LAYOUTS))
    assert bits[6] < bits[0]
    assert np.array_equal(read.distribution("the", "</s>"), learnt.distribution("the", "</s>"))
