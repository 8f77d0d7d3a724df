"""Every door for data, given what it should refuse: one message with file, place and remedy; nothing half-written."""

import gzip
import json
import resource
import signal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attnkernel import claims, failure, table
from attnkernel.corpus import assemble, readers, tokens
from attnkernel.corpus.text import read_text
from attnkernel.errors import InputError
from attnkernel.language import arpa
from corpus_settings import DEFAULTS

SETTINGS = {**DEFAULTS, "path": ""}
SHARES = {"train": 0.7, "dev": 0.15, "heldout": 0.15, "salt": "s"}


def read(path, **changes):
    settings = {**SETTINGS, "path": str(path), **changes}
    return readers.read_documents(settings, readers.files(settings["path"]))


# Corpora


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "Größe".encode("utf-16"), r"a\.txt: not UTF-8 at byte 0 \(0xff\); convert it.*UTF-16"),
        ("a.txt", b"ok \xc3", r"a\.txt: not UTF-8 at byte 3 \(0xc3\)"),
        ("a.txt.gz", gzip.compress(b"text", mtime=0)[:10] + b"\xff" * 12, r"a\.txt\.gz: not a whole gzip file"),
        ("a.jsonl", b'{"id": "1", "text": "x", "n": ' + b"9" * 5000 + b"}", r"a\.jsonl, line 1: JSON that no program"),
        ("a.jsonl", b"[" * 100_000, r"a\.jsonl, line 1: JSON that no program"),
        ("a.jsonl", b'{"id": "1", "text": "\\ud800"}', r"line 1: character 0 is '\\ud800', half of a surrogate pair"),
        ("a.jsonl", b'{"id": "", "text": "x"}', r"line 1: the document's id is empty; give it one"),
        ("a.jsonl", b'{"id": NaN, "text": "x"}', r"line 1: 'id' is nan; a string is needed"),
        ("a.jsonl", b'{"id": true, "text": "x"}', r"line 1: 'id' is True; a string is needed"),
        ("a.jsonl", b'{"id": "1", "text": ["x"]}', r"line 1: 'text' is \['x'\]; a string is needed"),
        ("a.jsonl", b'{"id": "1"}\n', r"'text' is missing; it has 'id': set the corpus's `text` in the config"),
        (
            "a.jsonl",
            b'{"id": 1, "text": "x"}\n\n{"id": "1", "text": "y"}',
            r"line 3: document id '1'.*first in .*line 1",
        ),
        ("a.jsonl", b"\n \n", r"there is no document in it"),
        ("a.jsonl", b"{'id': 1}", r"line 1: not JSON .*; each line must be one JSON object"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_place_and_remedy(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": ["a"]}, r"column 'text' is missing; it has id"),
        ({"id": ["a", None], "text": ["x", "y"]}, r"row 1: 'id' is None; a string is needed"),
        ({"id": pa.array([1, None]), "text": ["x", "y"]}, r"row 1: 'id' is None"),
        ({"id": [1.5, float("nan")], "text": ["x", "y"]}, r"row 0: 'id' is 1\.5"),
        ({"id": ["a", "a"], "text": ["x", "y"]}, r"row 1: document id 'a' occurs more than once, first in .*row 0"),
        ({"id": pa.array([2**63 + 1], pa.uint64()), "text": ["x"]}, r"column 'id' has a number too large to hold"),
        (
            {"id": ["a"], "text": [["x"]]},
            r"column 'text' has type list<.*>; store it as strings, numbers",
        ),
        ({"id": ["a"], "text": [b"x"]}, r"column 'text' has type binary"),
        ({"id": ["a"], "text": pa.nulls(1)}, r"row 0: 'text' is None"),
        ({"id": pa.array([], pa.string()), "text": pa.array([], pa.string())}, r"there is no document in it"),
    ],
)
def test_parquet_of_another_tool_is_read_or_refused_with_the_place(tmp_path, columns, message):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(InputError, match=message):
        read(path)


