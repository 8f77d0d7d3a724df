import dataclasses

import numpy as np
import pytest

from attnkernel import audit, provenance, table
from attnkernel.graph import Graph, PlannedJob

VALUES = {"n": np.array([1, 2, 3])}
OTHERS = {"n": np.array([1, 2, 4])}


def planned(name, inputs, output, **params):
    return PlannedJob(
        name=name,
        rule=name,
        place=f"workflow/rules/{name}.smk:1",
        script=f"{name}.py",
        params={"code": "c0de", **params},
        inputs=inputs,
        outputs=[output],
    )


class Toy:
    """corpus.txt -> tokens.parquet -> grid.parquet -> figure.svg, each made by a job that leaves its record."""

    def __init__(self, folder):
        self.jobs = {
            "tokens": planned("tokens", {"files": ["corpus.txt"]}, "tokens.parquet", beta="inf"),
            "grid": planned("grid", {"tokens": ["tokens.parquet"]}, "grid.parquet", settings={"a": {"b": 1}}),
            "draw": planned("draw", {"grid": ["grid.parquet"]}, "figure.svg"),
        }
        (folder / "corpus.txt").write_text("words")
        for name, job in self.jobs.items():
            script = folder / f"{name}.py"
            script.write_text("from attnkernel import seeding\n")
            params = {key: float("inf") if value == "inf" else value for key, value in job.params.items()}
            origin = provenance.origin(name, params, job.inputs, script)
            if name == "draw":
                (folder / "figure.svg").write_text("<svg/>")
            else:
                table.write(job.outputs[0], VALUES, origin)
            provenance.write_record(name, origin, job.outputs, started=0.0)

    def auditor(self):
        return audit.Auditor(Graph(list(self.jobs.values()), []), provenance.read_records())

    def states(self):
        return {link.path: link.state for link in self.auditor().chain("figure.svg")}

    def reasons(self, path):
        return self.auditor().link(path).reasons

    def change(self, name, **changes):
        self.jobs[name] = dataclasses.replace(self.jobs[name], **changes)


@pytest.fixture
def toy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Toy(tmp_path)


def states(figure, grid, tokens, corpus="fresh"):
    return {"figure.svg": figure, "grid.parquet": grid, "tokens.parquet": tokens, "corpus.txt": corpus}


def test_a_chain_goes_down_to_the_corpus_and_is_fresh_after_a_run(toy):
    assert toy.states() == states("fresh", "fresh", "fresh")


def test_code_that_moved_on_makes_a_file_and_all_that_follows_stale(toy):
    toy.change("grid", params={**toy.jobs["grid"].params, "code": "other"})
    assert toy.states() == states("stale", "stale", "fresh")
    assert toy.reasons("grid.parquet") == ["its code has moved on"]
    assert toy.reasons("figure.svg") == ["its input grid.parquet is stale"]


def test_a_param_that_moved_on_is_named_as_deep_as_it_lies(toy):
    toy.change("grid", params={"code": "c0de", "settings": {"a": {"b": 2}}})
    assert toy.reasons("grid.parquet") == ["its param settings.a.b was 1 and is 2"]


def test_an_input_that_moved_on_makes_stale(toy, tmp_path):
    (tmp_path / "corpus.txt").write_text("other words")
    assert toy.states() == states("stale", "stale", "stale")
    assert toy.reasons("tokens.parquet") == ["its input corpus.txt has moved on"]


def test_an_input_more_or_less_makes_stale(toy, tmp_path):
    (tmp_path / "more.txt").write_text("words")
    toy.change("tokens", inputs={"files": ["more.txt"]})
    assert toy.reasons("tokens.parquet") == [
        "it was made without the input more.txt",
        "corpus.txt was an input and is none now",
    ]


def test_a_renamed_rule_makes_stale(toy):
    toy.change("grid", rule="another")
    assert toy.reasons("grid.parquet") == ["its rule was grid and is another"]


def test_values_that_the_rule_did_not_write_are_foreign_whatever_the_file_claims(toy):
    claimed = table.origin("tokens.parquet")
    table.write("tokens.parquet", OTHERS, claimed)
    assert toy.states()["tokens.parquet"] == "foreign"
    assert toy.reasons("tokens.parquet") == ["it does not hold what its rule wrote"]


def test_a_table_of_another_tool_is_foreign(toy):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"n": pa.array([1, 2, 3])}), "grid.parquet")
    assert toy.states() == states("stale", "foreign", "fresh")


def test_a_drawing_changed_by_hand_is_foreign(toy, tmp_path):
    (tmp_path / "figure.svg").write_text("<svg>nicer</svg>")
    assert toy.states() == states("foreign", "fresh", "fresh")


def test_a_drawing_without_a_record_is_foreign_and_a_table_speaks_for_itself(toy, tmp_path):
    for record in (tmp_path / provenance.RECORDS).iterdir():
        record.unlink()
    assert toy.states() == states("foreign", "fresh", "fresh")
    assert toy.reasons("figure.svg") == ["nothing says what made it"]


def test_a_table_that_tells_only_part_of_its_making_is_foreign(toy):
    table.write("grid.parquet", VALUES, {"rule": "grid"})
    assert toy.reasons("grid.parquet") == ["nothing says what made it"]


def test_a_record_that_cannot_be_read_counts_as_none(toy, tmp_path):
    (tmp_path / provenance.RECORDS / "draw.json").write_text('{"origin"')
    assert toy.states()["figure.svg"] == "foreign"


def test_a_truncated_file_is_foreign(toy, tmp_path):
    whole = (tmp_path / "grid.parquet").read_bytes()
    (tmp_path / "grid.parquet").write_bytes(whole[:-20])
    assert toy.states()["grid.parquet"] == "foreign"


def test_a_deleted_file_is_missing(toy, tmp_path):
    (tmp_path / "tokens.parquet").unlink()
    assert toy.states() == states("stale", "stale", "missing")


def test_a_file_that_no_rule_makes_is_a_stray_where_rules_make_files(toy, tmp_path):
    results = tmp_path / "results"
    (results / "crate").mkdir(parents=True)
    (results / "old.csv").write_text("n\n1\n")
    (results / "crate" / "a.csv").write_text("n\n1\n")
    toy.change("draw", outputs=["figure.svg", "results/crate"])
    graph = Graph(list(toy.jobs.values()), [])
    strays = audit.strays(graph, audit.results(tmp_path.joinpath("results").relative_to(tmp_path)))
    assert [(link.path, link.state) for link in strays] == [("results/old.csv", "foreign")]


def test_the_description_of_a_chain_names_rule_code_params_inputs_and_environment(toy):
    text = audit.describe(toy.auditor().chain("grid.parquet"))
    for part in ("rule   grid", "c0de", "settings={'a': {'b': 1}}", "beta=inf", "corpus.txt", "numpy", "blas"):
        assert part in text, part
    assert audit.tally(toy.auditor().chain("grid.parquet")) == "3 files: 3 fresh"
