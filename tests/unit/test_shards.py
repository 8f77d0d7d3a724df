import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnkernel import table
from attnkernel.corpus.shards import document_bounds
from attnkernel.corpus.text import class_counts, closed_vocabulary, read_text, training_words
from attnkernel.language import kneser_ney, vectors
from attnkernel.language.cache import cache_columns

pytestmark = pytest.mark.filterwarnings("ignore::attnkernel.language.kneser_ney.DiscountWarning")

TYPES = 8
sentence = st.lists(st.sampled_from([0, *range(3, TYPES)]), max_size=6)
shard_lists = st.lists(st.lists(sentence, max_size=5), min_size=1, max_size=6)


def flat(sentences):
    return np.array([word for sentence in sentences for word in [*sentence, 2]], dtype=np.int64)


@given(shard_lists, st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_counts_of_shards_merge_to_the_counts_of_the_whole(shards, order):
    whole = kneser_ney.count_ngrams(flat([s for shard in shards for s in shard]), TYPES, order)
    merged = kneser_ney.merge_counts(kneser_ney.count_ngrams(flat(shard), TYPES, order) for shard in shards)
    for expected, level in zip(whole, merged, strict=True):
        for name in level._fields:
            np.testing.assert_array_equal(getattr(level, name), getattr(expected, name))


def test_a_model_of_shards_is_the_model_of_the_text_to_the_bit():
    rng = np.random.default_rng(3)
    sentences = [(3 + rng.zipf(1.6, size=rng.integers(1, 12)) % 60).tolist() for _ in range(300)]
    whole = kneser_ney.to_columns(kneser_ney.estimate(flat(sentences), 63))
    tables = [
        kneser_ney.counts_to_columns(kneser_ney.count_ngrams(flat(sentences[i : i + 37]), 63, 3))
        for i in range(0, 300, 37)
    ]
    counts = kneser_ney.merge_counts(kneser_ney.counts_from_columns(columns, 3) for columns in tables)
    sharded = kneser_ney.to_columns(kneser_ney.estimate_from_counts(counts))
    assert table.content_hash(sharded) == table.content_hash(whole)


def test_a_shard_without_training_text_adds_nothing():
    text, nothing = flat([[3, 4], [4, 3, 3]]), flat([])
    alone = kneser_ney.count_ngrams(text, TYPES, 3)
    empty = kneser_ney.counts_to_columns(kneser_ney.count_ngrams(nothing, TYPES, 3))
    merged = kneser_ney.merge_counts([kneser_ney.counts_from_columns(empty, 3), alone])
    assert table.content_hash(kneser_ney.counts_to_columns(merged)) == table.content_hash(
        kneser_ney.counts_to_columns(alone)
    )


def test_no_shard_at_all_is_refused():
    with pytest.raises(ValueError, match="no shard"):
        kneser_ney.merge_counts([])


@given(shard_lists, st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_cooccurrences_of_shards_add_up_to_the_bit(shards, window):
    whole = vectors.cooccurrences(flat([s for shard in shards for s in shard]), TYPES, window)
    cells = table.concatenate([vectors.to_cells(vectors.cooccurrences(flat(shard), TYPES, window)) for shard in shards])
    added = vectors.from_cells(cells, TYPES)
    for name in ("indptr", "indices", "data"):
        ours, expected = getattr(added, name), getattr(whole.sorted_indices(), name)
        assert ours.dtype == expected.dtype
        np.testing.assert_array_equal(ours, expected)


@given(st.lists(st.integers(1, 7), min_size=1, max_size=20), st.integers(1, 25), st.integers(1, 9))
def test_shards_are_whole_documents_in_order_and_of_like_length(lengths, shards, piece):
    position = np.concatenate([np.arange(length) for length in lengths])
    pieces = [position[start : start + piece] for start in range(0, len(position), piece)]
    bounds = document_bounds(pieces, shards)
    assert len(bounds) == shards
    assert [edge for start, stop in bounds for edge in (start, stop)][1:-1:2] == [start for start, _ in bounds[1:]]
    assert (bounds[0][0], bounds[-1][1]) == (0, len(position))
    for start, stop in bounds:
        assert start == len(position) or position[start] == 0
        assert stop - start < len(position) / shards + max(lengths)


def test_a_window_of_a_table_is_read_in_pieces_across_row_groups(tmp_path, monkeypatch):
    import pyarrow as pa
    import pyarrow.parquet as pq

    number, word = np.arange(10), np.array([f"w{i}" if i % 4 else None for i in range(10)], dtype=object)
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"number": number, "word": word.tolist()}), path, row_group_size=3)
    assert table.rows(path) == 10
    monkeypatch.setattr(table, "_PIECE", 2)
    for start in range(11):
        for stop in range(start, 11):
            pieces = list(table.read_pieces(path, start=start, stop=stop))
            assert all(len(piece["number"]) <= 2 for piece in pieces)
            window = table.concatenate(pieces)
            assert window["number"].tolist() == number[start:stop].tolist()
            assert window["word"].tolist() == word[start:stop].tolist()
    assert table.concatenate(list(table.read_pieces(path, ["number"])))["number"].tolist() == number.tolist()


@pytest.fixture
def cut_corpus(tmp_path):
    """A corpus of six documents, and the same in three shards, the last of them empty."""
    columns = {
        "split": np.array(["train", "dev", "train", "heldout", "train", "dev"], dtype=object).repeat(4),
        "document": np.array(list("abcdef"), dtype=object).repeat(4),
        "sentence": np.zeros(24, dtype=np.int64),
        "position": np.tile(np.arange(4), 6),
        "token": np.array(["</s>" if c == "." else c for c in "xyx.xqx.yyz.zxz.zxy.qqx."], dtype=object),
    }
    table.write(tmp_path / "whole.parquet", columns, {})
    for number, (start, stop) in enumerate([(0, 12), (12, 24), (24, 24)]):
        table.write(tmp_path / f"{number}.parquet", {k: v[start:stop] for k, v in columns.items()}, {})
    return tmp_path / "whole.parquet", [tmp_path / f"{number}.parquet" for number in range(3)]


def test_a_shard_is_read_over_the_vocabulary_of_the_whole_corpus(cut_corpus, tmp_path):
    path, shards = cut_corpus
    words = tmp_path / "words.parquet"
    table.write(words, training_words(shards), {})
    for min_count in (1, 3):
        whole = read_text(path, min_count)
        parts = [read_text(shard, min_count, words) for shard in shards]
        assert all(part.vocabulary == whole.vocabulary for part in parts)
        assert np.concatenate([part.token for part in parts]).tolist() == whole.token.tolist()
        known = table.read(words)
        assert closed_vocabulary(known["token"].tolist(), known["count"], min_count) == whole.vocabulary
        counts = np.bincount(whole.of("train").token, minlength=len(whole.vocabulary))
        assert class_counts(known, whole.vocabulary).tolist() == counts.tolist()


def test_the_cache_of_no_document_is_an_empty_column():
    unit = np.eye(4)
    assert cache_columns([], unit, unit, [0.0, 2.0]).shape == (2, 0)
