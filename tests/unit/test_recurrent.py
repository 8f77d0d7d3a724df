"""The recurrent network: a distribution over the words, that learns what follows what."""

import numpy as np
import pytest

from attnkernel.language import recurrent

SETTINGS = {
    "width": 12, "epochs": 40, "step": 0.02, "lanes": 4, "window": 8, "noise": 6, "dropout": 0.0, "min_count": 2,
}  # fmt: skip
# 3 and 4 take turns between sentence ends; 5 comes once.
TEXT = np.array([3, 2, 4, 2] * 60 + [5, 2])


@pytest.fixture(scope="module")
def network():
    return recurrent.train(TEXT, 7, SETTINGS, np.random.SeedSequence(2))


def test_each_row_is_a_distribution_and_rare_words_are_unknown(network):
    row = recurrent.Reader([network]).distributions()[0]
    assert row.sum() == pytest.approx(1.0)
    assert (row >= 0.0).all()
    assert row[[5, 6]].tolist() == [0.0, 0.0]


def test_it_learns_what_follows_over_more_than_one_word(network):
    reader = recurrent.Reader([network])
    for word in [3, 2, 4, 2, 3, 2]:
        reader.step(word)
    assert reader.distributions()[0][4] > 0.9


def test_the_sampled_loss_is_that_of_the_full_softmax_where_all_words_are_drawn():
    rng = np.random.default_rng(0)
    parameters = {
        "word": rng.standard_normal((5, 3)), "bias": rng.standard_normal(5),
        "weight": rng.standard_normal((6, 12)), "offset": rng.standard_normal(12),
    }  # fmt: skip
    words = np.array([1, 4, 2])
    ones = [np.ones((3, 1, 3))] * 2
    value, _, _ = recurrent.loss(
        parameters, words[:, None], np.roll(words, 1)[:, None], np.arange(5), np.zeros(5), np.zeros((2, 1, 3)), ones
    )
    network = recurrent.Recurrent(parameters, np.arange(5), np.arange(5))
    reader, expected = recurrent.Reader([network]), 0.0
    reader._states = [np.zeros((2, 1, 3))]
    for word, target in zip(words, np.roll(words, 1), strict=True):
        reader.step(word)
        expected -= np.log(reader.distributions()[0][target])
    assert value == pytest.approx(expected)


@pytest.fixture(scope="module")
def other():
    return recurrent.train(TEXT, 7, SETTINGS | {"epochs": 5}, np.random.SeedSequence(3))


def test_several_networks_predict_their_mean_and_their_states_stand_side_by_side(network, other):
    readers = [recurrent.Reader(networks) for networks in ([network], [other], [network, other])]
    for word in TEXT[:5].tolist():
        one, two, both = (reader.distributions()[0] for reader in readers)
        assert not np.allclose(one, two)
        assert both == pytest.approx((one + two) / 2.0)
        assert readers[2].state.tolist() == [*readers[0].state, *readers[1].state]
        for reader in readers:
            reader.step(word)


def test_a_document_that_is_there_already_is_read_the_same_way(network, other, monkeypatch):
    monkeypatch.setattr(recurrent, "_BLOCK", 4)
    words = TEXT[:11]
    reader, ahead = recurrent.Reader([network, other]), recurrent.Ahead([network, other], words)
    for word in words.tolist():
        assert ahead.distributions()[0] == pytest.approx(reader.distributions()[0], rel=1e-4)
        assert ahead.state == pytest.approx(reader.state, rel=1e-4)
        reader.step(word)
        ahead.step(word)


def test_over_another_vocabulary_it_says_the_same_of_the_same_words(network):
    old = ["<unk>", "<s>", "</s>", "a", "b", "c", "d"]
    new = ["<unk>", "<s>", "</s>", "aa", "a", "b", "c", "d"]
    moved = recurrent.restored(recurrent.saved(network, old), new)
    before, after = recurrent.Reader([network]).distributions()[0], recurrent.Reader([moved]).distributions()[0]
    assert after[[new.index(word) for word in old]] == pytest.approx(before)
    assert after[3] == 0.0


def test_a_word_that_another_vocabulary_lacks_leaves_its_mass_to_the_others(network):
    old, new = ["<unk>", "<s>", "</s>", "a", "b", "c", "d"], ["<unk>", "<s>", "</s>", "b"]
    before = recurrent.Reader([network]).distributions()[0][[0, 2, 4]]
    after = recurrent.Reader([recurrent.restored(recurrent.saved(network, old), new)]).distributions()[0][[0, 2, 3]]
    assert after == pytest.approx(before / before.sum())


def test_training_is_the_same_for_the_same_seed(network):
    again = recurrent.train(TEXT, 7, SETTINGS, np.random.SeedSequence(2))
    assert all(np.array_equal(again.parameters[name], network.parameters[name]) for name in network.parameters)


PACE = recurrent.Pace(window=4, step=0.1)


def adapted(network, words, ahead=None):
    """Distributions before each word and after the last, of the network as it learns on."""
    adapting = recurrent.Adapting(network, PACE, ahead)
    rows = [adapting.distribution()]
    for word in words.tolist():
        adapting.step(word)
        rows.append(adapting.distribution())
    return np.array(rows)


@pytest.mark.parametrize("size", [0, 3, 4, 11])
def test_a_network_that_learns_on_needs_no_word_ahead(network, size):
    words = TEXT[:size]
    assert adapted(network, words) == pytest.approx(adapted(network, words, words), rel=1e-4)


def test_it_is_the_trained_network_until_the_first_window_has_passed_which_stays_as_it_is(network):
    before = {name: values.copy() for name, values in network.parameters.items()}
    rows, reader = adapted(network, TEXT[:11]), recurrent.Reader([network])
    for place, word in enumerate(TEXT[:11].tolist()):
        assert (np.abs(rows[place] - reader.distributions()[0]).max() < 1e-6) == (place < PACE.window)
        reader.step(word)
    assert rows.sum(axis=1) == pytest.approx(np.ones(12))
    assert all(np.array_equal(network.parameters[name], values) for name, values in before.items())


def test_what_a_document_repeats_the_network_learns(network):
    words = np.array([4, 4, 3, 2] * 10)  # in training a sentence has one word
    rows = adapted(network, words)
    costs = -np.log(rows[np.arange(len(words)), words])
    reader, fixed = recurrent.Reader([network]), []
    for word in words.tolist():
        fixed.append(-np.log(reader.distributions()[0][word]))
        reader.step(word)
    assert costs[20:].sum() < 0.8 * np.sum(fixed[20:])
