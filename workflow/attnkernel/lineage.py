"""Where every result comes from, in one record that is the same at every run; and, apart, how the run went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attnkernel import environment, provenance, table

Json = dict[str, Any]


def lineage(paths: Iterable[str], records: Mapping[str, Mapping[str, Any]]) -> Json:
    """Content hash and origin of files and of every file behind them, by path.

    Parameters
    ----------
    paths
        Where to begin.
    records
        The records of the jobs by name; they say what made a file that is no table.

    Returns
    -------
    For each path its `content` and, where a job made it, `rule`, `script`, `params`, `modules` and `inputs`.
    """
    made = {path: record["origin"] for record in records.values() for path in record["outputs"]}
    waiting = [(path, provenance.hash_of(path)) for path in paths]
    found: dict[str, Json] = {}
    while waiting:
        path, content = waiting.pop()
        if path not in found:
            origin = _origin(path, made)
            found[path] = {**origin, "content": content}
            waiting += [item for files in origin.get("inputs", {}).values() for item in files.items()]
    return dict(sorted(found.items()))


def behind(paths: Iterable[str], records: Mapping[str, Json]) -> dict[str, Json]:
    """The records of the jobs that made these files and all files behind them, by name; no job of another config's."""
    maker = {path: name for name, record in records.items() for path in record["outputs"]}
    waiting, found = list(paths), set()
    while waiting:
        name = maker.get(waiting.pop())
        if name and name not in found:
            found.add(name)
            waiting += [path for files in records[name]["origin"]["inputs"].values() for path in files]
    return {name: record for name, record in records.items() if name in found}


def run_summary(records: Mapping[str, Mapping[str, Any]]) -> Json:
    """Seconds and memory of each job, the environments they ran in, and every package installed there."""
    environments: list[Json] = []
    jobs: dict[str, Json] = {}
    for name, record in records.items():
        if record["environment"] not in environments:
            environments.append(record["environment"])
        run = record["run"]
        jobs[name] = {
            "rule": record["origin"]["rule"],
            **run,
            "seconds": run["ended"] - run["started"],
            "environment": environments.index(record["environment"]),
        }
    return {"environments": environments, "jobs": jobs, "packages": environment.packages()}


def _origin(path: str, made: Mapping[str, Json]) -> Json:
    origin = table.origin(path) if path.endswith(".parquet") and Path(path).is_file() else {}
    return origin or made.get(path, {})
