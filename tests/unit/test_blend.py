"""The blend: every expert a distribution, every prediction causal, and the regret of the Bayesian mixture bounded."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attnkernel.language import blend
from attnkernel.language.cache import cache_probabilities
from attnkernel.language.speller import Speller

SETTINGS = {
    "order": 3,
    "dimensions": 4,
    "window": 2,
    "skips": [[2, 0.3], [3, 0.2]],
    "beta": 3.0,
    "context": [1, 0.5, 0.25],
    "memory": 20,
    "document": 3,
    "rescaling": [10, 0.7],
    "rate": 0.2,
}
TEXT = """
the cost of revenue rose </s> the cost of sales fell </s> revenue rose and sales rose </s> cost fell </s>
the price of oil rose </s> the price of gas fell </s> oil and gas prices rose </s> revenue of gas fell </s>
"""
ANOTHER = "the cost of zyltech rose </s> zyltech and the price of zyltech rose </s> qua zyltech fell"
TRAINING, DOCUMENT = TEXT.split(), ANOTHER.split()


@pytest.fixture(scope="module")
def trained():
    vocabulary = ["<unk>", "<s>", "</s>", *sorted(set(TRAINING) - {"</s>"})]
    number = {word: index for index, word in enumerate(vocabulary)}
    with pytest.warns(UserWarning, match="falling back"):
        return blend.train(np.array([number[word] for word in TRAINING]), vocabulary, SETTINGS)


def following(trained, document):
    """The experts before each token of a document, with the ids of the tokens so far and the coming one."""
    experts = blend.Experts(trained, SETTINGS)
    number = {word: index for index, word in enumerate(trained.vocabulary)}
    seen = []
    for word in document:
        coming = number.get(word, 0)
        yield experts, list(seen), coming
        number[word] = experts.add(coming)
        seen.append(number[word])


def test_every_expert_is_a_distribution_over_the_ids_so_far(trained):
    for experts, seen, _ in following(trained, DOCUMENT):
        rows = dict(zip(experts.names, experts.rows(), strict=True))
        assert all(len(row) <= experts.size and (row >= 0.0).all() for row in rows.values())
        sums = [row.sum() for row in rows.values() if len(row)]
        assert sums == pytest.approx([1.0] * len(sums))
        assert bool(len(rows["kernel"])) == (len(seen) >= 2)


def test_the_mixture_sums_to_one_over_the_words_that_have_a_number_and_a_new_one(trained):
    gate = None
    for experts, _, coming in following(trained, DOCUMENT):
        gate = gate or blend.Gate(len(experts.names), len(experts.contexts()), 0.2)
        rows = experts.rows()
        weights = gate.weights(experts.contexts(), np.array([len(row) > 0 for row in rows]))
        total = sum(weight * row.sum() for weight, row in zip(weights, rows, strict=True))
        assert total == pytest.approx(1.0)
        gate.learn(experts.contexts(), weights, np.array([row[coming] if coming < len(row) else 0.0 for row in rows]))


def test_the_walk_is_kneser_ney_to_the_last_bit(trained):
    number = {word: index for index, word in enumerate(trained.vocabulary)}
    walk, sentence = blend.Walk(trained.model), []
    for word in DOCUMENT:
        assert np.array_equal(walk.distribution(), trained.model.conditional(np.array(sentence, dtype=np.int64)))
        walk.step(number.get(word, 0))
        sentence = [] if word == "</s>" else [*sentence, number.get(word, 0)]


def test_the_kernel_is_the_cache_of_definition_3(trained):
    document = [word for word in DOCUMENT if word in trained.vocabulary]
    ids = np.array([trained.vocabulary.index(word) for word in document])
    similarity = trained.similarity
    (expected,) = cache_probabilities([ids], similarity, similarity, SETTINGS["beta"])[0]
    found = [
        dict(zip(experts.names, experts.rows(), strict=True))["kernel"][coming]
        for experts, seen, coming in following(trained, document)
        if len(seen) >= 2
    ]
    assert found == pytest.approx(expected[2:].tolist(), rel=1e-9)


def test_the_kernel_of_several_words_is_that_over_all_pairs_of_positions(trained):
    steps = list(following(trained, DOCUMENT))
    new = len(set(DOCUMENT) - set(trained.vocabulary))
    similarity = np.vstack([trained.similarity, np.zeros((new, trained.similarity.shape[1]))])
    ids = steps[-1][1]
    expected = blend.context_caches(np.array(ids), similarity, SETTINGS["context"], [SETTINGS["beta"]])[0]
    found = [
        dict(zip(experts.names, experts.rows(), strict=True))["context kernel"][ids[len(seen)]]
        for experts, seen, coming in following(trained, DOCUMENT[:-1])
        if len(seen) >= 2 and coming
    ]
    known = [t for t in range(2, len(ids)) if ids[t] < len(trained.vocabulary) or ids[t] in ids[:t]]
    kept = [t for t in known if DOCUMENT[t] in trained.vocabulary or DOCUMENT[t] in DOCUMENT[:t]]
    assert found == pytest.approx(expected[kept].tolist(), rel=1e-9)


def test_the_log_linear_expert_is_the_normalised_product(trained):
    strength, power = SETTINGS["rescaling"]
    vocabulary = trained.vocabulary
    for experts, seen, _ in following(trained, DOCUMENT):
        rows = dict(zip(experts.names, experts.rows(), strict=True))
        classes = [token if token < len(vocabulary) else 0 for token in seen]
        # New words count once, when they are new.
        counted = [
            token if token < len(vocabulary) else 0
            for t, token in enumerate(seen)
            if token not in seen[:t] or token < len(vocabulary)
        ]
        count = np.bincount(counted, minlength=len(vocabulary))
        product = rows["kneser-ney"] * ((count + strength * trained.unigram) / trained.unigram) ** power
        for distance, exponent in SETTINGS["skips"]:
            if distance <= len(classes):
                product *= skipped(trained, classes[-distance], distance) ** exponent
        assert rows["log-linear"] == pytest.approx(product / product.sum(), rel=1e-9)


def skipped(trained, before, distance):
    """p(w | the word `distance` tokens before) over p(w), by counting."""
    ids = [trained.vocabulary.index(word) for word in TRAINING]
    after = [w for h, w in zip(ids, ids[distance:], strict=False) if h == before]
    count = np.bincount(after, minlength=len(trained.vocabulary))
    if not after:
        return np.ones(len(count))
    kinds = len(set(after))
    return (np.maximum(count - 0.75, 0.0) / len(after) + 0.75 * kinds / len(after) * trained.unigram) / trained.unigram


def test_a_prediction_depends_on_earlier_tokens_alone(trained):
    short, long = (blend.trace(trained, document, SETTINGS) for document in (DOCUMENT[:9], DOCUMENT))
    assert np.array_equal(short.probability, long.probability[:, :9])
    assert np.array_equal(blend.gated(short, 0.2), blend.gated(long, 0.2)[:9])


def test_a_word_copied_is_likelier_than_its_spelling(trained):
    read = blend.trace(trained, DOCUMENT, SETTINGS)
    spelled = blend.spelling_bits(DOCUMENT, trained.vocabulary, Speller(trained.vocabulary[3:], 4))
    assert np.flatnonzero(spelled).tolist() == [3, 14]
    assert -np.log2(blend.gated(read, 0.2)[6]) < spelled[3]


def test_the_gate_moves_to_the_expert_that_foresees():
    half = np.full((2, 200), 0.5)
    half[1] = 0.05
    plain = blend.Trace(["good", "poor"], half, np.ones((2, 200), dtype=bool), np.zeros((200, 1), dtype=np.int64))
    probability = blend.gated(plain, 0.2)
    assert probability[0] == pytest.approx(0.275)
    assert probability[-1] > 0.49


@given(arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 12)), elements=st.floats(1e-6, 1.0)))
def test_the_bayesian_mixture_loses_at_most_log2_of_its_experts_to_the_best(probabilities):
    bits = blend.bayes_mixture(probabilities)
    each = -np.log2(probabilities).sum(axis=1)
    assert bits.sum() - each.min() <= np.log2(len(each)) + 1e-9
    assert 2.0 ** -bits.sum() == pytest.approx(probabilities.prod(axis=1).mean(), rel=1e-6)


def test_the_bayesian_mixture_is_a_posterior_mixture_at_every_token():
    probabilities = np.array([[0.5, 0.1, 0.9], [0.25, 0.8, 0.3]])
    posterior = np.array([0.5, 0.5])
    for column, bits in zip(probabilities.T, blend.bayes_mixture(probabilities), strict=True):
        assert 2.0**-bits == pytest.approx(posterior @ column)
        posterior = posterior * column / (posterior @ column)


def test_the_scale_of_counts_is_powers_of_two():
    assert [blend._scale(count, 4) for count in (0, 1, 2, 3, 4, 7, 8, 100)] == [0, 1, 2, 2, 3, 3, 4, 4]


def test_every_pair_of_rows_before_training_text_ends(trained):
    # Skipped pairs partition the training text: each follows each history as often as it was counted.
    for skips in trained.skips:
        spans = itertools.pairwise(skips.start.tolist())
        assert all((skips.factor[a:b] > 1.0).all() for a, b in spans)
