import os

import pytest

from attnkernel import keeping


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results"
    (folder / "tables").mkdir(parents=True)
    (folder / "tables" / "a.csv").write_text("old")
    (folder / "b.csv").write_text("old")
    (folder / "logs").mkdir()
    (folder / "logs" / "a.log").write_text("old")
    return folder


def test_a_file_that_a_run_loses_is_kept_and_named(results):
    keeping.keep("results")
    (results / "b.csv").unlink()
    lost = keeping.retain()
    assert lost == ["results/b.csv"]
    assert (keeping.KEPT / "results" / "b.csv").read_text() == "old"
    assert keeping.described(lost) == [
        f"what this run was to replace is kept in {keeping.KEPT} until it is made again: results/b.csv"
    ]
    assert [path.name for path in keeping.KEPT.rglob("*") if path.is_file()] == ["b.csv"]


def test_a_file_that_a_run_replaces_is_forgotten(results):
    keeping.keep("results")
    (results / "b.csv").unlink()
    (results / "b.csv").write_text("new")
    assert keeping.retain() == []
    assert keeping.described([]) == []
    assert not keeping.KEPT.exists()


def test_what_an_earlier_run_lost_stays_until_it_is_there_again(results):
    keeping.keep("results")
    (results / "b.csv").unlink()
    keeping.keep("results")  # the run before was killed
    assert keeping.retain() == ["results/b.csv"]
    (results / "b.csv").write_text("new")
    keeping.keep("results")
    assert keeping.retain() == []


def test_what_is_kept_is_the_old_content_though_a_file_is_replaced_and_then_lost(results):
    keeping.keep("results")
    (results / "new").write_text("new")
    os.replace(results / "new", results / "b.csv")
    (results / "b.csv").unlink()
    keeping.retain()
    assert (keeping.KEPT / "results" / "b.csv").read_text() == "old"


def test_logs_are_not_kept(results):
    keeping.keep("results")
    assert not (keeping.KEPT / "results" / "logs").exists()
