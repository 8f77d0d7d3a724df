"""The planning table of README.md: what 10^9 and 10^11 tokens would cost, from the slopes measured here.

python -m bench.planning        after python -m bench and python -m bench.large
"""

from __future__ import annotations

from pathlib import Path

from attnkernel import table
from attnkernel.errors import InputError
from bench.__main__ import RESULTS, ROOT

README = ROOT / "README.md"
BEGIN, END = "<!-- planning -->", "<!-- /planning -->"
CORPORA = (1e8, 1e9, 1e11)
NODE_CORES = 32
# Shares of the documents that the default config trains on and scores.
TRAINED, SCORED = 0.70, 0.30
BETAS, EPOCHS = 8, 12


def plan() -> str:
    """The table in Markdown."""
    large, growth = (table.read(RESULTS / f"{name}.parquet") for name in ("large", "growth"))
    stage = {name: row for row, name in enumerate(large["stage"].tolist())}

    def measured(name: str, column: str) -> float:
        return float(large[column][stage[name]])

    def of_documents(operation: str) -> float:
        """CPU seconds a token, over the most documents of 400 tokens."""
        here = (growth["operation"] == operation) & (growth["over"] == "documents")
        return float(growth["seconds"][here][-1] / (400 * growth["size"][here][-1]))

    def per_token(name: str) -> float:
        return measured(name, "seconds") / measured(name, "tokens")

    counted = measured("merge and estimate", "tokens")
    ngrams, slope = float(large["ngrams"][0]), float(large["slope"][0])
    merging, memory = measured("merge and estimate", "seconds"), measured("merge and estimate", "peak_mib")
    rows: list[tuple[str, list[float], str]] = []

    def row(what: str, value: list[float], unit: str) -> None:
        rows.append((what, value, unit))

    # N-grams grow more slowly than tokens, by the slope measured on the speeches themselves.
    grown = [ngrams * (TRAINED * n / counted) ** slope for n in CORPORA]
    row("n-grams of the model, in millions", [n / 1e6 for n in grown], "")
    row("count, in shards", [_hours(per_token("count, a shard") * TRAINED * n) for n in CORPORA], "node hours")
    row("merge and estimate, one process", [merging * n / ngrams / 3600 for n in grown], "hours")
    row("merge and estimate: memory", [memory * n / ngrams / 1024 for n in grown], "GiB")
    row(
        "score with Kneser-Ney, in shards",
        [_hours(per_token("score, a shard") * SCORED * n) for n in CORPORA],
        "node hours",
    )
    row(
        f"the cache at {BETAS} bandwidths, in shards",
        [_hours(BETAS * of_documents("cache") * SCORED * n) for n in CORPORA],
        "node hours",
    )
    row(
        f"the learned kernel, {EPOCHS} epochs, one process",
        [EPOCHS * of_documents("pointer") * TRAINED * n / 3600 for n in CORPORA],
        "hours",
    )
    row("read and tokenise, one process", [per_token("tokens") * n / 3600 for n in CORPORA], "hours")
    heads = ["", *(f"{n:.0e} tokens".replace("e+0", "e").replace("e+", "e") for n in CORPORA), ""]
    lines = ["| " + " | ".join(heads) + " |", "| --- | ---: | ---: | ---: | --- |"]
    lines += [f"| {what} | {' | '.join(map(_short, values))} | {unit} |" for what, values, unit in rows]
    counting, scoring = measured("count, a shard", "peak_mib"), measured("score, a shard", "peak_mib")
    note = (
        f"A node has {NODE_CORES} cores. Measured on {counted / 1e6:.0f} million tokens in {large['shards'][0]} "
        f"shards: {ngrams / 1e6:.0f} million n-grams, {memory / 1024:.1f} GiB at the peak of the merge, {counting:.0f} "
        f"MiB in a counting and {scoring:.0f} MiB in a scoring shard; n-grams grow as tokens to the power {slope:.2f}."
    )
    return "\n".join([*lines, "", note])


def _hours(seconds: float) -> float:
    return seconds / 3600 / NODE_CORES


def _short(value: float) -> str:
    if value < 0.01:
        return "< 0.01"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def main(readme: Path = README) -> None:
    """Put the table between its marks."""
    text = readme.read_text(encoding="utf-8")
    before, mark, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (mark and end):
        raise InputError(f"{readme}: the marks {BEGIN} and {END} are not there")
    readme.write_text(f"{before}{BEGIN}\n{plan()}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
