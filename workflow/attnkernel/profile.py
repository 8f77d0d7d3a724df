"""Where a run's time goes: each job's start-up and work, and the chain of jobs that no number of cores shortens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from attnkernel.table import Table

Records = Mapping[str, Mapping[str, Any]]


def profile_table(records: Records) -> Table:
    """One row a job, in the order in which they began.

    Parameters
    ----------
    records
        The records of the jobs by name (see `provenance.write_record`).

    Returns
    -------
    job; rule; begins (seconds after the first job's process began); start_up (seconds from the process's begin to the
    script's: Python and the imports at the head of its modules); seconds (of the script); cpu_seconds (of the whole
    process); peak_mib; slack (seconds by which the job could end later if there were a core for every job and the run
    took no longer); critical (no slack: the longest chain of jobs).
    """
    jobs = sorted(records, key=lambda job: float(records[job]["run"]["spawned"]))
    if not jobs:
        raise ValueError("there is no record of a job")
    runs = [records[job]["run"] for job in jobs]
    times = {name: np.array([run[name] for run in runs], dtype=np.float64) for name in ("spawned", "started", "ended")}
    slack = _slack(jobs, records, times["ended"] - times["spawned"])
    return {
        "job": np.array(jobs, dtype=object),
        "rule": np.array([records[job]["origin"]["rule"] for job in jobs], dtype=object),
        "begins": times["spawned"] - times["spawned"].min(),
        "start_up": times["started"] - times["spawned"],
        "seconds": times["ended"] - times["started"],
        "cpu_seconds": np.array([run["cpu_seconds"] for run in runs], dtype=np.float64),
        "peak_mib": np.array([run["peak_memory_megabytes"] for run in runs], dtype=np.float64),
        "slack": slack,
        "critical": slack < 1e-9,
    }


def summary_table(profile: Table) -> Table:
    """What the jobs add up to: quantity and value.

    Quantities: jobs; wall (seconds from the first begin to the last end); idle (of these, seconds in which no job ran:
    Snakemake's own); work (summed seconds of the scripts); start_up (summed); cpu (summed); critical (seconds of the
    longest chain: the least wall time at any number of cores); peak_mib (of the largest job).
    """
    begins = profile["begins"]
    ends = begins + profile["start_up"] + profile["seconds"]
    # Before each job, the latest end so far: what lies between it and the begin is nobody's.
    covered = np.maximum.accumulate(np.concatenate(([0.0], ends[:-1])))
    values = {
        "jobs": float(len(begins)),
        "wall": float(ends.max()),
        "idle": float(np.maximum(begins - covered, 0.0).sum()),
        "work": float(profile["seconds"].sum()),
        "start_up": float(profile["start_up"].sum()),
        "cpu": float(profile["cpu_seconds"].sum()),
        "critical": float((profile["start_up"] + profile["seconds"])[profile["critical"]].sum()),
        "peak_mib": float(profile["peak_mib"].max()),
    }
    return {"quantity": np.array(list(values), dtype=object), "value": np.array(list(values.values()))}


def _slack(jobs: list[str], records: Records, duration: Any) -> Any:
    """How much later each job could end, by the longest chains before and after it."""
    maker = {path: number for number, job in enumerate(jobs) for path in records[job]["outputs"]}
    needs = [
        {maker[path] for files in records[job]["origin"]["inputs"].values() for path in files if path in maker}
        for job in jobs
    ]
    # A job begins after those that it needs have ended, so the order of beginning is one of the graph.
    until = np.zeros(len(jobs))
    for number, before in enumerate(needs):
        until[number] = duration[number] + max((until[other] for other in before), default=0.0)
    after = np.zeros(len(jobs))
    for number in reversed(range(len(jobs))):
        for other in needs[number]:
            after[other] = max(after[other], duration[number] + after[number])
    return until.max() - until - after


def effort_table(records: Records, tests: Mapping[str, int]) -> Table:
    """What stands behind the numbers: how many tests there are, and how long the work behind them takes.

    Parameters
    ----------
    records
        The records of the jobs behind the tables, by name.
    tests
        Number of test functions by test module.

    Returns
    -------
    check and value. Checks: test modules; test functions; seconds (processor time of the recorded jobs, shared by two
    cores and rounded up to a whole minute: the same at every run, while `profile_table` has the times themselves).
    """
    cpu = sum(float(record["run"]["cpu_seconds"]) for record in records.values())
    values = {
        "test modules": float(len(tests)),
        "test functions": float(sum(tests.values())),
        "seconds": 60.0 * float(np.ceil(cpu / 2.0 / 60.0)),
    }
    return {"check": np.array(list(values), dtype=object), "value": np.array(list(values.values()))}
