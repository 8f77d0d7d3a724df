"""The table of propositions: every statement holds on its instances, and a broken one is seen."""

import numpy as np
import pytest

from attnkernel import propositions, smoother
from attnkernel.errors import InputError


@pytest.fixture(scope="module")
def sentence():
    vectors = np.random.default_rng(0).standard_normal((8, 16))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def table(sentence):
    return propositions.propositions_table(sentence, 20, 100_000, np.random.SeedSequence(7))


def test_every_proposition_holds_on_its_instances(table):
    assert table["check"][~table["holds"]].tolist() == []


def test_every_proposition_of_the_chapters_has_a_row(table):
    stated = {statement.split()[0] for statement in table["statement"].tolist()}
    assert stated == {"1", "2", "3", "4", "5", "7", "8", "9"}


def test_every_check_has_a_name_of_its_own(table):
    keys = list(zip(table["statement"].tolist(), table["check"].tolist(), strict=True))
    assert len(set(keys)) == len(keys)


def test_the_same_seed_gives_the_same_table(sentence, table):
    again = propositions.propositions_table(sentence, 20, 100_000, np.random.SeedSequence(7))
    for name, column in table.items():
        np.testing.assert_array_equal(column, again[name])


def test_dropping_the_design_weights_is_seen(table):
    dropped = table["check"] == "the same without the design weights"
    assert table["worst"][dropped] > 10.0


def test_bounds_are_not_so_loose_that_they_say_nothing(table):
    ratios = table["worst"][np.char.startswith(table["statement"], "4")]
    assert np.all(ratios > 0.05)


def test_a_broken_derivative_is_seen(monkeypatch):
    right = smoother.lookup_derivatives

    def wrong(*arguments):
        derivatives = right(*arguments)
        return derivatives._replace(query=1.001 * derivatives.query)

    monkeypatch.setattr(smoother, "lookup_derivatives", wrong)
    checks = propositions.derivatives(2, np.random.default_rng(0))
    assert [check.holds for check in checks] == [False, False, True]


def test_a_layer_that_sees_positions_is_seen(monkeypatch, sentence):
    plain = smoother.attention

    def positional(queries, keys, values, **options):
        return plain(queries, keys + np.arange(len(keys))[:, None], values, **options)

    monkeypatch.setattr(smoother, "attention", positional)
    assert not propositions.sentence_order(sentence, np.random.default_rng(0))[0].holds


def test_the_sentence_is_the_first_long_enough_whose_words_all_have_vectors():
    vectors = {"a": np.ones(2), "b": np.array([0.0, 2.0]), "unseen": np.zeros(2), "</s>": np.ones(2)}
    sentences = [["a", "b", "</s>"], ["a", "b", "unseen", "</s>"], ["b", "a", "a", "</s>"], ["a"] * 9]
    found = propositions.sentence_vectors(sentences, vectors, 3)
    assert found.tolist() == [[0.0, 2.0], [1.0, 1.0], [1.0, 1.0]]


def test_a_corpus_without_such_a_sentence_is_the_users_mistake():
    with pytest.raises(InputError, match="words"):
        propositions.sentence_vectors([["a", "</s>"]], {"a": np.ones(2)}, 3)
