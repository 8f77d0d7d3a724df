import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnkernel import table
from attnkernel.corpus import assemble, card, readers, splits, tokens
from attnkernel.corpus.text import read_text
from attnkernel.errors import InputError
from corpus_settings import DEFAULTS

SETTINGS = {**DEFAULTS, "path": ""}
SHARES = {"train": 0.7, "dev": 0.15, "heldout": 0.15, "salt": "s"}


def read(path, **changes):
    settings = {**SETTINGS, "path": str(path), **changes}
    return readers.read_documents(settings, readers.files(settings["path"]))


def words(text):
    return tokens.tokenise(tokens.normalise(text)[0], lowercase=True)


# The tokeniser


def test_invisible_characters_vanish_and_are_reported():
    text, changed = tokens.normalise("\ufeffthe net\u00a0income\r\n zero\u200bwidth ﬁnancial a\u2028b")
    assert tokens.tokenise(text, True) == [["the", "net", "income"], ["zerowidth", "financial", "a", "b"]]
    assert changed["byte-order mark"] == changed["zero-width space"] == changed["carriage return"] == 1
    assert changed["control character"] == 1
    assert changed["compatibility form"] == 2


def test_a_decomposed_accent_is_one_character():
    assert words("cafe\u0301") == [["café"]]


def test_only_a_line_feed_ends_a_line():
    assert words("a\x0bb\x0cc\x85d\u2029e\nf") == [["a", "b", "c", "d", "e"], ["f"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He left. She stayed.", [["he", "left"], ["she", "stayed"]]),
        ('He said: "Go." Then he went.', [["he", "said", "go"], ["then", "he", "went"]]),
        ("Mr. Smith met Dr. J. Brown.", [["mr", "smith", "met", "dr", "j", "brown"]]),
        (
            "It fell 3.5 per cent. 12,000 jobs went!",
            [["it", "fell", "3.5", "per", "cent"], ["12,000", "jobs", "went"]],
        ),
        ("Version 2.0 is out. it is.", [["version", "2.0", "is", "out", "it", "is"]]),
        (
            "Don’t re-enter the long-term market -- ever.",
            [["don't", "re-enter", "the", "long-term", "market", "ever"]],
        ),
        ("snake_case <s> </s> <unk> U.S. Army", [["snake", "case", "s", "s", "unk", "u", "s", "army"]]),
        ("... \n\n !?", []),
    ],
)
def test_sentences_and_words(text, expected):
    assert words(text) == expected


@given(st.text(max_size=80))
def test_tokens_are_never_empty_reserved_or_split_by_space(text):
    for sentence in words(text):
        assert sentence
        for word in sentence:
            assert word
            assert word not in tokens.RESERVED
            assert not any(character.isspace() for character in word)


@given(st.text(max_size=80))
def test_normalising_twice_changes_nothing_more(text):
    once, _ = tokens.normalise(text)
    again, changed = tokens.normalise(once)
    assert again == once
    assert not changed


# Readers


