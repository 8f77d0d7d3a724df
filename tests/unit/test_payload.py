"""The laboratory's data: every number in it is a table's."""

import base64
import json

import numpy as np
import pytest

import small_run
from attnkernel import payload
from attnkernel.corpus.tokens import SENTENCE_END
from attnkernel.language import open_vocabulary
from attnkernel.language.cache import cache_probabilities
from attnkernel.language.speller import Speller


@pytest.fixture
def document(small):
    return small.documents[0]


def test_the_document_of_median_length_is_chosen_and_names_decide_ties():
    lengths, names = np.array([30, 10, 20, 20]), ["a", "b", "d", "c"]
    assert [payload.at_quantile(lengths, names, q) for q in (0.0, 0.5, 1.0)] == [1, 2, 0]
    assert payload.at_quantile(np.array([5]), ["only"], 0.5) == 0
    assert payload.at_quantile(np.array([20, 20, 20]), ["z", "x", "y"], 0.5) == 2


def test_models_are_kneser_ney_the_ends_of_the_grid_the_choice_and_the_learned_kernel(small):
    assert [(kind.key, kind.column, kind.weight) for kind in small.kinds] == [
        ("kn", "kn", 1.0),
        ("unigram", "cache_0", 0.9),
        ("chosen", "cache_2", 0.8),
        ("bigram", "cache_inf", 0.85),
        ("learned", "learned", 0.75),
    ]


@pytest.mark.parametrize("chosen", [0, 2])
def test_a_choice_at_an_end_of_the_grid_is_shown_once(chosen):
    grid = {
        "beta": np.array([0.0, 2.0, np.inf]),
        "lambda": np.array([0.9, 0.8, 0.7]),
        "chosen": np.arange(3) == chosen,
    }
    keys = [kind.key for kind in payload.models(grid, {"lambda": np.array([0.5]), "chosen": np.array([True])})]
    assert keys == (["kn", "chosen", "bigram", "learned"] if chosen == 0 else ["kn", "unigram", "chosen", "learned"])


@pytest.mark.parametrize("key", ["unigram", "chosen", "bigram", "learned"])
def test_kernel_weights_sum_to_the_probability_in_the_table(document, key):
    model = next(model for model in document.models if model.key == key)
    for position in range(2, len(document.token)):
        weights = payload.kernel_weights(document.code, position, *document.kernels[key], model.beta)
        assert weights.sum() == pytest.approx(1.0, abs=1e-12)
        same = document.code[1:position] == document.code[position]
        assert weights[same].sum() == pytest.approx(document.probability[model.column][position], abs=1e-12)


def test_the_heaviest_positions_are_sorted_and_the_nearer_comes_first_among_equals():
    weights = np.array([0.1, 0.4, 0.1, 0.4, 0.0])
    assert payload.heaviest(weights, 3) == ([4, 2, 3], [0.4, 0.4, 0.1])
    assert payload.heaviest(weights, 8)[0] == [4, 2, 3, 1]
    assert payload.heaviest(np.zeros(0), 8) == ([], [])


def test_the_selected_token_saves_most_among_known_words_that_occurred_before(document):
    position = payload.selected(document, len(document.token))
    chosen = next(model for model in document.models if model.key == "chosen")
    saving = document.bits(document.models[0]) - document.bits(chosen)
    eligible = [
        t
        for t in range(2, len(document.token))
        if document.known[t] and document.token[t] != SENTENCE_END and document.code[t] in document.code[1:t]
    ]
    assert position == max(eligible, key=lambda t: saving[t])
    assert payload.selected(document, 2) == -1


def test_bits_per_character_spell_unknown_words_and_count_separators(document):
    kneser_ney = document.models[0]
    unknown = [token == "unheard" for token in document.token]
    assert (document.spelling > 0).tolist() == unknown
    nats = -np.log(document.probability["kn"]).sum() + np.log(2) * document.spelling.sum()
    length = sum(1 if token == SENTENCE_END else len(token) + 1 for token in document.token)
    assert document.bits_per_character(kneser_ney) == pytest.approx(nats / np.log(2) / length, rel=1e-14)


