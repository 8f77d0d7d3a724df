"""Print a table of ratios against peers and how cost grows; write both below results/bench.

python -m bench [SPEECHES]      SPEECHES: gzipped JSON lines with a text each; default: SOTU beside the project if it is
                                there, else the Lee news, repeated with renamed words
python -m bench growth          only how cost grows
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

# One thread each: numpy reads this when it is imported, which the imports below do.
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

import numpy as np

from attnkernel import table
from attnkernel.corpus import readers
from attnkernel.figures import style
from bench import cache, circle, growth, kneser_ney, longlag, pointer, random_features
from bench.race import Row

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results" / "bench"
SPEECHES = ROOT.parent / "shared" / "data" / "corpora" / "sotu" / "speeches.jsonl.gz"
LEE = "package:gensim/test/test_data/lee_background.cor"
LEE_COPIES = 30


def sentences(argument: str | None) -> kneser_ney.Sentences:
    """The text that Kneser-Ney is raced on."""
    path = Path(argument or os.environ.get("BENCH_SPEECHES", SPEECHES))
    if path.exists():
        return kneser_ney.read_sentences(path)
    if argument:
        sys.exit(f"{path}: there is no such file; give gzipped JSON lines with a text each")
    print(f"{path} is not there: Kneser-Ney gets the Lee news, {LEE_COPIES} times with renamed words")
    text = readers.resolve(LEE).read_text(encoding="utf-8").lower().split("\n")
    return [[f"{word}{copy}" for word in line.split()] for copy in range(LEE_COPIES) for line in text if line.strip()]


def ratios(argument: str | None) -> None:
    """Every race, printed as it ends."""
    text = sentences(argument)
    races: list[Callable[[], list[Row]]] = [
        lambda: kneser_ney.measure(text),
        cache.measure,
        random_features.measure,
        circle.measure,
        longlag.measure,
        pointer.measure,
    ]
    print(f"{'':<58} {'ours, s':>28} {'theirs, s':>28} {'ratio':>8} {'goal':>5} {'met':>3} {'MiB, ours / theirs':>20}")
    rows: list[Row] = []
    for run in races:
        found = run()
        for (benchmark, size), group in groupby(found, key=itemgetter("benchmark", "size")):
            print("\n".join([f"{benchmark}, {size}", *map(line, group)]), flush=True)
        rows += found
    write("bench", {name: column([row[name] for row in rows]) for name in rows[0]})


def line(row: Row) -> str:
    """A row of the printed table."""
    sides = [
        "absent" if math.isnan(row[side]) else f"{row[side]:.3g} ({row[f'{side}_least']:.3g}-{row[f'{side}_most']:.3g})"
        for side in ("ours", "theirs")
    ]
    result = f"{row['ratio']:>8.2f} {row['goal']:>5.2g} {row['met']:>3}" if row["met"] else f"{'':18}"
    memory = "" if math.isnan(row["theirs_mib"]) else f"{row['ours_mib']:.0f} / {row['theirs_mib']:.0f}"
    return f"    {row['peer']:<54} {sides[0]:>28} {sides[1]:>28} {result} {memory:>20}  {row['note']}".rstrip()


def costs() -> None:
    """How cost grows, printed with the theoretical slopes, and drawn."""
    points, slopes = growth.measure()
    heads = ("measured", "last decade", "theory", "memory", "theory")
    print("\n{:32}{:>9}{:>13}{:>8}   {:>8}{:>8}".format("log-log slope of the seconds", *heads))
    for values in zip(*slopes.values(), strict=True):
        operation, over, *numbers = values
        print("{:32}{:9.2f}{:13.2f}{:8.0f}   {:8.2f}{:8.0f}".format(f"{operation} over {over}", *numbers))
    write("growth", points)
    write("slopes", slopes)
    style.save(growth.figure(points, slopes), str(RESULTS / "growth.svg"), str(RESULTS / "growth.png"))


def write(name: str, columns: table.Table) -> None:
    """A table below results/bench and its CSV twin."""
    table.write(RESULTS / f"{name}.parquet", columns, {"made by": "python -m bench"})
    table.write_csv(RESULTS / f"{name}.csv", columns)


def column(values: list[Any]) -> Any:
    """A column of numbers or of texts."""
    return np.array(values, dtype=object if isinstance(values[0], str) else np.float64)


if __name__ == "__main__":
    if sys.argv[1:] != ["growth"]:
        ratios(sys.argv[1] if len(sys.argv) > 1 else None)
    costs()
