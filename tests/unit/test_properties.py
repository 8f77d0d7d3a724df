"""What must hold of any text whatever: sums, no NaN, and what must not matter."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnkernel.corpus import readers, tokens
from attnkernel.errors import InputError
from attnkernel.language import cache, evaluate, kneser_ney

WORDS = 5
TYPES = 3 + WORDS
sentences = st.lists(st.lists(st.sampled_from([0, *range(3, TYPES)]), max_size=6), min_size=1, max_size=8)
orders = st.integers(1, 4)
rules = st.sampled_from(["modified", "single", 0.75])
vectors = st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).standard_normal((TYPES, 3)))
permutations = st.permutations(range(3, TYPES)).map(lambda words: np.array([0, 1, 2, *words]))
betas = st.sampled_from([0.0, 0.5, 4.0, 50.0, np.inf])


def text_of(lines):
    return np.array([word for line in lines for word in (*line, 2)], dtype=np.int64)


def outcome(stanza, path):
    """The documents of a file, or what the reader says against it."""
    try:
        return readers.read_documents(stanza, [path])
    except InputError as error:
        return str(error)


def estimated(lines, order, rule):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kneser_ney.DiscountWarning)
        return kneser_ney.estimate(text_of(lines), TYPES, order, rule)


@given(sentences, orders, rules, st.lists(st.sampled_from([0, *range(3, TYPES)]), max_size=4))
def test_kneser_ney_is_a_distribution_after_any_history(lines, order, rule, history):
    conditional = estimated(lines, order, rule).conditional(np.array(history, dtype=np.int64))
    assert np.isfinite(conditional).all()
    assert (conditional >= 0.0).all()
    assert conditional.sum() == pytest.approx(1.0, abs=1e-12)


@given(sentences, orders, rules, st.randoms(use_true_random=False), sentences)
def test_kneser_ney_ignores_the_order_of_sentences(lines, order, rule, random, scored):
    shuffled = random.sample(lines, len(lines))
    before, after = (estimated(given_, order, rule).probabilities(text_of(scored)) for given_ in (lines, shuffled))
    assert np.array_equal(before, after)
    assert np.isfinite(evaluate.losses(before)).all()


@given(sentences, orders, rules, permutations, sentences)
def test_kneser_ney_ignores_the_numbering_of_words(lines, order, rule, renamed, scored):
    model = estimated(lines, order, rule)
    other = estimated([renamed[line].tolist() if line else [] for line in lines], order, rule)
    assert np.array_equal(model.probabilities(text_of(scored)), other.probabilities(renamed[text_of(scored)]))


@given(sentences, vectors, betas)
def test_the_cache_and_its_mixture_are_distributions(lines, vectors, beta):
    document = text_of([*lines, [3]])
    found = cache.cache_distribution(document, vectors, vectors, beta)
    assert np.isfinite(found).all()
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    model = estimated(lines, 2, "modified").conditional(np.array([3]))
    assert cache.mixture(model, found, 0.7).sum() == pytest.approx(1.0, abs=1e-12)


@given(st.lists(sentences, min_size=1, max_size=4), vectors, betas, st.randoms(use_true_random=False))
def test_the_cache_ignores_the_order_of_documents(documents, vectors, beta, random):
    texts = [text_of(lines) for lines in documents]
    order = random.sample(range(len(texts)), len(texts))
    one = cache.cache_probabilities(texts, vectors, vectors, [beta])
    other = cache.cache_probabilities([texts[place] for place in order], vectors, vectors, [beta])
    for place, found in zip(order, other, strict=True):
        assert np.array_equal(one[place], found, equal_nan=True)
        assert not np.isnan(found[:, 2:]).any()


@given(sentences, vectors, betas, permutations)
def test_the_cache_ignores_the_numbering_of_words(lines, vectors, beta, renamed):
    document = text_of(lines)
    moved = np.empty_like(vectors)
    moved[renamed] = vectors
    (one,) = cache.cache_probabilities([document], vectors, vectors, [beta])
    (other,) = cache.cache_probabilities([renamed[document]], moved, moved, [beta])
    assert np.array_equal(one, other, equal_nan=True)


@given(st.lists(st.tuples(st.text(min_size=1, max_size=5), st.text(max_size=30)), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_whatever_json_lines_hold_is_read_back_or_refused(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("json") / "a.jsonl"
    path.write_text("\n".join(json.dumps({"id": name, "text": text}) for name, text in rows), encoding="utf-8")
    stanza = {"path": str(path), "documents": "files", "heading": "x", "group_pattern": None, "group": None}
    stanza |= {"text": "text", "id": "id"}
    found = outcome(stanza, path)
    repeated = len({name for name, _ in rows}) < len(rows)
    if isinstance(found, str):
        assert "occurs more than once" in found if repeated else "surrogate" in found
    else:
        assert [(document.id, document.text) for document in found] == rows


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_read_or_refused_with_their_offset(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("bytes") / "a.txt"
    path.write_bytes(data)
    stanza = {"path": str(path), "documents": "lines", "heading": "x", "group_pattern": None, "tokens": "words"}
    stanza |= {"lowercase": True, "reserved": "refuse"}
    found = outcome(stanza, path)
    if isinstance(found, str):
        assert "not UTF-8 at byte" in found or "there is no document in it" in found
    else:
        for document in found:
            readers.tokenise_document(document, stanza)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60), st.booleans())
def test_words_of_a_text_are_those_of_its_sentences(text, lowercase):
    normal, _ = tokens.normalise(text)
    found = [word for sentence in tokens.tokenise(normal, lowercase) for word in sentence]
    assert found == [word for line in normal.split("\n") for word in tokens.words(line, lowercase)]
