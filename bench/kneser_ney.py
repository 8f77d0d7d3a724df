"""Kneser-Ney against KenLM, in one run: estimation and scoring, as ratios.

python bench/kneser_ney.py <speeches.jsonl.gz> <folder of KenLM's programs, made by bench/build_kenlm.sh>

Every ninth sentence is held out. KenLM reads text, so each task is timed twice here: from word ids, as the pipeline
calls it, and from words. KenLM's estimator also writes its model; its scorer is charged for the text only, the time
that an empty text takes is subtracted.
"""

from __future__ import annotations

import gzip
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from attnkernel.language.kneser_ney import RESERVED, Integers, KneserNey, estimate

ORDER = 3
MEBIBYTE = 2**20
# A child's peak memory starts from that of the process that forked it: a small one in between keeps ours out of it.
RUNNER = """
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[2:], stdout=int(sys.argv[1]), check=True)
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
Sentences = list[list[str]]


def measure(data: Path, kenlm: Path, repeats: int = 7) -> list[dict[str, Any]]:
    """Time both programs in turn, `repeats` times.

    Returns
    -------
    A row a task: what; tokens; seconds (median) and their range for us and for KenLM; ratio (ours over KenLM's);
    peak memory of each in MiB (ours: what the task allocates); for scoring, the largest difference of a log10.
    """
    training, heldout = _sentences(data)
    ids = _vocabulary(training)
    text, scored = _encode(training, ids), _encode(heldout, ids)
    model = estimate(text, len(ids), ORDER)
    ours: dict[str, Callable[[], object]] = {
        "estimation, from ids": lambda: estimate(text, len(ids), ORDER),
        "estimation, from words": lambda: _estimate_words(training),
        "scoring, from ids": lambda: model.probabilities(scored),
        "scoring, from words": lambda: model.probabilities(_encode(heldout, ids)),
    }
    peaks = {what: _peak(run) for what, run in ours.items()}
    seconds: dict[str, list[float]] = {what: [] for what in ours}
    theirs: dict[str, list[float]] = {"estimation": [], "scoring": []}
    with tempfile.TemporaryDirectory() as scratch:
        reference = _KenLM(kenlm, Path(scratch), training, heldout)
        for _ in range(repeats):
            theirs["estimation"].append(reference.estimate())
            theirs["scoring"].append(reference.score())
            for what, run in ours.items():
                seconds[what].append(_seconds(run))
        difference = np.abs(np.log10(model.probabilities(scored)) - reference.log10()).max()
    rows = []
    for what in ours:
        task = what.split(",")[0]
        rows.append(
            {
                "what": what,
                "tokens": len(text if task == "estimation" else scored),
                "seconds": statistics.median(seconds[what]),
                "range": (min(seconds[what]), max(seconds[what])),
                "kenlm_seconds": statistics.median(theirs[task]),
                "kenlm_range": (min(theirs[task]), max(theirs[task])),
                "ratio": statistics.median(seconds[what]) / statistics.median(theirs[task]),
                "peak_mib": peaks[what],
                "kenlm_peak_mib": reference.peak[task] / MEBIBYTE,
                "difference": difference if task == "scoring" else None,
            }
        )
    return rows


class _KenLM:
    """KenLM's programs on one split, each run timed by the clock and its memory by the system."""

    def __init__(self, folder: Path, scratch: Path, training: Sentences, heldout: Sentences) -> None:
        self._folder, self._scratch = folder.resolve(), scratch
        self.peak = {"estimation": 0, "scoring": 0}
        for name, sentences in (("training", training), ("heldout", heldout), ("empty", [])):
            (scratch / name).write_text("".join(" ".join(s) + "\n" for s in sentences), encoding="utf-8")

    def estimate(self) -> float:
        # Half a gibibyte of sort memory holds this corpus; the default takes 80% of the machine's.
        seconds = self._run("estimation", f"lmplz -o {ORDER} -S 512M -T {self._scratch} --arpa arpa", "training")
        self._run("conversion", "build_binary arpa binary", "empty")
        return seconds

    def score(self) -> float:
        empty = self._run("scoring", "query -v summary binary", "empty")
        return self._run("scoring", "query -v summary binary", "heldout") - empty

    def log10(self) -> np.ndarray:
        self._run("scoring", "query -v word binary", "heldout")
        cells = (self._scratch / "output").read_text(encoding="utf-8").replace("\n", "\t").split("\t")
        return np.array([float(cell.split()[2]) for cell in cells if "=" in cell])

    def _run(self, task: str, command: str, text: str) -> float:
        program, *arguments = command.split()
        with (
            (self._scratch / text).open() as source,
            (self._scratch / "output").open("w") as output,
            (self._scratch / "log").open("w") as log,
        ):
            report = subprocess.run(
                [sys.executable, "-c", RUNNER, str(output.fileno()), self._folder / program, *arguments],
                cwd=self._scratch,
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=log,
                pass_fds=[output.fileno()],
                check=False,
            )
        if report.returncode:
            raise RuntimeError(f"{command} failed: {(self._scratch / 'log').read_text()[-500:]}")
        seconds, kibibytes = report.stdout.split()
        self.peak[task] = max(self.peak.get(task, 0), int(kibibytes) * 1024)
        return float(seconds)


def _sentences(data: Path) -> tuple[Sentences, Sentences]:
    def each() -> Iterator[list[str]]:
        with gzip.open(data, "rt", encoding="utf-8") as lines:
            for line in lines:
                for sentence in re.split(r"[.!?]+\s|\n", json.loads(line)["text"].lower()):
                    if words := re.findall(r"\w+", sentence):
                        yield words

    sentences = list(each())
    return [s for i, s in enumerate(sentences) if i % 9], sentences[::9]


def _vocabulary(sentences: Sentences) -> dict[str, int]:
    return {word: i for i, word in enumerate([*RESERVED, *dict.fromkeys(w for s in sentences for w in s)])}


def _encode(sentences: Sentences, ids: dict[str, int]) -> Integers:
    return np.array([ids.get(word, 0) for s in sentences for word in [*s, "</s>"]], dtype=np.int64)


def _estimate_words(sentences: Sentences) -> KneserNey:
    ids = _vocabulary(sentences)
    return estimate(_encode(sentences, ids), len(ids), ORDER)


def _seconds(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def _peak(task: Callable[[], object]) -> float:
    tracemalloc.start()
    task()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / MEBIBYTE


def main(data: Path, kenlm: Path) -> None:
    """Print the table, or why there is none."""
    for path, remedy in ((data, "give a .jsonl.gz with a text field"), (kenlm / "lmplz", "see build_kenlm.sh")):
        if not path.exists():
            print(f"Kneser-Ney: skipped, {path} is not there; {remedy}")
            return
    print(f"{'Kneser-Ney':24}{'tokens':>10}{'ours (s)':>22}{'KenLM (s)':>22}{'ratio':>8}{'MiB':>14}")
    for row in measure(data, kenlm):
        times = (
            f"{row[s]:.3f} ({row[r][0]:.3f}-{row[r][1]:.3f})"
            for s, r in (("seconds", "range"), ("kenlm_seconds", "kenlm_range"))
        )
        memory = f"{row['peak_mib']:.0f} / {row['kenlm_peak_mib']:.0f}"
        print(f"{row['what']:24}{row['tokens']:>10}{next(times):>22}{next(times):>22}{row['ratio']:>8.2f}{memory:>14}")
        if row["difference"] is not None:
            print(f"{'':24}largest difference of a log10 probability {row['difference']:.1e}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
