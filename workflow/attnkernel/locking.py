"""One run at a time in a folder, and none while a job of a killed run is still at work.

Snakemake's own lock is a file, which outlives a run that is killed and must then be removed by hand. These locks
belong to processes: the kernel lifts them when the process ends, however it ends.
"""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO, Final

from attnkernel.errors import InputError

FOLDER: Final = Path(".snakemake")


def hold_run() -> IO[str]:
    """Take the folder for a run until the result is closed; wait for jobs that a killed run left behind.

    Raises
    ------
    InputError
        Another run is at work here.
    """
    run = _open("attnkernel-run")
    try:
        fcntl.flock(run, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        run.close()
        raise InputError("another run is at work in this folder; wait for it to end, or stop it") from None
    with _open("attnkernel-jobs") as jobs:
        fcntl.flock(jobs, fcntl.LOCK_EX)
    return run


def hold_job() -> IO[str]:
    """Make a later run wait until this job has ended, or until the result is closed."""
    jobs = _open("attnkernel-jobs")
    fcntl.flock(jobs, fcntl.LOCK_SH)
    return jobs


def _open(name: str) -> IO[str]:
    FOLDER.mkdir(exist_ok=True)
    return (FOLDER / f"{name}.lock").open("w", encoding="utf-8")
