import importlib.util
import math

import numpy as np
import pyarrow as pa
import pytest

from attnkernel import table
from bench import cache, growth, kneser_ney, planning, pointer
from bench.race import Runner, peak_memory, race, runner

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")


def fixed(*seconds):
    times = iter(seconds)
    return Runner(lambda: next(times), lambda: 1.0)


def test_a_race_compares_medians_and_shows_their_spread():
    (row,) = race("task", "size", fixed(1, 9, 2, 3, 2), {"peer": fixed(4, 4, 5, 0, 4)}, {"peer": 2.5})
    assert (row["ours"], row["ours_least"], row["ours_most"]) == (2, 1, 9)
    assert (row["theirs"], row["ratio"], row["met"]) == (4, 2.0, "no")


def test_an_absent_peer_is_said_so():
    (row,) = race("task", "size", fixed(1, 1, 1, 1, 1), {"peer": "it is not installed"})
    assert row["note"] == "it is not installed"
    assert row["met"] == ""
    assert math.isnan(row["ratio"])


def test_peak_memory_counts_what_a_task_frees_again():
    def task():
        np.ones(2**22)

    mebibytes = peak_memory(task)
    assert math.isnan(mebibytes) or 31.0 < mebibytes < 40.0


def test_a_runner_counts_one_call_of_many():
    calls = []
    assert runner(lambda: calls.append(0), times=7).seconds() < 1.0
    assert len(calls) == 7


def test_words_in_a_file_get_the_ids_of_words_in_memory(tmp_path):
    sentences = [["a", "b", "a"], ["c"], ["new", "b"]]
    ids = kneser_ney.vocabulary(sentences[:2])
    file = kneser_ney.write_sentences(tmp_path / "words", sentences)
    ours = kneser_ney.encode_file(file, pa.array(list(ids)))
    np.testing.assert_array_equal(ours, kneser_ney.encode(sentences, ids))


def test_every_peer_of_the_cache_computes_what_the_cache_does():
    document, vectors = cache.zipf_document(700, 200, seed=1)
    ours = cache.by_types(document, vectors)
    np.testing.assert_allclose(cache.whole_matrix(document, vectors), ours, rtol=1e-9)
    positions = np.arange(2, len(document), 7)
    np.testing.assert_allclose(cache.position_by_position(document, vectors, positions), ours[::7], rtol=1e-9)


@needs_torch
def test_the_peers_in_pytorch_compute_the_same():
    document, vectors = cache.zipf_document(700, 200, seed=1)
    starts = np.arange(1, len(document) - 1, cache.BATCH)
    np.testing.assert_allclose(
        cache.torch_batches(document, vectors, starts), cache.by_types(document, vectors), rtol=1e-9
    )
    documents = [cache.zipf_document(80, 30, seed)[0] for seed in range(3)]
    ours, theirs = pointer.our_step(documents, vectors), pointer.torch_step(documents, vectors)
    for _ in range(3):
        assert ours() == pytest.approx(theirs(), rel=1e-9)


def test_every_series_of_growth_runs_and_spans_two_decades():
    for series in growth.series():
        assert series.sizes[-1] / series.sizes[0] == 100
        series.task(series.sizes[0])()


def test_the_plan_grows_from_what_was_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(planning, "RESULTS", tmp_path)
    stages = ["tokens", "count, a shard", "merge and estimate", "score, a shard"]
    large = {
        "stage": np.array(stages, dtype=object),
        "shards": np.full(4, 7),
        "tokens": np.array([1e6, 1e6, 7e7, 1e6]),
        "seconds": np.array([10.0, 1.0, 70.0, 1.0]),
        "peak_mib": np.array([1024.0, 100.0, 2048.0, 512.0]),
        "ngrams": np.full(4, 1e7),
        "slope": np.full(4, 0.5),
    }
    points = {
        "operation": np.array(["cache", "pointer"], dtype=object),
        "over": np.array(["documents", "documents"], dtype=object),
        "size": np.array([100, 100]),
        "seconds": np.array([1.0, 1.0]),
    }
    table.write(tmp_path / "large.parquet", large, {})
    table.write(tmp_path / "growth.parquet", points, {})
    rows = {line.split(" | ")[0].strip("| "): line.split(" | ")[1:-1] for line in planning.plan().splitlines()[2:-2]}
    # 70% of 10^8 tokens are what was counted; a hundred times as many tokens have ten times as many n-grams.
    assert rows["n-grams of the model, in millions"] == ["10", "32", "316"]
    assert rows["merge and estimate: memory"] == ["2", "6.3", "63"]
    assert rows["read and tokenise, one process"] == ["0.28", "2.8", "278"]

    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- planning -->\nold\n<!-- /planning -->\nafter\n")
    planning.main(readme)
    assert readme.read_text().startswith("before\n<!-- planning -->\n| ")
    assert readme.read_text().endswith("\n<!-- /planning -->\nafter\n")
