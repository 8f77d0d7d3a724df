from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnkernel.language.kneser_ney import (
    SCORING,
    DiscountWarning,
    backoff_for_texts,
    counts_of_counts,
    discounts,
    estimate,
    from_columns,
    to_columns,
)

# Toy texts are too small for the discounts of most levels; the tests of the warning catch it themselves.
pytestmark = pytest.mark.filterwarnings("ignore::attnkernel.language.kneser_ney.DiscountWarning")

UNKNOWN, START, END = 0, 1, 2
TYPES = 9
WORDS = [0, *range(3, TYPES)]
sentence_lists = st.lists(st.lists(st.sampled_from(WORDS), max_size=7), min_size=1, max_size=12)
rules = st.sampled_from(["modified", "single", 0.75])


def flat(sentences):
    return np.array([word for sentence in sentences for word in [*sentence, END]], dtype=np.int64)


def ids_of(sentences):
    tokens = ["<unk>", "<s>", "</s>", *dict.fromkeys(" ".join(sentences).split())]
    ids = {token: i for i, token in enumerate(tokens)}
    return ids, flat([[ids[word] for word in sentence.split()] for sentence in sentences])


def zipf_sentences(rng, number, types):
    """Sentences with a long tail of rare words, so that every count of counts is there."""
    return [(3 + rng.zipf(1.5, size=rng.integers(1, 9)) % (types - 3)).tolist() for _ in range(number)]


class Textbook:
    """Kneser-Ney straight from its definition, on dictionaries, with the discounts of the model under test."""

    def __init__(self, sentences, types, order, amounts):
        self.types, self.order, self.amounts = types, order, amounts
        padded = [[START, *sentence, END] for sentence in sentences]
        before = defaultdict(set)
        occurrences = Counter()
        for sentence in padded:
            for end in range(1, len(sentence)):
                for n in range(1, order + 1):
                    first = end - n + 1
                    if first >= 0:
                        ngram = tuple(sentence[first : end + 1])
                        occurrences[ngram] += 1
                        if first > 0:
                            before[ngram].add(sentence[first - 1])
        self.count = {
            ngram: number if len(ngram) == order or ngram[0] == START else len(before[ngram])
            for ngram, number in occurrences.items()
        }

    def probability(self, word, history):
        history = tuple(history)[max(0, len(history) - self.order + 1) :]
        lower = self.probability(word, history[1:]) if history else (0.0 if word == START else 1 / (self.types - 1))
        counts = {w: self.count.get((*history, w), 0) for w in range(self.types)}
        total = sum(counts.values())
        if total == 0:
            return lower
        taken = {w: self.amounts[len(history)][min(c, 3) - 1] if c else 0.0 for w, c in counts.items()}
        return (counts[word] - taken[word]) / total + sum(taken.values()) / total * lower


