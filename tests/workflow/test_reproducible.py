"""The same results from any number of cores, and after any number of kills.

ATTNKERNEL_KILLS is the number of kills (5); ATTNKERNEL_SEED the seed of their moments (0).
"""

import os
import random
import signal
import subprocess
import sys
import time
from base64 import urlsafe_b64encode

import pytest

from attnkernel import provenance, table

KILLS = int(os.environ.get("ATTNKERNEL_KILLS", "5"))
SEED = int(os.environ.get("ATTNKERNEL_SEED", "0"))
# Their contents are times, versions and the like.
VOLATILE = ("results/logs/", "results/provenance/jobs/", "results/provenance/run", "results/provenance/profile")


def contents(project):
    """Hash of every result that must be the same at every run."""
    files = (path for path in (project.folder / "results").rglob("*") if path.is_file())
    named = {path.relative_to(project.folder).as_posix(): path for path in files if not path.name.startswith(".")}
    return {name: content(path) for name, path in named.items() if not name.startswith(VOLATILE)}


def content(path):
    if path.suffix == ".parquet":
        return table.content_hash(table.read(path))
    return provenance.hash_of_bytes(path)


@pytest.mark.parametrize("cores", ["1", "4"])
def test_a_run_from_scratch_gives_the_same_results_on_any_number_of_cores(finished, fresh, cores):
    fresh.snakemake("--cores", cores)
    assert contents(fresh) == contents(finished)


class Run:
    """The documented command at work, to be killed."""

    def __init__(self, project):
        command = [sys.executable, "-m", "snakemake", "--cores", "2", "--configfile", "config/test.yaml"]
        self.process = subprocess.Popen(
            command, cwd=project.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )

    def kill(self, how, everything):
        """With all its jobs, as when power fails, or alone, so that its jobs are left behind."""
        if everything:
            os.killpg(self.process.pid, how)
        else:
            self.process.send_signal(how)
        self.process.wait(timeout=120)


def test_killed_runs_are_resumed_by_the_same_command_to_the_same_results(finished, fresh):
    expected = contents(finished)
    generator = random.Random(SEED)
    ways = [(signal.SIGKILL, True), (signal.SIGKILL, False), (signal.SIGTERM, False)]
    kept = {}
    for number in range(KILLS):
        run = Run(fresh)
        time.sleep(generator.uniform(0.5, 9.0))
        run.kill(*ways[number % len(ways)])
        found = contents(fresh)
        tables = {name for name in found if name.endswith((".parquet", ".csv"))}
        # Whatever is there under its name is whole, and what was there before still is.
        assert {name: found[name] for name in tables} == {name: expected[name] for name in tables}
        assert kept.keys() <= tables
        kept = finished_by_now(fresh, found)
    fresh.snakemake()
    assert contents(fresh) == expected


def finished_by_now(project, found):
    """Tables whose job is over, in its own words and in Snakemake's: nothing may be lost of these."""
    records = provenance.read_records(project.folder / provenance.RECORDS)
    outputs = {path for record in records.values() for path in record["outputs"]}
    marks = {path.name for path in (project.folder / ".snakemake" / "incomplete").iterdir()}
    over = {path for path in outputs & found.keys() if urlsafe_b64encode(path.encode()).decode() not in marks}
    return {name: found[name] for name in over if name.endswith((".parquet", ".csv"))}


def test_a_second_run_in_the_same_folder_is_refused(project):
    project.edit("config/config.yaml", "sigma: 0.5", "sigma: 0.6")
    lock = project.folder / ".snakemake" / "attnkernel-run.lock"
    lock.unlink(missing_ok=True)
    run = Run(project)
    while not lock.exists() and run.process.poll() is None:
        time.sleep(0.05)
    # Halted, or it may be over before the second has started on a busy machine.
    os.killpg(run.process.pid, signal.SIGSTOP)
    second = project.snakemake(check=False)
    run.kill(signal.SIGKILL, everything=True)
    assert second.returncode != 0
    assert "another run is at work in this folder" in second.stderr
    project.snakemake()
