"""A corpus of 100 million tokens, counted and scored in shards, with the memory and CPU seconds of every stage.

python -m bench.large [SPEECHES] [TOKENS]

The speeches are repeated, and in each copy every word but the 2,000 most frequent is renamed, so that types and
n-grams go on growing. A shard is a copy; every ninth sentence is held out and scored. Each stage is a process of its
own, as the graph's jobs are, and calls what they call. Writes results/bench/large.csv and large.parquet.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from attnkernel import configuration, table
from attnkernel.corpus import assemble, readers
from attnkernel.language import kneser_ney
from bench.__main__ import ROOT, SPEECHES, write
from bench.kneser_ney import ORDER, encode, read_sentences, vocabulary

SHARED_WORDS = 2_000
EVERY = 9
# A stage's peak memory starts from that of the process that forked it: a small one in between keeps this one's out.
RUNNER = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def prepare(folder: Path, speeches: Path, wanted: int) -> tuple[int, int]:
    """Write the ids of one copy, words by falling frequency; returns the number of copies and of types."""
    read = read_sentences(speeches)
    ids = vocabulary(read)
    text = encode(read, ids)
    counts = np.bincount(text, minlength=len(ids))
    counts[: len(kneser_ney.RESERVED)] = counts.max() + 1
    rank = np.empty(len(ids), dtype=np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(ids))
    text = rank[text]
    sentence = np.cumsum(text == kneser_ney.END) - (text == kneser_ney.END)
    held = sentence % EVERY == 0
    np.savez(folder / "copy.npz", training=text[~held], heldout=text[held])
    copies = -(-wanted // int((~held).sum()))
    return copies, SHARED_WORDS + copies * (len(ids) - SHARED_WORDS)


def read_copy(folder: Path, copy: int, split: str) -> Any:
    """A copy's ids, its own words renamed."""
    text = np.load(folder / "copy.npz")[split]
    words = int(np.load(folder / "copy.npz")["training"].max()) + 1
    return np.where(text < SHARED_WORDS, text, text + copy * (words - SHARED_WORDS))


def tokens(folder: Path, speeches: str) -> None:
    """Read the speeches and tokenise them as the rule `tokens` does."""
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
    config["corpora"]["speeches"] = {"path": speeches}
    checked = configuration.checked(config, ROOT / "workflow" / "schemas" / "config.schema.yaml")
    settings = checked["corpora"]["speeches"]
    assembly = assemble.Assembly(readers.each_document(settings, [Path(speeches)]), settings, checked["splits"])
    table.write_pieces(folder / "tokens.parquet", assembly.pieces(), {})


def growth_of_ngrams(text: Any, types: int) -> float:
    """Log-log slope of the number of distinct n-grams over tokens, from a tenth of a text to all of it."""
    ends = np.flatnonzero(text == kneser_ney.END) + 1
    parts = (text[: ends[len(ends) // 10]], text)
    stored = [sum(len(level.keys) for level in kneser_ney.count_ngrams(part, types, ORDER)[1:]) for part in parts]
    return float(np.log(stored[1] / stored[0]) / np.log(len(parts[1]) / len(parts[0])))


def count(folder: Path, copy: int, types: int) -> None:
    """Count one shard's n-grams."""
    ngrams = kneser_ney.count_ngrams(read_copy(folder, copy, "training"), types, ORDER)
    table.write(folder / f"ngrams-{copy}.parquet", kneser_ney.counts_to_columns(ngrams), {})


def estimate(folder: Path, copies: int, types: int) -> None:
    """Merge the shards' counts and estimate the model."""
    shards = (
        kneser_ney.counts_from_columns(table.read(folder / f"ngrams-{copy}.parquet"), ORDER) for copy in range(copies)
    )
    model = kneser_ney.estimate_from_counts(kneser_ney.merge_counts(shards))
    table.write_pieces(folder / "model.parquet", kneser_ney.column_pieces(model), {})


def score(folder: Path, copy: int, types: int) -> None:
    """Score one shard's held-out sentences."""
    text = read_copy(folder, copy, "heldout")
    model = kneser_ney.backoff_for_texts(table.read_pieces(folder / "model.parquet", kneser_ney.SCORING), [text])
    table.write(folder / f"scores-{copy}.parquet", {"kn": model.probabilities(text)}, {})


def run(stage: str, folder: Path, *arguments: Any) -> tuple[float, float]:
    """A stage in a process of its own: CPU seconds and peak memory, MiB."""
    inner = [sys.executable, "-m", "bench.large", "--stage", stage, str(folder), *map(str, arguments)]
    report = subprocess.run([sys.executable, "-c", RUNNER, *inner], capture_output=True, text=True, check=True)
    seconds, mebibytes = map(float, report.stdout.split()[-2:])
    return seconds, mebibytes


def main(speeches: Path, wanted: int, scored_shards: int = 3) -> None:
    """Run all stages and print the table."""
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        read = run("tokens", folder, speeches)
        copies, types = prepare(folder, speeches, wanted)
        shards = [run("count", folder, copy, types) for copy in range(copies)]
        whole = run("estimate", folder, copies, types)
        scored = [run("score", folder, copy, types) for copy in range(scored_shards)]
        of_copy = {split: read_copy(folder, 0, split) for split in ("training", "heldout")}
        slope = growth_of_ngrams(of_copy["training"], types)
        orders = np.bincount(table.read(folder / "model.parquet", ["order"])["order"])[1:].tolist()
        losses = [-np.log(table.read(folder / f"scores-{copy}.parquet")["kn"]).mean() for copy in range(scored_shards)]
        read_tokens = table.rows(folder / "tokens.parquet")
    counted = copies * len(of_copy["training"])
    for stage, times, part in (
        ("tokens", [read], read_tokens),
        ("count, a shard", shards, len(of_copy["training"])),
        ("merge and estimate", [whole], counted),
        ("score, a shard", scored, len(of_copy["heldout"])),
    ):
        seconds, mebibytes = (np.array(column) for column in zip(*times, strict=True))
        rows.append(
            (stage, copies, part, np.median(seconds), seconds.max(), mebibytes.max(), types, sum(orders), slope)
        )
    names = ("stage", "shards", "tokens", "seconds", "most", "peak_mib", "types", "ngrams", "slope")
    found = dict(zip(names, zip(*rows, strict=True), strict=True))
    write("large", {name: np.array(v, dtype=object if name == "stage" else None) for name, v in found.items()})
    print(f"{counted} tokens in {copies} shards, {types} types, n-grams {orders}, growing with slope {slope:.3f}")
    print(f"held-out loss of {scored_shards} shards, nats: {', '.join(f'{loss:.4f}' for loss in losses)}")
    for row in rows:
        print("{:22} {:>4} shards {:>12} tokens {:>8.1f} CPU s (most {:.1f})  peak {:>7.0f} MiB".format(*row))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--stage"]:
        stage, place, arguments = sys.argv[2], Path(sys.argv[3]), sys.argv[4:]
        if stage == "tokens":
            tokens(place, arguments[0])
        else:
            {"count": count, "estimate": estimate, "score": score}[stage](place, *map(int, arguments))
    else:
        main(
            Path(sys.argv[1]) if len(sys.argv) > 1 else SPEECHES,
            int(float(sys.argv[2])) if len(sys.argv) > 2 else 100_000_000,
        )