def test_parquet_with_extra_dictionary_and_large_columns_is_read(tmp_path):
    path = tmp_path / "a.parquet"
    columns = {
        "text": pa.array(["one two", "three"]).dictionary_encode(),
        "extra": pa.array([[1], [2]]),
        "id": pa.array([-(2**63), 2**63 - 1]),
    }
    pq.write_table(pa.table(columns), path)
    assert [d.id for d in read(path)] == [str(-(2**63)), str(2**63 - 1)]


def test_a_column_that_occurs_twice_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"]), pa.array(["c"])], ["id", "text", "text"]), path
    )
    with pytest.raises(InputError, match="column 'text' occurs 2 times; rename all but one"):
        read(path)


def test_mixed_line_ends_and_control_characters_are_no_obstacle(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\ntwo\rthree\n\x00four\x07five\n")
    assert [d.text for d in read(path, documents="lines")] == ["one", "two", "three", "\x00four\x07five"]
    (whole,) = read(path)
    found, _ = readers.tokenise_document(whole, SETTINGS)
    assert found == [["one"], ["two"], ["three"], ["four", "five"]]


def test_a_byte_order_mark_opens_json_lines_without_harm(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b'{"id": "1", "text": "x"}\r\n')
    assert [d.text for d in read(path)] == ["x"]


def test_articles_open_at_their_headings_and_a_pattern_says_which_part_of_an_id_is_the_group(tmp_path):
    path = tmp_path / "wiki.txt"
    path.write_text(" \n = One = \n\n text \n = = Section = = \n more \n = Two = \n end \n", encoding="utf-8")
    found = read(path, documents="headings")
    assert [(d.id, d.text.split("\n")[0]) for d in found] == [("wiki.txt:2", " = One = "), ("wiki.txt:7", " = Two = ")]
    path = tmp_path / "calls.jsonl"
    rows = [{"id": f"{firm}_q{quarter}", "text": "x"} for firm in ("AAN", "B") for quarter in (1, 2)]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert [d.group for d in read(path, group_pattern="^[^_]+")] == ["AAN", "AAN", "B", "B"]
    with pytest.raises(InputError, match=r"line 1: the group 'AAN_q1' has nothing that looks like '#'"):
        read(path, group_pattern="#")
    with pytest.raises(InputError, match=r"group_pattern .* is '\(', no regular expression"):
        read(path, group_pattern="(")


@pytest.mark.parametrize(
    "line",
    ["a" * 10_000_000, "Mr. " * 250_000, "a" * 9_999_990 + "! Bc", "." + " " * 10_000_000, '."' * 5_000_000],
    ids=["letters", "abbreviations", "stop", "space", "quotes"],
)
def test_a_line_of_millions_of_characters_takes_linear_time(line):
    text, _ = tokens.normalise(line)
    assert len(tokens.tokenise(text, True)) <= 2


def test_no_folder_no_package_no_text(tmp_path):
    with pytest.raises(InputError, match="'' is not the name of a package; write package:NAME/FILE"):
        readers.files("package:")
    (tmp_path / "a.txt").write_text("...\n")
    with pytest.raises(InputError, match="none of its documents has a word; check that they are text"):
        assemble.token_table(read(tmp_path), SETTINGS, SHARES)


def test_one_group_cannot_fill_three_splits():
    documents = [readers.Document(f"d{n}", "one", "a b") for n in range(50)]
    with pytest.raises(
        InputError, match=r"none of its 50 documents in 1 groups fell into .* add documents of other groups"
    ):
        assemble.token_table(documents, SETTINGS, SHARES)


def test_long_documents_are_cut_between_sentences_and_stay_in_their_split():
    documents = [readers.Document(f"d{n}", f"d{n}", "a b c. D e. F g h i j k l.") for n in range(60)]
    columns, changed = assemble.token_table(documents, {**SETTINGS, "window": 6}, SHARES)
    assert changed["document cut"] == 60
    first = [name.startswith("d0#") for name in columns["document"]]
    assert len(set(columns["split"][first])) == 1
    assert "".join(columns["token"][first]) == "abc</s>de</s>fghij</s>kl</s>"
    sizes = {name: int((columns["document"] == name).sum()) for name in sorted(set(columns["document"][first]))}
    assert sizes == {"d0#1": 4, "d0#2": 3, "d0#3": 6, "d0#4": 3}


# The table of tokens, from another tool

GOOD = {
    "split": ["train", "train", "dev", "dev"],
    "document": ["a", "a", "b", "b"],
    "sentence": [0, 0, 0, 0],
    "position": [0, 1, 0, 1],
    "token": ["x", "</s>", "x", "</s>"],
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"split": ["train", "train", "test", "test"]}, "column 'split' holds 'test'; allowed: train, dev, heldout"),
        ({"document": ["a", "b", "a", "b"]}, "not in reading order; sort them by document and position"),
        ({"position": [1, 0, 0, 1]}, "not in reading order"),
        ({"token": ["x", None, "x", "</s>"]}, "column 'token' has 1 missing values"),
        ({"sentence": pa.array([0, None, 0, 0])}, "column 'sentence' has 1 missing values"),
        ({"position": ["0", "1", "0", "1"]}, "column 'position' holds no numbers"),
        ({"token": [1, 2, 3, 4]}, "column 'token' holds int64, not strings"),
        ({"token": pa.array([1, 2, 3, 4]).dictionary_encode()}, "column 'token' holds int64, not strings"),
    ],
)
def test_a_table_of_tokens_that_is_none_is_refused(tmp_path, changes, message):
    path = tmp_path / "tokens.parquet"
    pq.write_table(pa.table({**GOOD, **changes}), path)
    with pytest.raises(InputError, match=message):
        read_text(path, 1)


