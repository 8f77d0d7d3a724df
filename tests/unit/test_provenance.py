import fcntl
import json

import numpy as np
import pytest

from attnkernel import environment, lineage, locking, provenance, table
from attnkernel.errors import InputError

VALUES = {"n": np.array([1, 2, 3])}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def script(here):
    path = here / "script.py"
    path.write_text("from attnkernel import seeding\n")
    return path


def test_an_origin_is_the_same_in_every_folder(here, script, monkeypatch):
    table.write("in.parquet", VALUES, {})
    before = provenance.origin("rule", {"beta": float("inf")}, {"table": ["in.parquet"]}, script)
    elsewhere = here / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    table.write("in.parquet", VALUES, {"rule": "another"})
    assert provenance.origin("rule", {"beta": float("inf")}, {"table": ["in.parquet"]}, script) == before
    assert json.loads(json.dumps(before, allow_nan=False)) == before


def test_an_input_outside_the_project_is_known_by_its_name_alone(here, script):
    inside = here / "project"
    inside.mkdir()
    (here / "corpus.txt").write_text("words")
    assert provenance.place(here / "corpus.txt") == "corpus.txt"
    assert provenance.place(inside / "a.txt") == "project/a.txt"


def test_the_hash_of_a_table_is_over_its_values(here):
    table.write("a.parquet", VALUES, {"rule": "one"})
    table.write("b.parquet", VALUES, {"rule": "two"})
    assert provenance.hash_of("a.parquet") == provenance.hash_of("b.parquet")
    assert (here / "a.parquet").read_bytes() != (here / "b.parquet").read_bytes()


def test_the_hash_of_a_folder_is_over_the_names_and_bytes_of_its_files(here):
    folder = here / "crate"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "a").write_text("1")
    before = provenance.hash_of(folder)
    (folder / ".snakemake_timestamp").write_text("now")
    assert provenance.hash_of(folder) == before
    (folder / "inner" / "a").rename(folder / "inner" / "b")
    assert provenance.hash_of(folder) != before


def test_a_record_tells_apart_what_is_the_same_at_every_run(here, script):
    (here / "out.svg").write_text("<svg/>")
    origin = provenance.origin("draw", {}, {}, script)
    provenance.write_record("draw-lee", origin, ["out.svg"], started=0.0)
    record = provenance.read_records()["draw-lee"]
    assert record["origin"] == origin
    assert record["outputs"] == {"out.svg": provenance.hash_of("out.svg")}
    assert 10.0 < record["run"]["peak_memory_megabytes"] < 10_000.0
    assert record["run"]["ended"] > record["run"]["started"]


def test_the_environment_names_the_kernel_that_multiplies():
    found = environment.describe()
    assert environment.blas() in environment.summary(found)
    assert found["numpy"] == np.__version__


def test_lineage_goes_down_to_files_that_no_job_made(here, script):
    (here / "corpus.txt").write_text("words")
    table.write("tokens.parquet", VALUES, provenance.origin("tokens", {}, {"files": ["corpus.txt"]}, script))
    drawn = provenance.origin("draw", {}, {"tokens": ["tokens.parquet"]}, script)
    (here / "out.svg").write_text("<svg/>")
    provenance.write_record("draw", drawn, ["out.svg"], started=0.0)
    found = lineage.lineage(["out.svg"], provenance.read_records())
    assert list(found) == ["corpus.txt", "out.svg", "tokens.parquet"]
    assert found["out.svg"]["rule"] == "draw"
    assert found["tokens.parquet"]["content"] == table.content_hash(VALUES)
    assert found["corpus.txt"] == {"content": provenance.hash_of("corpus.txt")}


def test_jobs_that_a_file_does_not_rest_on_are_not_behind_it():
    def made(outputs, inputs):
        return {
            "origin": {"inputs": {"files": dict.fromkeys(inputs, "hash")}},
            "outputs": dict.fromkeys(outputs, "hash"),
        }

    records = {
        "draw": made(["out.svg", "out.png"], ["scores"]),
        "earlier": made(["network"], ["tokens"]),  # left by a run under another config
        "score": made(["scores"], ["tokens", "corpus.txt"]),
        "tokens": made(["tokens"], ["corpus.txt"]),
    }
    assert list(lineage.behind(["out.svg"], records)) == ["draw", "score", "tokens"]
    assert list(lineage.behind(["network"], records)) == ["earlier", "tokens"]
    assert lineage.behind(["corpus.txt"], records) == {}


def test_the_run_is_summed_up_by_job(here, script):
    (here / "out.svg").write_text("<svg/>")
    for name in ("draw-a", "draw-b"):
        provenance.write_record(name, provenance.origin("draw", {}, {}, script), ["out.svg"], started=0.0)
    found = lineage.run_summary(provenance.read_records())
    assert list(found["jobs"]) == ["draw-a", "draw-b"]
    assert len(found["environments"]) == 1
    assert found["packages"]["numpy"] == np.__version__


def test_a_second_run_in_a_folder_is_refused_until_the_first_has_ended(here):
    assert not locking.is_run_held()
    locking.hold_run()
    assert locking.is_run_held()
    with pytest.raises(InputError, match="another run is at work in this folder"):
        locking.hold_run()
    locking._held.pop().close()
    assert not locking.is_run_held()
    locking.hold_run().close()


def test_a_run_waits_for_jobs_that_a_killed_run_left_behind(here):
    place = here / ".snakemake" / "attnkernel-jobs.lock"
    with locking.hold_job(), locking.hold_job(), place.open() as jobs, pytest.raises(BlockingIOError):
        fcntl.flock(jobs, fcntl.LOCK_EX | fcntl.LOCK_NB)
    locking.hold_run().close()
