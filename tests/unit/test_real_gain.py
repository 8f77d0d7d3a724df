"""The gain on real text: over the closed vocabulary, from a gate that development documents taught."""

import numpy as np
import pytest

from attnkernel.corpus.text import Text
from attnkernel.language import blend, kneser_ney, real_gain
from attnkernel.language.cache import cache_probabilities
from attnkernel.language.evaluate import Origin
from attnkernel.language.scored import Scored
from blend_settings import WORD_MODELS

SETTINGS = WORD_MODELS
VOCABULARY = ["<unk>", "<s>", "</s>", *"abcdefg"]
pytestmark = pytest.mark.filterwarnings("ignore::attnkernel.language.kneser_ney.DiscountWarning")


@pytest.fixture(scope="module")
def text():
    generator = np.random.default_rng(1)
    lines = [[*generator.choice(7, 6), -1] for _ in range(60)]
    token = np.array(lines).ravel() + 3
    token[420 // 2 :: 7] = 0
    document = np.repeat(np.arange(6), 70)
    split = np.repeat([0, 0, 0, 1, 2, 2], 70)
    nothing = np.zeros(len(token), dtype=np.int64)
    return Text(
        VOCABULARY, token, token, VOCABULARY, document, [*"uvwxyz"], nothing, nothing, split, document, [*"uvwxyz"]
    )


def test_a_closed_vocabulary_has_no_new_words_and_sums_to_one(text):
    trained = blend.train(text.of("train").token, VOCABULARY, SETTINGS)
    experts = blend.Experts(trained, SETTINGS, closed=True)
    for token in text.of("heldout").token[:40].tolist():
        assert experts.add(token) == token
        assert [row.sum() for row in experts.rows()] == pytest.approx([1.0] * len(experts.names), abs=1.0)
        assert all(len(row) in (0, 1, len(VOCABULARY)) for row in experts.rows())


def test_gains_are_paired_over_kneser_ney_and_related_to_the_kernel_cache(text):
    heldout = text.of("heldout")
    model = kneser_ney.estimate(text.of("train").token, len(VOCABULARY))
    vectors = np.eye(len(VOCABULARY))
    caches = np.concatenate(cache_probabilities(heldout.by_document(), vectors, vectors, [0.0, 2.0]), axis=1)
    kn = model.probabilities(heldout.token)
    origin = Origin(heldout.document, heldout.cluster)
    scored = Scored(heldout.token, heldout.token > 0, origin, heldout.sentence, np.array([0.0, 2.0]), kn, caches)
    grid = {"beta": scored.betas, "lambda": np.array([0.9, 0.8]), "chosen": np.array([False, True])}
    table = real_gain.gain_table(text, scored, grid, {}, SETTINGS)
    assert table["model"].tolist() == ["kn", "mixture", "blend"]
    assert table["loss"][0] == pytest.approx(-np.log(kn).mean())
    assert table["gain"] == pytest.approx(table["loss"][0] - table["loss"])
    assert table["ratio"][2] == pytest.approx(table["gain"][2] / table["gain"][1])
    assert np.isfinite(table["gain_se"]).all()


def test_the_gate_starts_where_development_left_it(text):
    trained = blend.train(text.of("train").token, VOCABULARY, SETTINGS)
    words = np.array(VOCABULARY, dtype=object)
    read = blend.trace(trained, words[text.of("dev").token].tolist(), SETTINGS, closed=True)
    gate = blend.Gate(len(read.names), read.contexts.shape[1], 0.2)
    first = blend.gated(read, 0.2, gate=gate)
    assert np.array_equal(first, blend.gated(read, 0.2))
    assert np.log(blend.gated(read, 0.2, gate=gate)).sum() > np.log(first).sum()
