"""The chain behind a file: what made it, from what, and, apart from that, where and how fast.

Two records are kept of each job. Its *origin* is the same at every run and on every machine; every Parquet file carries
it in its metadata. Its *record*, one JSON file a job, repeats the origin beside the hash of every output, so that a
figure can be traced too, and adds what differs from run to run.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from attnkernel import table, tracking

RECORDS: Final = Path("results/provenance/jobs")


def origin(
    rule: str,
    params: Mapping[str, Any],
    inputs: Mapping[str, list[str]],
    script: Path,
) -> dict[str, Any]:
    """What a file says of how it was made; only what is the same at every run and on every machine.

    Parameters
    ----------
    rule
        Name of the rule.
    params
        Its parameters; the code digest is among them.
    inputs
        Paths of its inputs by name.
    script
        The rule's script, whose imports name the modules.
    """
    return {
        "rule": rule,
        "script": script.name,
        "params": plain(params),
        "modules": tracking.modules_of(script),
        "inputs": {name: {place(path): hash_of(path) for path in paths} for name, paths in inputs.items()},
    }


def write_record(name: str, made: Mapping[str, Any], outputs: Iterable[str], started: float) -> None:
    """Write the record of the job that ends now, under its name.

    Parameters
    ----------
    name
        The job: its rule with its wildcards.
    made
        Its origin.
    outputs
        Paths of what it wrote.
    started
        When its script began, in seconds since 1970.
    """
    from attnkernel import environment

    record = {
        "origin": made,
        "outputs": {place(path): hash_of(path) for path in outputs},
        "run": {
            "spawned": environment.spawned() or started,
            "started": started,
            "ended": time.time(),
            "cpu_seconds": time.process_time(),
            "peak_memory_megabytes": environment.peak_memory(),
        },
        "environment": environment.describe(),
    }
    with table.atomic(RECORDS / f"{name}.json", "w") as file:
        json.dump(record, file, indent=1)


def read_records(folder: Path = RECORDS) -> dict[str, dict[str, Any]]:
    """The record of every job that has a readable one, by its name."""
    records = {}
    for path in sorted(folder.glob("*.json")):
        with suppress(ValueError):
            records[path.stem] = json.loads(path.read_text(encoding="utf-8"))
    return records


def hash_of(path: str | Path) -> str:
    """A file's content: the hash over values that a table of this project carries, else SHA-256 over the bytes.

    A folder's is over the names and contents of the files in it.
    """
    if str(path).endswith(".parquet"):
        content = table.origin(path).get("content")
        if content:
            return str(content)
    return hash_of_bytes(Path(path))


def hash_of_bytes(path: Path) -> str:
    """SHA-256 over the bytes of a file, or over the names and bytes of all files in a folder."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file() and file.name != ".snakemake_timestamp")
        listing = "".join(f"{file.relative_to(path)}={hash_of_bytes(file)}\n" for file in files)
        return hashlib.sha256(listing.encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def place(path: str | Path) -> str:
    """A path as records name it: below the project as it is there, elsewhere the name alone."""
    full = Path(path).absolute()
    here = Path.cwd()
    return full.relative_to(here).as_posix() if full.is_relative_to(here) else full.name


def plain(value: Any) -> Any:
    """The value as JSON has it; JSON has no infinity, so beta = inf is written as text."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return str(value)
    return value
