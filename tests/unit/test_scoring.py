import io
import json
import shutil
import sys

import numpy as np
import pytest

from attnkernel import cli, scoring, table
from attnkernel.corpus.readers import Document
from attnkernel.errors import InputError
from attnkernel.language import arpa, kneser_ney

SETTINGS = {"tokens": "words", "lowercase": True, "reserved": "refuse"}
WORDS = [*kneser_ney.RESERVED, "cat", "dog", "sat", "the"]


def ngrams():
    text = np.array([6, 3, 5, 2, 6, 4, 5, 2, 6, 3, 5, 2])
    return kneser_ney.estimate(text, len(WORDS), 2, 0.75)


@pytest.fixture
def run(tmp_path):
    """The files of a finished run that a model is read from."""
    language, corpus = tmp_path / "results" / "language" / "pets", tmp_path / "results" / "corpora" / "pets"
    vectors = np.random.default_rng(1).standard_normal((len(WORDS), 4))
    table.write(language / "kneser-ney.parquet", kneser_ney.to_columns(ngrams()), {})
    table.write(corpus / "vectors.parquet", {"token": np.array(WORDS, dtype=object), "vector": vectors}, {})
    table.write(corpus / "tokens.parquet", {"x": np.zeros(1)}, {"params": {"settings": {**SETTINGS, "path": "pets"}}})
    grid = {"beta": np.array([0.0, 2.0]), "lambda": np.array([0.9, 0.8]), "chosen": np.array([False, True])}
    table.write(language / "grid.parquet", grid, {})
    epochs = {"epoch": np.arange(2), "lambda": np.array([0.8, 0.7]), "chosen": np.array([False, True])}
    table.write(language / "epochs.parquet", epochs, {})
    table.write(language / "kernel.parquet", {"A": 1.2 * np.eye(4), "B": np.eye(4)}, {})
    return tmp_path


def test_a_document_is_scored_alone_and_its_first_two_tokens_have_no_cache(run):
    model = scoring.load(str(run / "results" / "language" / "pets"))
    documents = [
        Document("a", "a", "The cat sat. The cat sat."),
        Document("b", "b", "zebra"),
        Document("c", "c", "..."),
    ]
    columns = scoring.score(model, documents, SETTINGS)
    assert columns["token"].tolist() == ["the", "cat", "sat", "</s>"] * 2 + ["zebra", "</s>"]
    assert columns["known"].tolist() == [True] * 8 + [False, True]
    assert np.isnan(columns["cache"]).tolist() == [True, True] + [False] * 6 + [True, True]
    expected = model.ngrams.probabilities(np.array([6, 3, 5, 2, 6, 3, 5, 2, 0, 2]))
    np.testing.assert_array_equal(columns["kn"], expected)
    mixed = 0.8 * columns["kn"][5] + 0.2 * columns["cache"][5]
    assert columns["cache_nats"][5] == pytest.approx(-np.log(mixed))
    np.testing.assert_array_equal(columns["learned_nats"][[0, 1, 8]], columns["kn_nats"][[0, 1, 8]])
    alone = scoring.score(model, documents[:1], SETTINGS)
    for name, values in alone.items():
        np.testing.assert_array_equal(values, columns[name][:8])
    means = scoring.by_document(columns)
    assert means["document"].tolist() == ["a", "b"]
    assert means["unknown"].tolist() == [0, 1]
    np.testing.assert_allclose(
        means["cache_nats"], [columns["cache_nats"][:8].mean(), columns["cache_nats"][8:].mean()]
    )


def test_an_arpa_model_scores_with_its_ngrams_alone(tmp_path):
    path = tmp_path / "pets.arpa"
    path.write_text("".join(arpa.write_arpa(ngrams(), WORDS)))
    columns = scoring.score(scoring.load(str(path)), [Document("a", "a", "the cat")], SETTINGS)
    np.testing.assert_allclose(columns["kn"], ngrams().probabilities(np.array([6, 3, 2])), rtol=1e-6)
    assert "cache" not in columns


def test_what_is_no_model_and_no_text_is_said_so(run, monkeypatch):
    monkeypatch.chdir(run)
    with pytest.raises(InputError, match="there is no model 'cats'; give a corpus that was run: pets"):
        scoring.load("cats")
    shutil.rmtree(run / "results")
    with pytest.raises(InputError, match="no corpus was run here: make run"):
        scoring.load("pets")
    (run / "bad.arpa").write_text("no model")
    with pytest.raises(InputError, match=r"bad\.arpa: ARPA line 1"):
        scoring.load("bad.arpa")
    with pytest.raises(InputError, match="the text has no word to score"):
        scoring.score(scoring.Model(WORDS, ngrams(), {}, {}), [Document("a", "a", "...")], SETTINGS)


def test_standard_input_to_standard_output_as_json_lines_or_tab_separated(run, monkeypatch, capsys):
    folder = str(run / "results" / "language" / "pets")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"The cat sat.\nThe dog.\n")))
    assert cli.main(["score", folder, "--documents", "lines", "--format", "jsonl"]) == 0
    said = capsys.readouterr()
    lines = [json.loads(line) for line in said.out.splitlines()]
    assert [line["document"] for line in lines] == ["-:1", "-:2"]
    assert [line["tokens"] for line in lines] == [4, 3]
    assert "2 documents, 7 tokens, 0.0% unknown; nats per token: Kneser-Ney" in said.err
    (run / "a.txt").write_text("The cat.")
    assert cli.main(["score", folder, str(run / "a.txt"), "--each", "token", "--output", str(run / "out.tsv")]) == 0
    header, first, *_ = (run / "out.tsv").read_text().splitlines()
    assert header.split("\t")[:6] == ["document", "sentence", "position", "token", "known", "kn"]
    assert dict(zip(header.split("\t"), first.split("\t"), strict=True))["cache"] == ""


def test_a_mistake_is_one_line_and_status_two(run, monkeypatch, capsys):
    folder = str(run / "results" / "language" / "pets")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9")))
    assert cli.main(["score", folder]) == 2
    assert capsys.readouterr().err.startswith("standard input: not UTF-8 at byte 3 (0xe9); convert it")
    assert cli.main(["score", folder, str(run / "nowhere.txt")]) == 2
    assert "there is no such file or folder" in capsys.readouterr().err
