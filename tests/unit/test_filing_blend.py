"""The filings' chapter on small documents: matches, tables, and what holds without a document."""

import itertools

import numpy as np
import pytest

from attnkernel.corpus.readers import Document
from attnkernel.corpus.text import Text
from attnkernel.figures import filings as figures
from attnkernel.figures import style
from attnkernel.language import filing_blend, filing_tables, open_vocabulary
from attnkernel.language.filing_tables import token_columns
from blend_settings import WORD_MODELS

SETTINGS = WORD_MODELS | {
    "excerpts": [120, None],
    "ablation": [120],
    "points": 3,
    "primed_compressors": ["lzma", "ppmd-6", "ppmd-12"],
    "betas": [0.0, 4.0],
    "lambdas": [0.5, 0.9],
    "pool": None,
    "claimed": ["one", "other"],
}
ONE = "The Company’s costs rose, as costs of Zyltech rose.\nZyltech sells to the Company in Europe.\n" * 3
OTHER = "Prices of oil fell in Europe.\nThe Company sells oil, and the costs of oil fell.\n" * 3
DOCUMENTS = {"id": np.array(["one", "other"], dtype=object), "text": np.array([ONE, OTHER], dtype=object)}
NAMES = ["lee", "other filings"]
pytestmark = pytest.mark.filterwarnings("ignore::attnkernel.language.kneser_ney.DiscountWarning")


@pytest.fixture(scope="module")
def corpus():
    words = ["costs", "rose", "</s>", "prices", "of", "oil", "rose", "</s>", "costs", "of", "oil", "fell", "</s>"]
    vocabulary = ["<unk>", "<s>", "</s>", *sorted(set(words) - {"</s>"})]
    token = np.array([vocabulary.index(word) for word in words])
    nothing = np.zeros(len(token), dtype=np.int64)
    return Text(
        vocabulary, token, token, vocabulary, nothing, ["a"], nothing, np.arange(len(token)), nothing, nothing, ["a"]
    )


def made(documents, corpus):
    seed = np.random.SeedSequence(0)
    runs = [
        filing_blend.together(
            [
                filing_blend.scores(documents, kind, corpus, priming, [], SETTINGS, seed)
                for kind in (filing_tables.NORMALISED, filing_tables.RAW)
            ]
        )
        for priming in (None, filing_blend.OTHERS)
    ]
    texts = [("", "", ""), *((name, "whole", text) for name, text in zip(*documents.values(), strict=True))]
    parts = []
    for name, excerpt, text in texts if len(documents["id"]) else texts[:1]:
        read = open_vocabulary.read(text, corpus.vocabulary)
        parts.append(
            token_columns(
                name, excerpt, read, {"kn": np.full(len(read.token), 2.0), "mixture": np.ones(len(read.token))}
            )
        )
    article = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return runs, filing_blend.tables(documents, filing_blend.OTHERS, NAMES, article, runs, SETTINGS)


@pytest.fixture(scope="module")
def found(corpus):
    return made(DOCUMENTS, corpus)


def test_the_other_filings_prime_and_never_the_document_itself():
    text = Document("a", "group", "text")
    assert filing_blend.primers(DOCUMENTS, "one", filing_blend.OTHERS) == [Document("other", "other", OTHER)]
    assert filing_blend.primers(DOCUMENTS, "one", None) == []
    assert filing_blend.primers(DOCUMENTS, "one", [text]) == [text]


def test_priming_with_text_of_the_kind_saves_bits(found):
    cold, primed = (run.tokens for run in found[0])
    assert primed["bits blend"].sum() < cold["bits blend"].sum()


def test_every_coded_excerpt_comes_back(found):
    coded = found[1]["filings_coded"]
    assert coded["identical"].all()
    sent = list(zip(*(coded[name] for name in ("training", "document", "excerpt", "text")), strict=True))
    assert sorted(sent) == sorted(itertools.product(NAMES, DOCUMENTS["id"], ("120", "whole"), ("normalised", "raw")))


def test_regret_is_within_its_bound(found):
    regret = found[1]["filings_regret"]
    assert regret["holds"].all()
    assert (regret["experts"] == 8).all()
    assert regret["bound"] == pytest.approx(3.0)


def test_the_last_step_of_the_ablation_is_the_blend(found):
    table = found[1]["filings_ablation"]
    bits = {model: table["bits"][table["model"] == model] for model in ("blend", "weights by context")}
    assert np.array_equal(bits["blend"], bits["weights by context"])
    assert set(table["excerpt"]) == {"120"}


def test_the_steps_begin_with_a_trigram_and_have_a_row_of_the_higher_order(found):
    table = found[1]["filings_ablation"]
    assert {"static speller", "kernel of one word", "Kneser-Ney of order 3"} <= set(table["model"])
    bits = {model: table["bits"][table["model"] == model] for model in ("kernel of one word", "Kneser-Ney of order 3")}
    # Here both are trigrams: the same model by two ways.
    assert bits["kernel of one word"] == pytest.approx(bits["Kneser-Ney of order 3"], rel=1e-9)


def test_documents_that_no_claim_is_about_are_known_as_such(found, corpus):
    tables = found[1]
    for claimed, holds in ((["one", "other", "another"], True), (["one"], False)):
        shapes = filing_tables.shape_table(
            tables["filings"], tables["filings_coded"], tables["filings_regret"], NAMES, claimed
        )
        assert shapes["holds"][shapes["shape"] == "documents of the claims"].tolist() == [holds]


def test_a_single_document_has_tables_without_a_primed_match(corpus):
    single = {name: values[:1] for name, values in DOCUMENTS.items()}
    shapes = made(single, corpus)[1]["filings_shapes"]
    assert shapes["value"][shapes["shape"] == "primed blend below each compressor"].tolist() == [-np.inf]


@pytest.mark.parametrize("kind", ["normalised", "raw"])
def test_stated_bits_are_those_of_the_tokens(found, kind):
    run, coded = found[0][0], found[1]["filings_coded"]
    here = (run.tokens["document"] == "one") & (run.tokens["text"] == kind) & (run.tokens["excerpt"] == "120")
    row = (coded["training"] == NAMES[0]) & (coded["document"] == "one") & (coded["text"] == kind)
    row &= coded["excerpt"] == "120"
    assert coded["stated_bits"][row] == pytest.approx([run.tokens["bits blend"][here].sum()])


def test_the_figure_draws_every_code(found, tmp_path):
    growth = found[1]["filings_growth"]
    companies = {name: f"{name}, Inc." for name in growth["document"].tolist()}
    drawing = figures.bits_along(growth, "lee", companies)
    assert [axes.get_title(loc="left") for axes in drawing.axes] == list(companies.values())
    style.save(drawing, tmp_path / "a.svg", tmp_path / "a.png")
    labels = [text.get_text() for text in drawing.legends[0].get_texts()]
    assert {"blend", "blend, primed", "lzma", "PPMd, order 12"} <= set(labels)


def test_without_documents_the_tables_are_empty_and_the_figure_says_so(corpus, tmp_path):
    _, tables = made({name: values[:0] for name, values in DOCUMENTS.items()}, corpus)
    assert {len(values) for table in tables.values() for values in table.values()} == {0}
    drawing = figures.bits_along(tables["filings_growth"], "lee", {})
    assert "not run" in drawing.texts[0].get_text()
