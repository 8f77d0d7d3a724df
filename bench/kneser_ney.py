"""Kneser-Ney against KenLM, and against nltk for scale: estimation and scoring.

Every ninth sentence is held out. KenLM reads text, so each task is timed twice here: from word ids, as the pipeline
calls it, and from words; those to be scored come from the very file that KenLM reads. KenLM's estimator also writes its
model; its scorer is charged for the text only, the time that an empty text takes is subtracted. nltk takes minutes
where we take one second, so it gets a small part of the text, and so do we beside it.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from attnkernel.language.kneser_ney import RESERVED, Integers, KneserNey, estimate
from bench import peers
from bench.race import MEBIBYTE, Row, Runner, race, runner

ORDER = 3
SENTENCES_FOR_NLTK, SCORED_BY_NLTK = 1_500, 8
# A child's peak memory starts from that of the process that forked it: a small one in between keeps ours out of it.
RUNNER = """
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[2:], stdout=int(sys.argv[1]), check=True)
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
Sentences = list[list[str]]


def measure(sentences: Sentences) -> list[Row]:
    """Race estimation and scoring."""
    training, heldout = [s for i, s in enumerate(sentences) if i % 9], sentences[::9]
    ids = vocabulary(training)
    text, scored = encode(training, ids), encode(heldout, ids)
    model = estimate(text, len(ids), ORDER)
    found = peers.kenlm()
    with tempfile.TemporaryDirectory() as scratch:
        theirs: dict[str, Any] = {"estimate": found, "score": found}
        if isinstance(found, Path):
            reference = _KenLM(found, Path(scratch), training, heldout)
            theirs = {
                "estimate": Runner(reference.estimate, lambda: reference.peak_of("estimation")),
                "score": Runner(reference.score, lambda: reference.peak_of("scoring")),
            }
        file, words = write_sentences(Path(scratch) / "words", heldout), pa.array(list(ids))
        rows = [
            *race(
                "Kneser-Ney estimation, from ids",
                f"{len(text)} tokens",
                runner(lambda: estimate(text, len(ids), ORDER)),
                {"KenLM": theirs["estimate"]},
            ),
            *race(
                "Kneser-Ney estimation, from words",
                f"{len(text)} tokens",
                runner(lambda: _estimate_words(training)),
                {"KenLM": theirs["estimate"]},
            ),
            *race(
                "Kneser-Ney scoring, from ids",
                f"{len(scored)} tokens",
                runner(lambda: model.probabilities(scored)),
                {"KenLM": theirs["score"]},
                {"KenLM": 0.5},
            ),
            *race(
                "Kneser-Ney scoring, from words",
                f"{len(scored)} tokens",
                runner(lambda: model.probabilities(encode_file(file, words))),
                {"KenLM": theirs["score"]},
                {"KenLM": 0.5},
            ),
        ]
        if isinstance(found, Path):
            difference = np.abs(np.log10(model.probabilities(scored)) - reference.log10()).max()
            rows[2]["note"] = f"largest difference of a log10 probability: {difference:.1e}"
    return rows + _beside_nltk(training[:SENTENCES_FOR_NLTK], heldout[:SCORED_BY_NLTK])


def _beside_nltk(training: Sentences, heldout: Sentences) -> list[Row]:
    ids = vocabulary(training)
    text, scored = encode(training, ids), encode(heldout, ids)
    model = estimate(text, len(ids), ORDER)
    why = peers.absent("nltk")
    theirs: dict[str, Any] = {"estimate": why, "score": why}
    if not why:
        fitted = _nltk_fit(training)
        theirs = {
            "estimate": runner(lambda: _nltk_fit(training)),
            "score": runner(lambda: _nltk_score(fitted, heldout)),
        }
    return [
        *race(
            "Kneser-Ney estimation, from words",
            f"{len(text)} tokens",
            runner(lambda: _estimate_words(training)),
            {"nltk": theirs["estimate"]},
        ),
        *race(
            "Kneser-Ney scoring, from words",
            f"{len(scored)} tokens",
            runner(lambda: model.probabilities(encode(heldout, ids))),
            {"nltk": theirs["score"]},
        ),
    ]


