"""Audit, why, provenance and the deposit, on a finished toy run."""

import json
import os
import subprocess
import sys

import pytest

from attnkernel import provenance, table

CONFIG = ("--configfile", "config/test.yaml")


def attnkernel(project, *arguments):
    """The command, as installed from anywhere, asked in the project's folder."""
    environment = os.environ | {"PYTHONPATH": str(project.folder / "workflow")}
    command = [sys.executable, "-m", "attnkernel.cli", *arguments, *CONFIG]
    return subprocess.run(command, cwd=project.folder, env=environment, capture_output=True, text=True, check=False)


def test_every_result_of_a_finished_run_is_fresh(finished):
    done = attnkernel(finished, "audit", "--all")
    assert done.returncode == 0, done.stdout + done.stderr
    fresh, total = done.stdout.splitlines()[-1].split()[2], done.stdout.splitlines()[-1].split()[0]
    assert fresh == total
    assert int(total) > 100


def test_the_chain_of_a_table_goes_down_to_the_corpus_and_the_config(finished):
    done = attnkernel(finished, "audit", "results/tables/grid.parquet")
    assert done.returncode == 0, done.stderr
    for part in (
        "fresh   results/tables/grid.parquet",
        "rule   language_tables, workflow/rules/language.smk:",
        "fresh   results/corpora/lee/tokens.parquet",
        "lee_background.cor",
        "fresh   results/corpora/synthetic/documents.parquet",
        "splits={",
        "ran on Python",
        "config: config/test.yaml, config/config.yaml",
    ):
        assert part in done.stdout, part


def test_edits_and_meddling_are_told_apart(project):
    tampered = project.folder / "results" / "tables" / "scaling.parquet"
    columns = table.read(tampered)
    columns["mean"][0] += 1e-12
    table.write(tampered, columns, table.origin(tampered))
    (project.folder / "results" / "tables" / "stray.csv").write_text("n\n1\n")
    (project.folder / "results" / "figures" / "circle_gains.svg").unlink()
    project.edit("config/config.yaml", "order: 3", "order: 2")
    done = attnkernel(project, "audit", "--all")
    assert done.returncode == 1, done.stderr
    states = dict(line.split()[1::-1] for line in done.stdout.splitlines() if not line.startswith((" ", "config")))
    assert states["results/tables/scaling.parquet"] == "foreign"
    assert states["results/tables/stray.csv"] == "foreign"
    assert states["results/figures/circle_gains.svg"] == "missing"
    assert states["results/figures/scaling.svg"] == "stale"
    assert states["results/language/lee/kneser-ney.parquet"] == "stale"
    assert "its param settings.order was 3 and is 2" in done.stdout
    assert "results/tables/circle_gains.parquet" not in states
    project.snakemake("--forcerun", "scaling")
    (project.folder / "results" / "tables" / "stray.csv").unlink()
    assert attnkernel(project, "audit", "--all").returncode == 0


def test_why_tells_all_about_a_published_number(finished):
    done = attnkernel(finished, "why", "toy.first")
    assert done.returncode == 0, done.stderr
    for part in ("Toy run", "published true", "reproduced", "results/tables/shapes.parquet", "rule      evaluate,"):
        assert part in done.stdout, part
    assert "workflow/scripts/evaluate.py:" in done.stdout
    assert 'holds"' in done.stdout


