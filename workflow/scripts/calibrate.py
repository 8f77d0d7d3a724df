"""Hold the synthetic corpus against the article's descriptive statistics; run by hand, outside the graph.

    python workflow/scripts/calibrate.py            target, ours, deviation at the configured parameters
    python workflow/scripts/calibrate.py --search   and a search for better ones, to be copied into the config

It measures the statistics of kind `corpus` in the published numbers and nothing else: no cache is ever
evaluated here, so that what the article found with one cannot be tuned for. The mean over further streams of
random numbers shows how much of a deviation is the luck of the configured stream.
"""

import argparse
import csv
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from attnkernel import table
from attnkernel.corpus import assemble, synthetic
from attnkernel.corpus.readers import Document
from attnkernel.corpus.text import UNKNOWN_ID, Text, read_text
from attnkernel.corpus.tokens import RESERVED
from attnkernel.language import evaluate, kneser_ney, vectors
from attnkernel.language.speller import Speller
from attnkernel.seeding import seed_sequence

# One parameter at a time moves to its neighbour on its grid while the misfit falls. The forms decide what can
# be repeated, and are no parameters; these decide how often it is.
GRID: Mapping[str, tuple[Any, ...]] = {
    "documents": tuple(range(640, 901, 20)),
    "companies": tuple(range(24, 61, 3)),
    "sentences": ((10, 20), (11, 21), (12, 22), (13, 23), (12, 24)),
    "phrase_discount": (0.6, 0.65, 0.7, 0.75, 0.8),
    "phrase_strength": (20.0, 35.0, 50.0, 70.0, 100.0),
    "word_discount": (0.75, 0.8, 0.85, 0.9),
    "word_strength": (50.0, 100.0, 200.0),
}


def statistics(config: Mapping[str, Any], parameters: synthetic.Parameters, stream: str) -> dict[str, float]:
    """The descriptive statistics of one corpus, by the id of the published number."""
    language = config["language"]
    documents = [
        Document(document.id, document.id, "\n".join(map(" ".join, document.sentences)))
        for document in synthetic.generate(parameters, seed_sequence(config["seed"], stream))
    ]
    settings = {"path": stream, "tokens": "pretokenised", "lowercase": False, "reserved": "refuse"}
    columns, _ = assemble.token_table(documents, settings, config["splits"])
    with tempfile.TemporaryDirectory() as folder:
        table.write(Path(folder, "tokens.parquet"), columns, {})
        corpus = read_text(Path(folder, "tokens.parquet"), language["min_count"])
    training, heldout = corpus.of("train"), corpus.of("heldout")
    return {
        "corpus.vocabulary": float(len(corpus.vocabulary) - len(RESERVED)),
        **_twins(training, language["vectors"]),
        **_losses(training, heldout, language),
        **_mentions(heldout, language["distance_edges"]),
    }


def _twins(training: Text, settings: Mapping[str, Any]) -> dict[str, float]:
    types = len(training.vocabulary)
    counted = vectors.cooccurrences(training.token, types, settings["window"])
    summary = vectors.twin_summary(
        vectors.ppmi(counted, settings["context_smoothing"]), np.bincount(training.token, minlength=types)
    )
    return {f"corpus.twins.{name}": float(count) for name, count in summary.items()}


def _losses(training: Text, heldout: Text, language: Mapping[str, Any]) -> dict[str, float]:
    settings = language["kneser_ney"]
    model = kneser_ney.estimate(training.token, len(training.vocabulary), settings["order"], settings["discounts"])
    nats = evaluate.losses(model.probabilities(heldout.token))
    repeat = evaluate.mentions(heldout.token, heldout.document, heldout.sentence).repeat
    written = heldout.written()
    unknown = heldout.token == UNKNOWN_ID
    speller = Speller(training.vocabulary[len(RESERVED) :], language["speller_order"])
    spelled = np.array([speller.log2_probability(word) for word in written[unknown]])
    bits = nats.sum() / np.log(2.0) - spelled.sum()
    return {
        "heldout.kn.loss": float(nats.mean()),
        "heldout.repeat.share": float(repeat.mean()),
        "heldout.repeat.kn": float(nats[repeat].mean()),
        "heldout.first.kn": float(nats[~repeat].mean()),
        "heldout.bpc.kn": float(bits / evaluate.characters(written.tolist()).sum()),
    }