def _nltk_fit(sentences: Sentences) -> Any:
    from nltk.lm import KneserNeyInterpolated
    from nltk.lm.preprocessing import padded_everygram_pipeline

    model = KneserNeyInterpolated(ORDER)
    model.fit(*padded_everygram_pipeline(ORDER, sentences))
    return model


def _nltk_score(model: Any, sentences: Sentences) -> list[float]:
    from nltk.lm.preprocessing import pad_both_ends

    scores = []
    for sentence in sentences:
        padded = list(pad_both_ends(sentence, ORDER))
        for end in range(ORDER - 1, len(padded)):
            scores.append(model.score(padded[end], padded[end - ORDER + 1 : end]))
    return scores


class _KenLM:
    """KenLM's programs on one split, each run timed by the clock and its memory by the system."""

    def __init__(self, folder: Path, scratch: Path, training: Sentences, heldout: Sentences) -> None:
        self._folder, self._scratch = folder.resolve(), scratch
        self._peak: dict[str, int] = {}
        for name, sentences in (("training", training), ("heldout", heldout), ("empty", [])):
            write_sentences(scratch / name, sentences)

    def estimate(self) -> float:
        # Half a gibibyte of sort memory holds this corpus; the default takes 80% of the machine's.
        seconds = self._run("estimation", f"lmplz -o {ORDER} -S 512M -T {self._scratch} --arpa arpa", "training")
        self._run("conversion", "build_binary arpa binary", "empty")
        return seconds

    def score(self) -> float:
        empty = self._run("scoring", "query -v summary binary", "empty")
        return self._run("scoring", "query -v summary binary", "heldout") - empty

    def peak_of(self, task: str) -> float:
        """Peak memory of a task, MiB; scoring needs the model that estimation made."""
        self.estimate()
        if task == "scoring":
            self.score()
        return self._peak[task] / MEBIBYTE

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
        self._peak[task] = max(self._peak.get(task, 0), int(kibibytes) * 1024)
        return float(seconds)


def read_sentences(data: Path) -> Sentences:
    """Words of every sentence of a file of JSON lines with a text each."""
    return [
        words
        for record in read_lines(data)
        for sentence in re.split(r"[.!?]+\s|\n", record["text"].lower())
        if (words := re.findall(r"\w+", sentence))
    ]


def read_lines(data: Path) -> Iterator[dict[str, Any]]:
    """Records of a gzipped file of JSON lines."""
    with gzip.open(data, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def vocabulary(sentences: Sentences) -> dict[str, int]:
    """Id of every word, the reserved ones first."""
    return {word: i for i, word in enumerate([*RESERVED, *dict.fromkeys(w for s in sentences for w in s)])}


def encode(sentences: Sentences, ids: dict[str, int]) -> Integers:
    """One flat text of ids, `</s>` after each sentence."""
    return np.array([ids.get(word, 0) for s in sentences for word in [*s, "</s>"]], dtype=np.int64)


def write_sentences(path: Path, sentences: Sentences) -> Path:
    """Write a sentence a line."""
    path.write_text("".join(" ".join(s) + "\n" for s in sentences), encoding="utf-8")
    return path


def encode_file(path: Path, words: pa.Array) -> Integers:
    """`encode` what `write_sentences` wrote; the words stand in order of their id."""
    text = path.read_bytes().replace(b"\n", b" </s> ")
    found = pc.index_in(pc.split_pattern(pa.array([text], pa.string()), " ").values, value_set=words)
    # The text ends with a separator, after which there is no word.
    return np.asarray(pc.fill_null(found, 0))[:-1].astype(np.int64)


def _estimate_words(sentences: Sentences) -> KneserNey:
    ids = vocabulary(sentences)
    return estimate(encode(sentences, ids), len(ids), ORDER)
