"""One run at a time in a folder, and none while a job of a killed run is still at work.

Snakemake's own lock is a file, which outlives a run that is killed and must then be removed by hand. These locks
belong to processes: the kernel lifts them when the process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import time
from pathlib import Path
from typing import IO, Final

from attnkernel.errors import InputError

FOLDER: Final = Path(".snakemake")
ANOTHER: Final = "another run is at work in this folder"

_RUN: Final = "attnkernel-run"
_JOBS: Final = "attnkernel-jobs"
_TRIES: Final = 5
_PAUSE: Final = 0.05  # seconds; who only asks whether a run is held, holds it no longer


_held: list[IO[str]] = []


def hold_run() -> IO[str]:
    """Take the folder for a run until this process ends; wait for jobs that a killed run left behind.

    Returns
    -------
    The lock, which ends sooner if it is closed.

    Raises
    ------
    InputError
        Another run is at work here.
    """
    run = _open(_RUN)
    if not _taken(run, fcntl.LOCK_EX):
        run.close()
        raise InputError(f"{ANOTHER}; wait for it to end, or stop it")
    with _open(_JOBS) as jobs:
        fcntl.flock(jobs, fcntl.LOCK_EX)
    _held.append(run)  # a file that nobody refers to is closed
    return run


def is_run_held() -> bool:
    """Whether a run is at work in this folder."""
    if not (FOLDER / f"{_RUN}.lock").exists():
        return False
    with _open(_RUN) as run:
        return not _taken(run, fcntl.LOCK_SH)


def hold_job() -> IO[str]:
    """Make a later run wait until this job has ended, or until the result is closed."""
    jobs = _open(_JOBS)
    fcntl.flock(jobs, fcntl.LOCK_SH)
    return jobs


def _taken(file: IO[str], kind: int) -> bool:
    for _ in range(_TRIES):
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE)
        else:
            return True
    return False


def _open(name: str) -> IO[str]:
    FOLDER.mkdir(exist_ok=True)
    return (FOLDER / f"{name}.lock").open("w", encoding="utf-8")