# Published numbers


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "there is no number in it; its columns are id, section"),
        (b"id,published\n", "there is no number in it"),
        (b"id\ncaf\xe9\n", r"not UTF-8 at byte 6 \(0xe9\); save it as CSV in UTF-8"),
        (b'id\n"open', "not CSV .*; quote fields"),
    ],
)
def test_a_file_of_claims_that_is_none_is_refused(tmp_path, content, message):
    path = tmp_path / "published.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        claims.read_claims(path)
    with pytest.raises(InputError, match=r"cannot be read \(No such file"):
        claims.read_claims(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"published": "nan"}, "line 2: published is 'nan'; a number, true or false is needed"),
        ({"published": "1e999"}, "line 2: published is '1e999'"),
        ({"row": "n"}, "line 2: the condition 'n' has no meaning"),
        ({"test": "factor 2", "published": "0"}, "the test 'factor 2' has no meaning"),
    ],
)
def test_a_claim_without_meaning_is_refused(changes, message):
    claim = dict.fromkeys(claims.FIELDS, "") | {
        "id": "a",
        "published": "1",
        "test": "reported",
        "table": "t",
        "column": "x",
    }
    tables = {"t": {"x": np.array([1.0]), "n": np.array([1])}}
    with pytest.raises(InputError, match=message):
        claims.compare([claim | changes], tables)
    assert claims.compare([claim | {"row": "n=many"}], tables)["status"].tolist() == ["failed"]


# ARPA


@pytest.mark.parametrize("text", ["", "\\data\\\nngram 1=1\n\n\\1-grams:\nnan\t<unk>\n", "\x00\x01", "x" * 10_000_000])
def test_what_is_no_arpa_is_an_error_of_the_user_with_its_line(text):
    with pytest.raises(InputError, match="ARPA line"):
        arpa.read_arpa(text.split("\n"))


# What a disk refuses


