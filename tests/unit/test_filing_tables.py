"""Code lengths per character, byte and token; and what was copied."""

import numpy as np
import pytest

from attnkernel.language import filing_tables
from attnkernel.language.compressors import code_bits
from attnkernel.language.filing_tables import NORMALISED, RAW
from attnkernel.language.open_vocabulary import read

VOCABULARY = ["<unk>", "<s>", "</s>", "cost"]
NORMAL = "cost café café \n"
SIZES = {("a", "3", "normalised"): (len(NORMAL), len(NORMAL.encode()))}
DOCUMENTS = {"id": np.array(["a", "b"], dtype=object), "text": np.array(["Cost café café", "cost"], dtype=object)}


@pytest.fixture
def columns():
    text = read("Cost café café", VOCABULARY)
    return filing_tables.token_columns("a", "3", text, {"kn": np.array([1.0, 9.0, 8.0, 2.0]), "mix": np.ones(4)})


def test_bits_are_divided_by_characters_bytes_and_tokens_of_the_text_that_is_coded(columns):
    table = filing_tables.code_table(filing_tables.model_rows(columns, "lee", SIZES))
    assert table["bits"].tolist() == [20.0, 4.0, 20.0, 4.0]
    assert (table["characters"][0], table["bytes"][0]) == (16, 18)
    assert table["bits_per_byte"][0] == pytest.approx(20 / 18)
    assert table["bits_per_token"][0] == 5.0


def test_routes_share_the_tokens_and_the_bits(columns):
    table = filing_tables.code_table(filing_tables.model_rows(columns, "lee", SIZES))
    assert [table[f"share_{route}"][0] for route in ("known", "copied", "spelled")] == [0.5, 0.25, 0.25]
    assert [table[f"bits_{route}"][0] for route in ("known", "copied", "spelled")] == [3.0, 8.0, 9.0]


def test_documents_add_up_under_all_and_the_joined_text_is_not_among_them():
    rows = [
        row
        for name, excerpt, text in filing_tables.excerpts(DOCUMENTS, [10])
        for row in filing_tables.compressor_rows(name, excerpt, text)
    ]
    table = filing_tables.code_table(rows)
    bits = {name: table["bits"][(table["document"] == name) & (table["model"] == "bz2")] for name in ("a", "b", "all")}
    assert bits["all"].tolist() == (bits["a"] + bits["b"]).tolist()
    assert "joined" in table["document"]
    assert np.ma.getmaskarray(table["tokens"]).all()


def test_without_documents_the_tables_are_empty_and_have_their_columns():
    nothing = {name: values[:0] for name, values in DOCUMENTS.items()}
    ((name, excerpt, text),) = filing_tables.excerpts(nothing, [10, None])
    columns = filing_tables.token_columns(
        name, excerpt, read(text, VOCABULARY), {"kn": np.zeros(0), "mix": np.zeros(0)}
    )
    rows = filing_tables.model_rows(columns, "lee", {}) + filing_tables.compressor_rows(name, excerpt, text)
    assert {len(values) for values in filing_tables.code_table(rows).values()} == {0}
    assert {len(values) for values in filing_tables.copied_table(columns, "mix", "kn").values()} == {0}


def test_the_copied_table_names_the_new_words_that_come_again(columns):
    table = filing_tables.copied_table(columns, "mix", "kn")
    assert table["word"].tolist() == ["café"]
    assert (table["copies"][0], table["saved"][0]) == (1, 7.0)


def test_a_text_that_was_not_scored_under_a_model_has_no_row_of_it(columns):
    columns["bits mix"][2] = np.nan
    assert [row["model"] for row in filing_tables.model_rows(columns, "lee", SIZES)] == ["kn"]


def test_sizes_are_those_of_the_excerpt_as_it_is_and_normalised():
    sizes = filing_tables.text_sizes(DOCUMENTS, [9])
    assert sizes["a", "9", "raw"] == (9, 10)
    assert sizes["a", "9", "normalised"] == (len("cost café \n"), len("cost café \n".encode()))


def test_growth_ends_at_the_whole_for_models_and_compressors(columns):
    documents = {name: values[:1] for name, values in DOCUMENTS.items()}
    columns["excerpt"][:] = "whole"
    table = filing_tables.growth_table(documents, None, 3, [("lee", columns, ["kn"])])
    last = {model: table["bits"][table["model"] == model][-1] for model in ("kn", "lzma")}
    assert last == {"kn": 20.0, "lzma": float(code_bits("lzma", NORMAL))}
    assert table["characters"].max() == len(NORMAL)


def test_the_readme_shows_the_blend_beside_what_was_primed_with_the_same_text():
    rows = [
        ("a", "other", "whole", NORMALISED, "blend", 30000, 1.25),
        ("a", "other", "whole", NORMALISED, "lzma", 30000, 2.5),
        ("a", "nothing", "whole", NORMALISED, "lzma", 30000, 3.0),
        ("a", "other", "3000", NORMALISED, "blend", 2998, 1.0),
        ("a", "other", "whole", RAW, "blend", 31000, 1.5),
        ("all", "other", "whole", NORMALISED, "blend", 30000, 1.25),
        ("a", "cold", "whole", NORMALISED, "blend", 30000, 2.0),
    ]
    names = ("document", "training", "excerpt", "text", "model", "characters", "bits_per_character")
    columns = {
        name: np.array(values, dtype=object) for name, values in zip(names, zip(*rows, strict=True), strict=True)
    }
    assert filing_tables.markdown(columns).splitlines() == [
        "| document | characters | text | blend | lzma |",
        "| --- | ---: | --- | ---: | ---: |",
        "| a | 2,998 | words | 1.000 | – |",
        "| a | 30,000 | words | 1.250 | 2.500 |",
        "| a | 31,000 | as filed | 1.500 | – |",
    ]