@settings(max_examples=60, deadline=None)
@given(sentence_lists, st.integers(1, 4), rules, st.lists(st.sampled_from(WORDS), max_size=4))
def test_every_conditional_is_a_positive_distribution_over_the_closed_vocabulary(sentences, order, rule, history):
    distribution = estimate(flat(sentences), TYPES, order, rule).conditional(np.array(history, dtype=np.int64))
    assert distribution[START] == 0.0
    assert (np.delete(distribution, START) > 0.0).all()
    assert distribution.sum() == pytest.approx(1.0, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(sentence_lists, sentence_lists, st.integers(1, 4), rules)
def test_a_scored_token_has_the_textbook_probability_and_that_of_its_conditional(training, scored, order, rule):
    model = estimate(flat(training), TYPES, order, rule)
    textbook = Textbook(training, TYPES, order, model.discounts)
    probabilities = iter(model.probabilities(flat(scored)))
    for sentence in scored:
        for i, word in enumerate([*sentence, END]):
            history = sentence[:i]
            p = next(probabilities)
            assert p == pytest.approx(textbook.probability(word, [START, *history]), rel=1e-12)
            assert p == pytest.approx(model.conditional(np.array(history, dtype=np.int64))[word], rel=1e-12)


def test_the_order_of_the_sentences_changes_no_bit():
    rng = np.random.default_rng(1)
    sentences = zipf_sentences(rng, 400, 60)
    model = estimate(flat(sentences), 60)
    shuffled = estimate(flat([sentences[i] for i in rng.permutation(len(sentences))]), 60)
    for name, column in to_columns(model).items():
        np.testing.assert_array_equal(to_columns(shuffled)[name], column, err_msg=name)


def test_the_numbering_of_the_words_changes_no_bit_of_a_probability():
    rng = np.random.default_rng(2)
    text = flat(zipf_sentences(rng, 400, 60))
    renumbered = np.concatenate((np.arange(3), 3 + rng.permutation(57)))
    expected = estimate(text, 60).probabilities(text)
    np.testing.assert_array_equal(estimate(renumbered[text], 60).probabilities(renumbered[text]), expected)


def test_a_model_survives_its_columns_to_the_bit():
    text = flat(zipf_sentences(np.random.default_rng(3), 200, 40))
    model = estimate(text, 40)
    columns = to_columns(model)
    assert len({len(column) for column in columns.values()}) == 1
    again = from_columns(columns)
    assert (again.types, again.order) == (40, 3)
    np.testing.assert_array_equal(again.discounts, model.discounts)
    np.testing.assert_array_equal(again.probabilities(text), model.probabilities(text))
    for name, column in to_columns(again).items():
        np.testing.assert_array_equal(column, columns[name], err_msg=name)


@settings(max_examples=40, deadline=None)
@given(sentence_lists, st.lists(sentence_lists, min_size=1, max_size=3), st.integers(1, 4), st.integers(1, 9))
def test_what_a_text_needs_of_a_model_gives_it_the_same_probabilities_to_the_bit(training, scored, order, rows):
    model, texts = estimate(flat(training), TYPES, order), [flat(sentences) for sentences in scored]
    columns = {name: to_columns(model)[name] for name in SCORING}
    cuts = range(0, len(columns["order"]), rows)
    pieces = ({name: column[cut : cut + rows] for name, column in columns.items()} for cut in cuts)
    needed = backoff_for_texts(pieces, texts)
    assert all(len(level.keys) <= TYPES + sum(map(len, texts)) + 1 for level in needed.levels)
    for text in texts:
        ours, whole = needed.score(text), model.score(text)
        np.testing.assert_array_equal(ours.probability, whole.probability)
        np.testing.assert_array_equal(ours.matched, whole.matched)


def test_no_history_reaches_across_a_sentence_end():
    model = estimate(flat([[3, 4, 5], [4, 3], [5, 5, 3]]), 6)
    alone = [model.probabilities(flat([s])) for s in ([3, 4], [], [4, 5, 3])]
    np.testing.assert_array_equal(model.probabilities(flat([[3, 4], [], [4, 5, 3]])), np.concatenate(alone))


def test_the_matched_length_is_that_of_the_longest_stored_ngram():
    model = estimate(flat([[3, 4, 5], [4, 3]]), 7)
    # After <s>: "3" was seen, "3 4" and "3 4 5" too, "6" never, and after it nothing of use.
    assert model.score(np.array([3, 4, 5, 6, 3, END])).matched.tolist() == [2, 3, 3, 1, 1, 2]


def test_orders_beyond_the_longest_sentence_add_nothing():
    text = flat([[3], [4], [3]])
    longest, beyond = estimate(text, 5, order=3), estimate(text, 5, order=6)
    scored = flat([[3, 4, 3, 3, 4], [4]])
    assert len(beyond.levels[-1].keys) == 0
    np.testing.assert_allclose(beyond.conditional(np.array([3]))[END], longest.conditional(np.array([3]))[END])
    assert np.isfinite(beyond.probabilities(scored)).all()


def test_modified_discounts_are_those_of_chen_and_goodman():
    # Y = 100 / 180; D = 1 - 2Y 40/100, 2 - 3Y 20/40, 3 - 4Y 12/20.
    np.testing.assert_allclose(discounts(np.array([100, 40, 20, 12])), [5 / 9, 7 / 6, 5 / 3])
    np.testing.assert_allclose(discounts(np.array([100, 40, 20, 12]), "single"), [5 / 9] * 3)


def test_counts_of_counts_stop_at_four():
    assert counts_of_counts(np.array([0, 1, 1, 2, 4, 4, 4, 5, 900])).tolist() == [2, 1, 0, 3]
    assert counts_of_counts(np.array([], dtype=np.int64)).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("of_counts", "rule", "fallback", "why"),
    [
        ((4, 2, 5, 1), "modified", (0.5, 1.0, 1.5), "order 2: the discounts 0.5, -1.75, 2.6 leave .*4, 2, 5, 1"),
        ((3, 0, 2, 1), "modified", (0.5, 1.0, 1.5), "order 2: a count of counts is zero .*3, 0, 2, 1"),
        ((4, 1, 1, 0), "modified", (0.5, 1.0, 1.5), "order 2: the discounts 0.6667, 0, 3 leave"),
        ((0, 2, 0, 0), "single", (0.75, 0.75, 0.75), "order 2: a count of counts is zero .*0, 2, 0, 0"),
    ],
)
def test_undefined_discounts_fall_back_with_a_warning_that_names_order_and_counts(of_counts, rule, fallback, why):
    with pytest.warns(DiscountWarning, match=why):
        assert tuple(discounts(np.array(of_counts), rule, order=2)) == fallback