def test_a_folder_of_text_files_is_one_document_a_file(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two.txt").write_text("two", encoding="utf-8")
    (tmp_path / "one.txt.gz").write_bytes(gzip.compress("één".encode()))
    (tmp_path / "notes.pdf").write_bytes(b"")
    assert [(d.id, d.group, d.text) for d in read(tmp_path)] == [
        ("b/two.txt", "b/two.txt", "two"),
        ("one.txt.gz", "one.txt.gz", "één"),
    ]


def test_a_text_file_may_hold_one_document_a_line(tmp_path):
    path = tmp_path / "all.txt"
    path.write_text("one\n\nthree\n", encoding="utf-8")
    assert [(d.id, d.text) for d in read(path, documents="lines")] == [
        ("all.txt:1", "one"),
        ("all.txt:3", "three"),
    ]


RECORDS = [{"key": 7, "body": "seven", "firm": "x"}, {"key": 8, "body": "eight", "firm": "x"}]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet"])
def test_records_have_text_id_and_group_columns(tmp_path, name):
    path = tmp_path / name
    lines = "\n".join(map(json.dumps, RECORDS)).encode()
    if name.endswith("parquet"):
        pq.write_table(pa.Table.from_pylist(RECORDS), path)
    else:
        path.write_bytes(gzip.compress(lines) if name.endswith("gz") else lines)
    documents = read(path, text="body", id="key", group="firm")
    assert [(d.id, d.group, d.text) for d in documents] == [("7", "x", "seven"), ("8", "x", "eight")]


def test_the_lee_corpus_is_found_inside_its_package():
    documents = read("package:gensim/test/test_data/lee_background.cor", documents="lines")
    assert len(documents) == 300
    assert documents[0].id == "lee_background.cor:1"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"caf\xe9", r"a\.txt: not UTF-8 at byte 3 \(0xe9\)"),
        ("a.txt.gz", b"no gzip", r"a\.txt\.gz: not a whole gzip file"),
        ("a.txt.gz", gzip.compress(b"whole text", mtime=0)[:-6], r"a\.txt\.gz: not a whole gzip file"),
        ("a.jsonl", b'{"id": "1", "text": "x"}\n{"id": ', r"a\.jsonl, line 2: not JSON"),
        ("a.jsonl", b"[1]", r"a\.jsonl, line 1: not a JSON object"),
        ("a.jsonl", b'{"id": "1"}', r"a\.jsonl, line 1: 'text' is missing; it has 'id'"),
        ("a.jsonl", b'{"id": "1", "text": null}', r"line 1: 'text' is None; a string is needed"),
        ("a.jsonl", b'{"id": "1", "text": "x"}\n' * 2, r"document id '1' occurs more than once"),
        ("a.jsonl", b"", r"there is no document in it"),
        ("a.parquet", b"PAR1", r"a\.parquet: not a readable Parquet file"),
    ],
)
def test_a_bad_file_is_named_with_its_place(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read(path)


def test_a_place_without_documents_is_named(tmp_path):
    with pytest.raises(InputError, match="there is no such file or folder"):
        read(tmp_path / "nowhere")
    with pytest.raises(InputError, match="the folder holds no document"):
        read(tmp_path)
    with pytest.raises(InputError, match="the package 'no_such_package' is not installed"):
        read("package:no_such_package/file.txt")


def test_reserved_tokens_are_refused_escaped_or_taken_for_unknown_words():
    document = readers.Document("d", "d", "a <unk> b")
    pretokenised = {**SETTINGS, "tokens": "pretokenised"}
    with pytest.raises(InputError, match="document 'd' holds the reserved token <unk>; set `reserved: escape`"):
        readers.tokenise_document(document, pretokenised)
    assert readers.tokenise_document(document, {**pretokenised, "reserved": "escape"})[0] == [["a", "\\<unk>", "b"]]
    assert readers.tokenise_document(document, {**pretokenised, "reserved": "unknown"})[0] == [["a", "<unk>", "b"]]
    closing = readers.Document("d", "d", "a </s>")
    with pytest.raises(InputError, match="reserved token </s>"):
        readers.tokenise_document(closing, {**pretokenised, "reserved": "unknown"})


# Splits and the table of tokens


def test_a_document_keeps_its_split_when_others_are_added_and_shares_are_met():
    names = [f"document {number}" for number in range(4000)]
    found = [splits.split_of(name, SHARES, "s") for name in names]
    assert found[:100] == [splits.split_of(name, SHARES, "s") for name in names[:100]]
    for name in splits.SPLITS:
        assert found.count(name) / 4000 == pytest.approx(SHARES[name], abs=0.025)
    assert found != [splits.split_of(name, SHARES, "another salt") for name in names]


def documents(texts, groups=None):
    groups = groups or [f"g{number}" for number in range(len(texts))]
    return [readers.Document(f"d{n}", group, text) for n, (text, group) in enumerate(zip(texts, groups, strict=True))]


def test_the_table_of_tokens_is_in_reading_order():
    texts = ["A b. C!", "...", *["d"] * 40]
    columns, changed = assemble.token_table(documents(texts), SETTINGS, SHARES)
    first = columns["document"] == "d0"
    assert columns["token"][first].tolist() == ["a", "b", "</s>", "c", "</s>"]
    assert columns["sentence"][first].tolist() == [0, 0, 0, 1, 1]
    assert columns["position"][first].tolist() == [0, 1, 2, 3, 4]
    assert "d1" not in columns["document"]
    assert changed["document without a word left out"] == 1


def test_one_group_never_straddles_a_split():
    columns, _ = assemble.token_table(documents(["a"] * 120, [f"g{n % 40}" for n in range(120)]), SETTINGS, SHARES)
    split = dict(zip(columns["document"], columns["split"], strict=True))
    for group in range(40):
        assert len({split[f"d{n}"] for n in range(group, 120, 40)}) == 1


def test_the_table_names_groups_only_where_they_may_hold_several_documents(tmp_path):
    several, by_company = documents(["a b"] * 120, [f"g{n % 40}" for n in range(120)]), {**SETTINGS, "group": "company"}
    columns, _ = assemble.token_table(several, by_company, SHARES)
    assert columns["group"][columns["document"] == "d41"].tolist() == ["g1"] * 3
    table.write(tmp_path / "tokens.parquet", columns, {})
    text = read_text(tmp_path / "tokens.parquet", min_count=1)
    assert len(np.unique(text.cluster)) == 40
    assert len(np.unique(text.of("heldout").cluster)) < len(np.unique(text.of("heldout").document))
    for alone in (
        assemble.token_table(several, {**by_company, "cluster": "document"}, SHARES),
        assemble.token_table(documents(["a b"] * 120), SETTINGS, SHARES),
    ):
        assert list(alone[0]) == ["split", "document", "sentence", "position", "token"]
        table.write(tmp_path / "tokens.parquet", alone[0], {})
        text = read_text(tmp_path / "tokens.parquet", min_count=1)
        assert text.cluster.tolist() == text.document.tolist()


def test_the_pieces_of_a_document_that_was_cut_are_one_cluster():
    whole = documents(["one two. Three four. Five six."] * 60)
    columns, _ = assemble.token_table(whole, {**SETTINGS, "window": 6}, SHARES)
    assert set(columns["group"]) == {f"g{n}" for n in range(60)}
    assert len(set(columns["document"])) == 120


def test_an_empty_split_is_an_error_that_says_what_to_do():
    with pytest.raises(InputError, match="none of its 1 documents in 1 groups fell into"):
        assemble.token_table(documents(["a"]), SETTINGS, SHARES)


def test_the_card_counts_what_is_there():
    columns = {
        "split": np.array(["train"] * 5 + ["dev"] * 4 + ["heldout"] * 3, dtype=object),
        "document": np.array(["a"] * 5 + ["b"] * 4 + ["c"] * 3, dtype=object),
        "position": np.concatenate([np.arange(length) for length in (5, 4, 3)]),
        "token": np.array(["x", "y", "</s>", "x", "</s>", "x", "zz", "x", "</s>", "q", "q", "</s>"], dtype=object),
    }
    found = card.corpus_card(columns, min_count=1)
    assert found["split"].tolist() == ["train", "dev", "heldout"]
    assert found["sentences"].tolist() == [2, 1, 1]
    assert found["words"].tolist() == [3, 3, 2]
    assert found["types"].tolist() == [2, 2, 1]
    assert found["unknown_rate"].tolist() == [0, 1 / 3, 1]
    assert found["repeat_share"].tolist() == [2 / 5, 1 / 4, 1 / 3]
    assert found["characters_per_token"].tolist() == [8 / 5, 8 / 4, 5 / 3]
    rare = card.corpus_card(columns, min_count=2)
    assert rare["unknown_rate"].tolist() == [1 / 3, 1 / 3, 1]


def test_a_corpus_in_pieces_has_the_table_and_the_card_of_the_whole(monkeypatch):
    texts = [f"a b{n % 7}. b{n % 3} a" for n in range(40)]
    whole, _ = assemble.token_table(documents(texts), SETTINGS, SHARES)
    monkeypatch.setattr(assemble, "_PIECE", 17)
    pieces = list(assemble.Assembly(iter(documents(texts)), SETTINGS, SHARES).pieces())
    assert len(pieces) > 5
    for name, column in table.concatenate(pieces).items():
        assert column.tolist() == whole[name].tolist()
    counts = card.Card()
    for piece in pieces:
        counts.add(piece)
    for name, column in counts.table(2).items():
        assert column.tolist() == card.corpus_card(whole, 2)[name].tolist()


def test_a_table_of_tokens_is_written_and_read_as_it_is(tmp_path):
    columns, _ = assemble.token_table(documents(["a b"] * 30), SETTINGS, SHARES)
    table.write(tmp_path / "tokens.parquet", columns, {})
    for name, column in table.read(tmp_path / "tokens.parquet").items():
        assert column.tolist() == columns[name].tolist()