def test_a_full_disk_leaves_the_old_file_nothing_half_written_and_one_message(tmp_path):
    path = tmp_path / "a.parquet"
    table.write(path, {"x": np.arange(3)}, {})
    before = path.read_bytes()
    noise = np.random.default_rng(0).standard_normal(100_000)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limit[1]))
    try:
        with pytest.raises(InputError, match=r"a\.parquet: cannot be written \(File too large\); free space there"):
            table.write(path, {"x": noise}, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_in_place_of_a_folder_and_a_folder_in_place_of_a_file_are_named(tmp_path):
    (tmp_path / "results").write_text("")
    with pytest.raises(InputError, match=r"cannot be written .*a file stands where a folder is needed"):
        table.write(tmp_path / "results" / "a.parquet", {"x": np.arange(3)}, {})
    with pytest.raises(InputError, match="results: is a file where a folder is needed"):
        failure.require_workspace(tmp_path, "results")
    (tmp_path / "b.parquet").mkdir()
    with pytest.raises(InputError, match="a folder stands where the file is to be"):
        table.write(tmp_path / "b.parquet", {"x": np.arange(3)}, {})


def test_a_folder_that_refuses_is_named_before_anything_starts(tmp_path, monkeypatch):
    (tmp_path / "tables").mkdir()
    failure.require_writable(tmp_path)
    failure.require_workspace(tmp_path, "results")
    monkeypatch.setattr(failure.os, "access", lambda place, mode: place.name != "tables")
    with pytest.raises(InputError, match="tables: cannot be written to; allow it, or run in a copy of the project"):
        failure.require_writable(tmp_path)


# What is left on the screen


def test_what_failed_jobs_said_last_is_told_without_a_traceback(tmp_path):
    said = {
        "mine.log": "INFO: read\nERROR: a.txt: not UTF-8\nsecond line\n",
        "bug.log": "ERROR: rule x stopped on an error that is not yours\nTraceback (most recent call last):\n  boom\n",
        "killed.log": "INFO: read\n",
    }
    for name, text in said.items():
        (tmp_path / name).write_text(text)
    log = tmp_path / "snakemake.log"
    log.write_text("".join(f"    log: {tmp_path / name} (check log file(s) for error details)\n" for name in said))
    killed = tmp_path / "killed.log"
    assert failure.messages([log]) == [
        "a.txt: not UTF-8\nsecond line",
        f"rule x stopped on an error that is not yours; please report it with {tmp_path / 'bug.log'}",
        f"a job ended without a word, stopped from outside (for its memory?) or before it began; see {killed}",
    ]
    assert failure.messages([tmp_path / "none.log"]) == []


def test_a_key_that_stands_twice_in_a_record_is_named(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "1", "id": "2", "text": "a"}')
    with pytest.raises(InputError, match=r"a\.jsonl, line 1: the key 'id' occurs more than once; keep one of them"):
        read(tmp_path)


def test_what_a_system_hides_in_a_folder_is_no_document(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "._a.txt").write_bytes(b"\x00\x05\x16\x07\xff")  # of macOS, beside every file on some disks
    assert [document.id for document in read(tmp_path)] == ["a.txt"]


def test_a_wrong_byte_of_the_published_numbers_is_counted_from_the_start_of_the_file(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes(b"\xef\xbb\xbf" + b"x" * 20_000 + b"\xe9")
    with pytest.raises(InputError, match=r"mine\.csv: not UTF-8 at byte 20003 \(0xe9\)"):
        claims.read_claims(path)


def test_a_column_that_the_published_numbers_have_twice_and_a_line_that_is_no_csv_are_named(tmp_path):
    path = tmp_path / "mine.csv"
    for content, message in (
        (f"{','.join(claims.FIELDS)},unit\n1\n", "column 'unit' occurs more than once"),
        ('id\n1\n"2"x\n', ", after line 2: not CSV"),
    ):
        path.write_text(content)
        with pytest.raises(InputError, match=message):
            claims.read_claims(path)