def test_one_line_three_times_falls_back_at_every_order_and_stays_a_distribution():
    with pytest.warns(DiscountWarning) as warned:
        model = estimate(flat([[3, 4]] * 3), 5)
    assert [str(w.message).split(":")[0] for w in warned] == [f"Kneser-Ney order {n}" for n in (1, 2, 3)]
    for history in ([], [3], [3, 4], [4, 4], [0]):
        distribution = model.conditional(np.array(history, dtype=np.int64))
        assert distribution.sum() == pytest.approx(1.0, abs=1e-12)
        assert (np.delete(distribution, START) > 0).all()


def test_an_unknown_word_has_the_worked_probability():
    ids, text = ids_of(["san francisco"] * 5 + ["blue glasses", "red glasses"])
    model = estimate(text, len(ids), order=2, discounting=0.75)
    assert model.conditional(np.array([ids["san"]]))[UNKNOWN] == pytest.approx(0.0120535714, abs=5e-11)
    unseen = model.conditional(np.array([UNKNOWN]))
    assert unseen[UNKNOWN] == pytest.approx(0.0803571429, abs=5e-11)
    assert unseen[ids["francisco"]] == pytest.approx(0.1116071429, abs=5e-11)
    assert unseen[ids["glasses"]] == pytest.approx(0.2366071429, abs=5e-11)


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ([], {}, "at least one sentence"),
        ([3, 2, 4], {}, "end with </s>"),
        ([3, 9, 2], {}, r"word ids must lie in \[0, 6\): found 2 to 9"),
        ([1, 3, 2], {}, "contains <s>"),
        ([[3, 2]], {}, "one-dimensional"),
        ([3.0, 2.0], {}, "integer word ids"),
        ([3, 2], {"order": 0}, "order must be at least 1"),
        ([3, 2], {"discounting": 1.5}, r"discount must lie in \(0, 1\]"),
        ([3, 2], {"discounting": "double"}, "'modified', 'single'"),
    ],
)
def test_what_cannot_be_estimated_is_refused_with_the_reason(text, arguments, message):
    with pytest.raises(ValueError, match=message):
        estimate(np.array(text), 6, **arguments)


def test_a_history_that_is_over_is_refused():
    with pytest.raises(ValueError, match="contains </s>"):
        estimate(flat([[3]]), 4).conditional(np.array([3, END]))


def test_an_empty_text_has_no_scores():
    assert len(estimate(flat([[3]]), 4).probabilities(np.array([]))) == 0
