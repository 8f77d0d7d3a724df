"""The run packed for deposit: a Workflow Run RO-Crate (https://w3id.org/ro/wfrun/workflow/0.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attnkernel import provenance

if TYPE_CHECKING:
    from rocrate.model.entity import Entity
    from rocrate.rocrate import ROCrate

PROFILES: Final = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
TERMS: Final = "https://w3id.org/ro/terms/workflow-run/context"
WORKFLOW_PROFILE: Final = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
PARAMETER_PROFILE: Final = "https://bioschemas.org/profiles/FormalParameter/1.0-RELEASE"
FORMATS: Final = {
    ".parquet": "application/vnd.apache.parquet",
    ".csv": "text/csv",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".json": "application/json",
    ".yaml": "application/yaml",
    ".lock": "text/plain",
    ".html": "text/html",
    ".ipynb": "application/x-ipynb+json",
    ".md": "text/markdown",
}


@dataclass(frozen=True)
class About:
    """What a deposit says of itself: title, description, licence (an SPDX name) and authors."""

    name: str
    description: str
    license: str
    authors: Sequence[str]


def build(
    about: About,
    given: Mapping[str, Sequence[str]],
    made: Mapping[str, Sequence[str]],
    workflow: Sequence[str],
    run: Mapping[str, Any],
) -> ROCrate:
    """The crate of a run, to be written with its `write`.

    Parameters
    ----------
    about
        What it says of itself.
    given, made
        Paths of what the run was given and of what it made, each by the name of a parameter of the workflow; they
        keep their places in the crate.
    workflow
        Paths of the workflow's own files, the Snakefile first.
    run
        The summary of the run (`lineage.run_summary`).
    """
    from rocrate.rocrate import ROCrate

    crate = ROCrate(version="1.1")
    crate.metadata.extra_contexts.append(TERMS)
    _describe(crate, about, run)
    main = _add_workflow(crate, about, workflow, run)
    objects = [file for name, paths in given.items() for file in _add_parameter(crate, main, "input", name, paths)]
    results = [file for name, paths in made.items() for file in _add_parameter(crate, main, "output", name, paths)]
    action = crate.add_action(
        main,
        object=objects,
        result=results,
        properties={
            "name": f"Run of {about.name}",
            "description": "Every table, figure and check of the config, made by Snakemake from nothing.",
            "startTime": _time(min(job["started"] for job in run["jobs"].values())),
            "endTime": _ended(run),
            "actionStatus": "http://schema.org/CompletedActionStatus",
        },
    )
    action["agent"] = crate.root_dataset["author"]
    crate.root_dataset["mentions"] = action
    return crate


def _describe(crate: ROCrate, about: About, run: Mapping[str, Any]) -> None:
    from rocrate.model.contextentity import ContextEntity

    crate.name, crate.description = about.name, about.description
    crate.root_dataset["datePublished"] = _ended(run)
    address = f"https://spdx.org/licenses/{about.license}"
    license_of = ContextEntity(crate, address, {"@type": "CreativeWork", "name": about.license, "url": address})
    crate.root_dataset["license"] = crate.add(license_of)
    authors = [
        crate.add(ContextEntity(crate, f"#author-{number}", {"@type": "Organization", "name": author}))
        for number, author in enumerate(about.authors, start=1)
    ]
    crate.root_dataset["author"] = authors if len(authors) > 1 else authors[0]
    crate.root_dataset["conformsTo"] = [
        crate.add(
            ContextEntity(crate, address, {"@type": "CreativeWork", "name": name, "version": version, "url": address})
        )
        for address, (name, version) in PROFILES.items()
    ]


def _add_workflow(crate: ROCrate, about: About, files: Sequence[str], run: Mapping[str, Any]) -> Entity:
    main = crate.add_workflow(files[0], files[0], main=True, lang="snakemake", gen_cwl=False)
    main["name"] = about.name
    main["conformsTo"] = {"@id": WORKFLOW_PROFILE}
    main["encodingFormat"] = "text/plain"
    main["license"] = crate.root_dataset["license"]
    main["url"] = main["programmingLanguage"]["url"]
    main["programmingLanguage"]["version"] = run["environments"][0]["snakemake"]
    main["hasPart"] = [crate.add_file(file, file, properties=_properties(file)) for file in files[1:]]
    return main


def _add_parameter(crate: ROCrate, main: Entity, kind: str, name: str, paths: Sequence[str]) -> list[Entity]:
    """Files of one parameter of the workflow, each an example of it."""
    from rocrate.model.contextentity import ContextEntity

    parameter = crate.add(
        ContextEntity(
            crate,
            f"#{kind}-{name}",
            {
                "@type": "FormalParameter",
                "additionalType": "File",
                "conformsTo": {"@id": PARAMETER_PROFILE},
                "name": name,
                "valueRequired": "True",
                "multipleValues": str(len(paths) > 1),
            },
        )
    )
    main.append_to(kind, parameter)
    files = [crate.add_file(path, path, properties=_properties(path)) for path in paths]
    for file in files:
        file["exampleOfWork"] = parameter
    parameter["workExample"] = files if len(files) > 1 else files[0]
    return files


def _properties(path: str) -> dict[str, Any]:
    file = Path(path)
    kind = FORMATS.get(file.suffix, "text/plain")
    return {
        "name": path,
        "encodingFormat": kind,
        "contentSize": str(file.stat().st_size),
        "sha256": provenance.hash_of_bytes(file),
    }


def _ended(run: Mapping[str, Any]) -> str:
    return _time(max(job["ended"] for job in run["jobs"].values()))


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
