import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from attnkernel import discover
from attnkernel.corpus import readers
from corpus_settings import DEFAULTS

SPLITS = {"train": 0.7, "dev": 0.15, "heldout": 0.15, "salt": "s"}
BODY = "The cat sat on the mat. The dog looked on. " * 3


def survey(path):
    return discover.survey(str(path), DEFAULTS, SPLITS)


def test_a_folder_of_text_files_needs_nothing_but_its_path(tmp_path):
    for number in range(120):
        (tmp_path / f"{number}.txt").write_text(BODY)
    found = survey(tmp_path)
    assert found.stanza == {"path": str(tmp_path)}
    assert "documents: 120 in 120 groups, 0 without a word" in found.notes
    assert "words: 3,600" in found.notes
    assert found.problems == []


def test_one_text_file_holds_a_document_a_line_or_articles_under_headings(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    assert survey(tmp_path / "a.txt").stanza["documents"] == "lines"
    (tmp_path / "w.txt").write_text(" \n = Title = \n the <unk> of it . \n = Other = \n end . \n")
    stanza = survey(tmp_path / "w.txt").stanza
    assert stanza == {
        "path": str(tmp_path / "w.txt"),
        "documents": "headings",
        "tokens": "pretokenised",
        "reserved": "unknown",
    }


def rows():
    return [
        {"cik": 7 + n % 4, "year": 2000 + n % 3, "filing": f"f{n}", "body": BODY, "form": "10-K"} for n in range(80)
    ]


def test_columns_are_guessed_by_their_values_and_the_stanza_reads_what_was_found(tmp_path):
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, rows())).encode()))
    pq.write_table(pa.Table.from_pylist(rows()), tmp_path / "b.parquet")
    for name in ("a.jsonl.gz", "b.parquet"):
        found = survey(tmp_path / name)
        assert found.stanza == {"path": str(tmp_path / name), "text": "body", "id": "filing", "group": "cik"}
        documents = readers.read_documents({**DEFAULTS, **found.stanza}, readers.files(found.stanza["path"]))
        assert {document.group for document in documents} == {"7", "8", "9", "10"}


def test_every_problem_is_listed_and_what_can_be_read_is_counted(tmp_path):
    (tmp_path / "good.txt").write_text(BODY)
    (tmp_path / "bad.txt").write_bytes(b"caf\xe9")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "more.jsonl").write_text("{}")
    found = survey(tmp_path)
    problems = "\n".join(found.problems)
    assert "bad.txt: not UTF-8 at byte 3" in problems
    assert "several kinds of files: only the .txt are looked at" in problems
    assert "no document fell into" in problems
    assert "documents: 2 in 2 groups, 1 without a word" in found.notes


def test_records_without_text_or_id_are_said_so(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"n": 1}\n{"n": 2}\nnot json\n')
    assert any("no column holds strings" in problem for problem in survey(tmp_path / "a.jsonl").problems)
    (tmp_path / "b.jsonl").write_text('{"text": "x", "k": 1}\n{"text": "y", "k": 1}\n')
    assert any("no column has a value of its own" in problem for problem in survey(tmp_path / "b.jsonl").problems)


def test_the_overlay_is_a_config_with_what_was_found_in_comments(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    text = discover.overlay(discover.corpus_name("/x/My Süß Corpus.txt"), survey(tmp_path / "a.txt"))
    assert list(yaml.safe_load(text)["corpora"]) == ["my-s-corpus"]
    assert text.startswith("# files: 1 .txt\n")
    assert "# PROBLEM: no document fell into" in text
    assert discover.corpus_name("/data/2024") == "corpus-2024"
