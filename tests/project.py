"""A copy of the project that tests edit and run at toy size."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIXTURES = ("tests/workflow/published.csv", "tests/workflow/filings")
PROJECT = ("Snakefile", "CITATION.cff", "workflow", "config", "envs", "profiles", *FIXTURES)

# Rules that read tables and figures of every chapter, and so rerun after almost any edit.
PACKING = {"effort", "payload", "laboratory", "summary", "report", "notebook", "provenance", "crate"}


class Project:
    """A copy of the project in a folder of its own, run at toy size."""

    def __init__(self, folder):
        self.folder = folder

    def snakemake(self, *arguments, check=True):
        command = [
            sys.executable,
            "-m",
            "snakemake",
            "--cores",
            "2",
            "--configfile",
            "config/test.yaml",
            *arguments,
        ]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        return done

    def copy(self, folder):
        """A copy of the folder, as it is."""
        return Project(shutil.copytree(self.folder, folder, symlinks=True))

    def outdated(self):
        """Names of the rules that a run would execute now, without those that pack what others make."""
        return self.planned() - PACKING

    def planned(self):
        """Names of all rules that a run would execute now."""
        done = self.snakemake("--dry-run")
        listing = done.stdout + done.stderr
        if "Nothing to be done" in listing:
            return set()
        rules = [
            line.split()[1].rstrip(":") for line in listing.splitlines() if line.startswith(("rule ", "localrule "))
        ]
        assert rules, listing
        return set(rules) - {"all"}

    def edit(self, path, old, new):
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        assert old in text, f"{path} has no {old!r}"
        file.write_text(text.replace(old, new, 1), encoding="utf-8")


def copied(source, target):
    for name in PROJECT:
        place = source / name
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if place.is_dir():
            shutil.copytree(place, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(place, target / name)
    return target
