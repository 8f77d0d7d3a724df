"""The synthetic corpus: a function of its seed, seated as Pitman and Yor say, in the words of its grammar."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attnkernel.corpus import synthetic
from attnkernel.corpus.synthetic import Parameters, Restaurant, generate
from attnkernel.language import evaluate

PARAMETERS = Parameters(
    documents=760,
    kinds={"call": 0.4, "filing": 0.35, "profile": 0.25},
    sentences=(12, 22),
    phrase_discount=0.69,
    phrase_strength=50.0,
    word_discount=0.85,
    word_strength=100.0,
    phrase_lengths=(0.3, 0.5, 0.2),
    shapes={"root": 0.25, "prefixed": 0.2, "suffixed": 0.2, "both": 0.15, "compound": 0.2},
    companies=42,
    people=2,
    products=1,
    places=2,
    rivals=1,
)
SMALL = replace(PARAMETERS, documents=40)


@pytest.fixture(scope="module")
def corpus():
    return generate(PARAMETERS, np.random.SeedSequence(1))


def restaurant(discount, strength, seed=0):
    names = iter(range(10**6))
    return Restaurant(discount, strength, lambda: next(names), np.random.default_rng(seed))


def test_the_same_seed_gives_the_same_corpus_and_leaves_the_seed_as_it_was():
    seed = np.random.SeedSequence(7)
    assert generate(SMALL, seed) == generate(SMALL, seed)
    assert generate(SMALL, seed) != generate(SMALL, np.random.SeedSequence(8))


def test_a_document_does_not_depend_on_how_many_follow():
    seed = np.random.SeedSequence(7)
    assert generate(replace(SMALL, documents=15), seed) == generate(SMALL, seed)[:15]


def test_the_order_of_the_configuration_does_not_matter():
    shuffled = replace(SMALL, kinds=dict(reversed(SMALL.kinds.items())), shapes=dict(reversed(SMALL.shapes.items())))
    assert generate(shuffled, np.random.SeedSequence(7)) == generate(SMALL, np.random.SeedSequence(7))


def test_document_ids_are_unique_and_lengths_lie_in_their_range(corpus):
    assert len({document.id for document in corpus}) == len(corpus) == PARAMETERS.documents
    lengths = {len(document.sentences) for document in corpus}
    assert lengths == set(range(12, 23))


@pytest.mark.parametrize(("discount", "strength"), [(0.0, 5.0), (0.5, 0.0), (0.85, 100.0), (0.5, -0.4)])
def test_the_predictive_probabilities_of_a_restaurant_sum_to_one(discount, strength):
    seated = restaurant(discount, strength)
    for _ in range(200):
        predictive = seated.predictive()
        assert predictive.min() >= 0.0
        assert predictive.sum() == pytest.approx(1.0, abs=1e-12)
        seated.draw()
    assert sum(seated.sizes) == 200


def test_customers_join_tables_with_the_predictive_probabilities():
    seated = restaurant(0.6, 2.0)
    for _ in range(30):
        seated.draw()
    occupied = np.array(seated.sizes)
    draws = 40_000
    counts = np.bincount([seated._occupied() for _ in range(draws)], minlength=len(occupied))
    expected = (occupied - 0.6) / (occupied - 0.6).sum()
    z = (counts / draws - expected) / np.sqrt(expected * (1 - expected) / draws)
    assert np.abs(z).max() < 4.0


def test_the_expected_number_of_tables_is_that_of_pitman_and_yor():
    discount, strength, customers = 0.7, 3.0, 300
    # E T_n = (strength / discount) (prod_{i<n} (strength + discount + i) / (strength + i) - 1).
    i = np.arange(customers)
    expected = strength / discount * (np.prod((strength + discount + i) / (strength + i)) - 1)
    tables = []
    for seed in range(200):
        seated = restaurant(discount, strength, seed)
        for _ in range(customers):
            seated.draw()
        tables.append(len(seated.sizes))
    assert abs(np.mean(tables) - expected) < 4 * np.std(tables) / np.sqrt(len(tables))


def test_every_slot_of_the_grammar_is_declared():
    text = " ".join(
        form
        for table in (synthetic.OPENINGS, synthetic.FORMS, synthetic.CLOSINGS, synthetic.LISTS)
        for forms in table.values()
        for form in forms
    )
    slots = set(re.findall(r"\{(\w+)\}", text + " ".join(synthetic.SHARED_FORMS)))
    names = {"company", "rival", "person", "product", "place"}
    assert slots == names | {"np", "noun"} | set(synthetic.LISTS)


def test_the_text_holds_words_only(corpus):
    words = Counter(word for document in corpus for sentence in document.sentences for word in sentence)
    assert all(re.fullmatch(r"[a-z]+|'s|[a-z]+'s", word) for word in words)
    assert all(sentence for document in corpus for sentence in document.sentences)


def test_every_alternative_of_the_grammar_is_written(corpus):
    words = {word for document in corpus for sentence in document.sentences for word in sentence}
    for table in (synthetic.OPENINGS, synthetic.FORMS, synthetic.CLOSINGS, {"": synthetic.SHARED_FORMS}):
        for forms in table.values():
            grammar = set(re.findall(r"[a-z']+", re.sub(r"\{\w+\}", "", " ".join(forms))))
            assert grammar <= words


def test_a_document_is_about_one_company(corpus):
    for document in corpus[:50]:
        named = Counter(word for sentence in document.sentences for word in sentence if word in synthetic.COMPANIES)
        assert len(named) <= 1 + PARAMETERS.rivals


def test_the_pools_of_words_hold_no_word_twice():
    for pool in ("COMPANIES", "SECTORS", "FIRST_NAMES", "LAST_NAMES", "PLACES", "MODELS", "DEVICES", "ROOTS"):
        words = getattr(synthetic, pool)
        assert len(set(words)) == len(words)


def test_repeats_are_as_frequent_and_as_far_back_as_the_article_reports(corpus):
    with (Path(__file__).parents[2] / "config" / "published.csv").open(encoding="utf-8", newline="") as file:
        published = {row["id"]: row for row in csv.DictReader(file)}
    _, token = np.unique(
        [word for document in corpus for sentence in document.sentences for word in [*sentence, "</s>"]],
        return_inverse=True,
    )
    sentences = [len(sentence) + 1 for document in corpus for sentence in document.sentences]
    sentence = np.repeat(np.arange(len(sentences)), sentences)
    documents = np.repeat(np.arange(len(corpus)), [len(document.sentences) for document in corpus])
    mentions = evaluate.mentions(token, documents[sentence], sentence)
    found = {"heldout.repeat.share": mentions.repeat.mean()}
    for name, here in evaluate.distance_groups(mentions.distance, (12, 50)).items():
        found[f"distance.{name}.share"] = here.sum() / mentions.repeat.sum()
        found[f"distance.{name}.earlier_sentence"] = mentions.earlier_sentence[here].mean()
    for name, value in found.items():
        tolerance = float(published[name]["test"].removeprefix("within "))
        assert value == pytest.approx(float(published[name]["published"]), abs=tolerance), name


def test_restaurants_keep_making_new_words(corpus):
    words = [word for document in corpus for sentence in document.sentences for word in sentence]
    half = Counter(words[: len(words) // 2])
    fresh = [word for word in words[len(words) // 2 :] if word not in half]
    assert len(fresh) > 500
    assert sum(count == 1 for count in Counter(words).values()) > len(set(words)) / 3


def test_a_wrong_parameter_is_named():
    seed = np.random.SeedSequence(1)
    with pytest.raises(ValueError, match=r"synthetic\.kinds.*call, filing, profile"):
        generate(replace(SMALL, kinds={"call": 1.0}), seed)
    with pytest.raises(ValueError, match=r"synthetic\.phrase_lengths.*sum to 1"):
        generate(replace(SMALL, phrase_lengths=(0.5, 0.4)), seed)
    with pytest.raises(ValueError, match=r"discount lies in \[0, 1\), got 1.2"):
        generate(replace(SMALL, word_discount=1.2), seed)
    with pytest.raises(ValueError, match="strength is greater"):
        generate(replace(SMALL, phrase_strength=-0.9), seed)