def test_why_says_so_of_a_number_that_is_not_run(finished):
    done = attnkernel(finished, "why", "toy.later")
    assert done.returncode == 0, done.stderr
    assert "not run" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("why", "toy.frst"), "there is no published number 'toy.frst'; did you mean toy.first"),
        (("audit", "results/tables/none.parquet"), "No rule to produce results/tables/none.parquet"),
    ],
)
def test_a_mistake_is_answered_in_one_line(finished, arguments, message):
    done = attnkernel(finished, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_lineage_has_every_table_with_its_content_and_goes_down_to_the_corpora(finished):
    found = json.loads((finished.folder / "results" / "provenance" / "tables.json").read_text())
    tables = {path.relative_to(finished.folder).as_posix() for path in finished.folder.glob("results/tables/*.parquet")}
    assert tables <= found.keys()
    assert {"results/corpora/lee/tokens.parquet", "results/corpora/synthetic/documents.parquet"} <= found.keys()
    for path in tables:
        assert found[path]["content"] == table.content_hash(table.read(finished.folder / path))


def test_the_lineage_names_no_time_machine_or_version(finished):
    text = (finished.folder / "results" / "provenance" / "tables.json").read_text()
    for word in ("seconds", "started", str(finished.folder), 'environment":', "blas"):
        assert word not in text


def test_the_run_has_seconds_and_memory_of_every_job(finished):
    run = json.loads((finished.folder / "results" / "provenance" / "run.json").read_text())
    records = provenance.read_records(finished.folder / provenance.RECORDS)
    assert records.keys() - run["jobs"].keys() <= {"verify", "provenance", "crate"}
    assert all(job["seconds"] > 0.0 and job["peak_memory_megabytes"] > 20.0 for job in run["jobs"].values())
    assert run["environments"][0]["run_cores"] == 2
    assert "(" in run["environments"][0]["blas"]


def entities(finished):
    folder = finished.folder / "results" / "provenance" / "run-crate"
    graph = json.loads((folder / "ro-crate-metadata.json").read_text())["@graph"]
    return folder, {entity["@id"]: entity for entity in graph}


def of_type(found, kind):
    return [entity for entity in found.values() if kind in as_list(entity["@type"])]


def as_list(value):
    return value if isinstance(value, list) else [value]


def ids(value):
    return {reference["@id"] for reference in as_list(value)}


def test_the_deposit_is_a_workflow_run_crate(finished):
    """What the profiles Process Run 0.5, Workflow Run 0.5 and Workflow RO-Crate 1.0 require."""
    _, found = entities(finished)
    assert found["ro-crate-metadata.json"]["about"] == {"@id": "./"}
    assert "https://w3id.org/ro/crate/1.1" in ids(found["ro-crate-metadata.json"]["conformsTo"])
    root = found["./"]
    assert {"name", "description", "license", "datePublished", "hasPart", "mainEntity", "mentions"} <= root.keys()
    profiles = ids(root["conformsTo"])
    for profile in ("ro/wfrun/process/0.5", "ro/wfrun/workflow/0.5", "workflowhub/workflow-ro-crate/1.0"):
        assert f"https://w3id.org/{profile}" in profiles
    assert all(
        "CreativeWork" in as_list(found[profile]["@type"]) and "version" in found[profile] for profile in profiles
    )
    workflow = found[root["mainEntity"]["@id"]]
    assert set(workflow["@type"]) == {"File", "SoftwareSourceCode", "ComputationalWorkflow"}
    assert "ComputerLanguage" in found[workflow["programmingLanguage"]["@id"]]["@type"]
    (action,) = of_type(found, "CreateAction")
    assert ids(root["mentions"]) == {action["@id"]}
    assert action["instrument"] == {"@id": workflow["@id"]}
    assert action["startTime"] < action["endTime"]
    for parameters, files in (("input", action["object"]), ("output", action["result"])):
        allowed = ids(workflow[parameters])
        assert all(found[name]["@type"] == "FormalParameter" for name in allowed)
        assert all(ids(found[name]["exampleOfWork"]) <= allowed for name in ids(files))


def test_every_reference_in_the_deposit_leads_somewhere(finished):
    _, found = entities(finished)
    outside = ("http://", "https://")
    for entity in found.values():
        for value in entity.values():
            for reference in as_list(value):
                if isinstance(reference, dict):
                    assert reference["@id"] in found or reference["@id"].startswith(outside), reference


def test_the_deposit_holds_every_file_that_it_names_with_its_hash(finished):
    folder, found = entities(finished)
    files = of_type(found, "File")
    for entity in files:
        assert (folder / entity["@id"]).is_file()
        if "sha256" in entity:
            assert provenance.hash_of_bytes(folder / entity["@id"]) == entity["sha256"]
    names = {entity["@id"] for entity in files}
    assert {"Snakefile", "envs/requirements.lock", "results/provenance/config.yaml", "results/claims.csv"} <= names
    assert {"results/provenance/tables.json", "results/provenance/run.json"} <= names
    for kind in ("tables/*.parquet", "tables/*.csv", "figures/*.svg", "figures/*.png"):
        made = {path.relative_to(finished.folder).as_posix() for path in finished.folder.glob(f"results/{kind}")}
        assert made
        assert made <= names
