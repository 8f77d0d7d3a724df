"""Kernels over the states of a network: the estimator of Nadaraya and Watson, against a naive sum, and its limits."""

import numpy as np
import pytest

from attnkernel.language import recurrent, states

WIDTH, PLACES, TYPES = 6, 300, 9
ALL_AXES = {"dimensions": WIDTH, "bandwidth": 0.2, "own": 0.4}


@pytest.fixture
def text():
    rng = np.random.default_rng(3)
    return rng.standard_normal((PLACES, WIDTH)), rng.integers(TYPES, size=PLACES)


def smoothed(query, keys, following, bandwidth):
    weights = np.exp(-((keys - query) ** 2).sum(axis=1) / bandwidth)
    return np.bincount(following, weights=weights, minlength=TYPES) / weights.sum()


def test_the_rows_are_those_of_a_naive_sum_over_all_places(text, monkeypatch):
    monkeypatch.setattr(states, "_REACH", np.inf)
    monkeypatch.setattr(states, "_BLOCK", 64)
    store = states.store(*text, TYPES, ALL_AXES)
    queries = np.random.default_rng(4).standard_normal((5, WIDTH))
    for row, query in zip(store.rows(queries), queries, strict=True):
        assert row == pytest.approx(smoothed(query, *text, store.bandwidth), rel=1e-9)


def test_far_places_take_no_part_whatever_the_block_they_are_in(text, monkeypatch):
    store = states.store(*text, TYPES, ALL_AXES)
    keys, following = text
    query = keys[:3] + 0.01
    whole = store.rows(query)
    monkeypatch.setattr(states, "_BLOCK", 7)
    for row, part, place in zip(whole, store.rows(query), query, strict=True):
        distance = ((keys - place) ** 2).sum(axis=1)
        near = distance - distance.min() < states._REACH * store.bandwidth
        assert near.sum() < PLACES
        assert row == pytest.approx(smoothed(place, keys[near], following[near], store.bandwidth), rel=1e-9)
        assert part == pytest.approx(row, rel=1e-9)


def test_a_narrow_kernel_repeats_the_nearest_place_and_a_wide_one_the_frequencies(text):
    keys, following = text
    narrow = states.store(*text, TYPES, ALL_AXES | {"bandwidth": 1e-6})
    assert np.argmax(narrow.rows(keys), axis=1).tolist() == following.tolist()
    wide = states.store(*text, TYPES, ALL_AXES | {"bandwidth": 1e9})
    assert wide.rows(keys[:1])[0] == pytest.approx(np.bincount(following, minlength=TYPES) / PLACES, rel=1e-6)


def test_bandwidths_are_shares_of_the_mean_squared_distance(text):
    keys, _ = text
    store = states.store(*text, TYPES, ALL_AXES)
    pairs = ((keys[:, None] - keys) ** 2).sum(axis=2)
    mean = pairs.sum() / (PLACES * (PLACES - 1))
    assert (store.bandwidth, store.own) == pytest.approx((0.2 * mean, 0.4 * mean))


def test_places_that_are_all_the_same_give_the_frequencies():
    following = np.array([1, 1, 4])
    alike = np.ones((3, WIDTH), dtype=np.float32)
    store = states.store(alike, following, TYPES, ALL_AXES)
    assert store.rows(alike[:1])[0] == pytest.approx(np.bincount(following, minlength=TYPES) / 3)


def test_fewer_axes_are_those_along_which_states_differ_most(text):
    keys, following = text
    flat = keys * np.array([5.0, 1e-3, 3.0, 1e-3, 4.0, 1e-3])
    store = states.store(flat, following, TYPES, ALL_AXES | {"dimensions": 3})
    assert store.axes.T @ store.axes == pytest.approx(np.eye(3), abs=1e-9)
    whole = states.store(flat, following, TYPES, ALL_AXES)
    assert np.array(store.rows(flat[:4])) == pytest.approx(np.array(whole.rows(flat[:4])), abs=1e-4)


def test_the_document_s_own_kernel_is_a_naive_sum_over_earlier_places(text):
    keys, _ = text
    store = states.store(*text, TYPES, ALL_AXES)
    own = states.Own(store)
    assert len(own.row(keys[0], TYPES)) == 0
    tokens = np.random.default_rng(5).integers(TYPES, size=150)
    for place, token in enumerate(tokens.tolist()):
        if place:
            expected = smoothed(keys[place], keys[:place], tokens[:place], store.own)
            assert own.row(keys[place], TYPES) == pytest.approx(expected, rel=1e-9)
        own.add(keys[place], token)


def test_states_of_a_text_are_those_that_a_reader_has_after_each_token(monkeypatch):
    rng = np.random.default_rng(6)
    parameters = {
        "word": rng.standard_normal((4, 3)), "bias": rng.standard_normal(4),
        "weight": rng.standard_normal((6, 12)), "offset": rng.standard_normal(12),
    }  # fmt: skip
    network = recurrent.Recurrent(parameters, np.arange(4), np.arange(4))
    monkeypatch.setattr(recurrent, "_LANES", 2)
    monkeypatch.setattr(recurrent, "_BLOCK", 3)
    text = rng.integers(4, size=17)  # two lanes of eight; the last token is left over
    found, following = recurrent.states([network], text)
    assert following.reshape(7, 2).T.tolist() == [text[1:8].tolist(), text[9:16].tolist()]
    reader = recurrent.Reader([network])
    reader._states = [np.zeros((2, 1, 3))]
    for word, state in zip(text[8:15].tolist(), found.reshape(7, 2, 3)[:, 1], strict=True):
        reader.step(word)
        assert reader.state == pytest.approx(state, rel=1e-12)