def _mentions(heldout: Text, edges: list[int]) -> dict[str, float]:
    mentions = evaluate.mentions(heldout.token, heldout.document, heldout.sentence)
    found = {}
    for name, here in evaluate.distance_groups(mentions.distance, edges).items():
        found[f"distance.{name}.share"] = float(here.sum() / mentions.repeat.sum())
        found[f"distance.{name}.earlier_sentence"] = float(mentions.earlier_sentence[here].mean())
    return found


def read_targets(path: Path) -> dict[str, tuple[float, float]]:
    """Target and tolerance of every descriptive statistic; a tenth of the target where none is published."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "corpus"]
    targets = {}
    for row in rows:
        target = float(row["published"])
        within = row["test"].removeprefix("within ")
        targets[row["id"]] = target, float(within) if within != row["test"] else target / 10.0
    return targets


def misfit(found: Mapping[str, float], targets: Mapping[str, tuple[float, float]]) -> float:
    """Sum of squared deviations, each in units of its tolerance."""
    return sum(((found[name] - target) / tolerance) ** 2 for name, (target, tolerance) in targets.items())


def neighbours(parameters: synthetic.Parameters) -> Iterator[synthetic.Parameters]:
    """The parameters with one of them moved by one step of its grid."""
    for name, grid in GRID.items():
        value = getattr(parameters, name)
        if value in grid:
            place = grid.index(value)
            for near in grid[max(place - 1, 0) : place] + grid[place + 1 : place + 2]:
                yield replace(parameters, **{name: near})


def search(parameters: synthetic.Parameters, cost: Callable[[synthetic.Parameters], float]) -> synthetic.Parameters:
    """Go to the best neighbour for as long as it is better, and say so."""
    least = cost(parameters)
    while True:
        print(f"misfit {least:.3f} at {asdict(parameters)}", flush=True)
        found, near = min(((cost(near), near) for near in neighbours(parameters)), key=itemgetter(0))
        if found >= least:
            return parameters
        least, parameters = found, near


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--config", type=Path, default=Path("config/config.yaml"))
    arguments.add_argument("--published", type=Path, default=Path("config/published.csv"))
    arguments.add_argument("--streams", type=int, default=4, help="further streams to average over")
    arguments.add_argument("--search", action="store_true", help="look for parameters with a smaller misfit")
    given = arguments.parse_args()
    config = yaml.safe_load(given.config.read_text(encoding="utf-8"))
    targets = read_targets(given.published)
    parameters = synthetic.Parameters(**config["synthetic"] | {"sentences": tuple(config["synthetic"]["sentences"])})
    streams = [f"calibration/{number}" for number in range(given.streams)]

    def average(parameters: synthetic.Parameters) -> dict[str, float]:
        found = [statistics(config, parameters, stream) for stream in streams]
        return {name: float(np.mean([one[name] for one in found])) for name in targets}

    if given.search:
        parameters = search(parameters, lambda near: misfit(average(near), targets))
    configured, mean = statistics(config, parameters, "synthetic"), average(parameters)
    print(f"{'statistic':34} {'target':>9} {'ours':>9} {'deviation':>9} {'tolerance':>9} {'streams':>9}")
    for name, (target, tolerance) in targets.items():
        ours = configured[name]
        print(f"{name:34} {target:9.4g} {ours:9.4g} {ours - target:+9.3g} {tolerance:9.3g} {mean[name]:9.4g}")
    print(f"misfit: configured stream {misfit(configured, targets):.3f}, mean {misfit(mean, targets):.3f}")


if __name__ == "__main__":
    main()