def test_the_table_states_what_the_payload_shows(small):
    laboratory = small.tables["laboratory"]
    described = [(entry, model) for entry in small.data["documents"] for model in entry["models"]]
    assert len(laboratory["model"]) == len(described)
    for row, (entry, model) in enumerate(described):
        assert laboratory["document"][row] == entry["name"]
        assert laboratory["model"][row] == model["key"]
        assert laboratory["bits_per_character"][row] == model["bits_per_character"]
        assert laboratory["position"][row] == entry["selected"]
        assert laboratory["token"][row] == entry["token"][entry["selected"]]
        if "cache" in model:
            assert laboratory["token_cache"][row] == model["cache"][entry["selected"]]


def test_a_filing_costs_what_the_open_vocabulary_says_and_copies_words_as_written(small):
    filing, text = small.documents[1], small.text
    read = open_vocabulary.read(open_vocabulary.excerpt(small_run.FILINGS["text"][0], 200), text.vocabulary)
    speller = Speller(text.vocabulary[3:], 3)
    kernels = [
        open_vocabulary.Kernel(
            kind.key,
            *(vectors[: len(text.vocabulary)] for vectors in filing.kernels[kind.key]),
            1.0 if np.isnan(kind.beta) else kind.beta,
            kind.weight,
        )
        for kind in small.kinds[1:]
    ]
    bits = open_vocabulary.article_bits(read, small.model, speller, text.vocabulary, kernels)
    for kind in small.kinds:
        np.testing.assert_allclose(filing.bits(kind), bits[kind.key], rtol=1e-12)
    copied = filing.token.index("widgets", filing.token.index("widgets") + 1)
    assert not filing.known[copied]
    assert filing.probability["cache_2"][copied] > 0.0
    assert filing.title == "filing: Acme Inc. 10-K"


def test_no_filings_are_no_documents(small):
    nothing = {name: column[:0] for name, column in small_run.FILINGS.items()}
    assert payload.filing_documents(nothing, 200, [], None, small.kinds, None, {}, speller_order=3) == []


def test_a_long_document_is_shown_from_its_start_and_summed_to_its_end(document):
    entry = payload.document_entry(document, shown=10, count=3)
    assert entry["token"] == document.token[:10]
    assert entry["tokens"] == len(document.token)
    assert entry["models"][0]["bits_per_character"] == document.bits_per_character(document.models[0])
    assert all(len(positions) <= 3 for positions in entry["models"][1]["positions"])
    assert {len(entry[name]) for name in ("code", "known", "spelling", "kn")} == {10}


def test_the_circle_is_that_of_its_tables(small):
    first = small.data["circle"][0]
    curve = small.tables["risk_curve"]
    here = (curve["spectrum"] == "smooth") & (curve["n"] == 16)
    for name in ("c", "risk", "bias2", "variance", "gain1"):
        assert first[name] == curve[name][here].tolist()
    assert np.abs(np.array(first["c"]) - first["c_star"]).argmin() == first["nearest"]
    assert len(first["noisy"]) == 16
    assert len(first["true"]) == 41


def test_the_census_shows_published_values_only_where_there_are_any(small):
    attention, elman = small.data["census"]
    assert attention["published"] == pytest.approx(np.log10(2.22e-4))
    assert elman["published"] is None
    assert elman["ours"] == -60.25  # below what a double holds as 10^x in some tools, so the exponent is kept


def test_exported_vectors_keep_ties_and_move_a_cache_probability_by_less_than_a_shown_digit(small, document):
    exported = small.data["text"]
    words = exported["words"]
    assert exported["row"][words.index("rose")] == exported["row"][words.index("fell")]
    components = np.frombuffer(base64.b64decode(exported["vectors"]), dtype="<i2").reshape(-1, exported["dimensions"])
    rounded = components[exported["row"]] / 32767.0
    [before] = cache_probabilities([document.code], small.vectors, small.vectors, [0.0, 2.0, np.inf])
    [after] = cache_probabilities([document.code], rounded, rounded, [0.0, 2.0, np.inf])
    np.testing.assert_allclose(after, before, atol=1e-4)


def test_the_payload_is_plain_json_of_the_same_bytes_every_time(small):
    text = payload.to_text(small.data)
    assert json.loads(text) == small.data
    assert payload.to_text(json.loads(text)) == text
    assert "NaN" not in text
