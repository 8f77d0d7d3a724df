"""How cost grows: CPU seconds and memory over two decades of tokens, types and documents; and what theory says."""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnkernel.figures import style
from attnkernel.language.cache import cache_probabilities
from attnkernel.language.kneser_ney import END, RESERVED, estimate
from attnkernel.language.pointer import pointer_blocks, pointer_gradient
from attnkernel.table import Table
from bench.cache import BETA, DIMENSIONS
from bench.race import MEBIBYTE

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

SENTENCE = 20
REPEATS = 5


class Series(NamedTuple):
    """One cost over one size.

    Attributes
    ----------
    operation, over
        What is done, and what grows; the other sizes stay.
    sizes
        Two decades.
    slope
        That theory says the log-log slope of the seconds tends to.
    memory
        The same of the peak memory, where it is claimed.
    task
        Makes the task of a size.
    """

    operation: str
    over: str
    sizes: Sequence[int]
    slope: float
    memory: float
    task: Callable[[int], Callable[[], object]]


def series() -> list[Series]:
    """Counting and scoring (Kneser-Ney, order 3), the cache at one beta, and the pointer loss with its gradient."""
    tokens = [10_000, 30_000, 100_000, 300_000, 1_000_000]
    types = [1_000, 3_000, 10_000, 30_000, 100_000]
    documents = [10, 30, 100, 300, 1_000]
    nan = float("nan")
    return [
        Series("counting", "tokens", tokens, 1, 1, lambda n: _counting(_text(n, 20_000), 20_000)),
        # Every level is sorted once and read a few times, whatever the number of types.
        Series("counting", "types", types, 0, nan, lambda n: _counting(_text(200_000, n), n)),
        Series("counting", "documents", documents, 1, 1, lambda n: _counting(_text(1_000 * n, 20_000), 20_000)),
        Series("scoring", "tokens", tokens, 1, 1, lambda n: _scoring(200_000, n, 20_000)),
        Series("scoring", "types", types, 0, nan, lambda n: _scoring(200_000, 200_000, n)),
        Series("scoring", "documents", documents, 1, 1, lambda n: _scoring(200_000, 1_000 * n, 20_000)),
        # At a fixed number of types a position costs the distinct contexts so far, which are soon all there.
        Series(
            "cache", "tokens", [1_000, 3_000, 10_000, 30_000, 100_000], 1, 1, lambda n: _cache([_even(n, 300)], 300)
        ),
        # Every type is a context: a row of the table for each position, and the table itself.
        Series("cache", "types", [50, 150, 500, 1_500, 5_000], 1, 2, lambda n: _cache([_even(20_000, n)], n)),
        Series(
            "cache", "documents", documents, 1, 1, lambda n: _cache([_even(400, 300, seed) for seed in range(n)], 300)
        ),
        # Each position of a target beside each earlier one: the square, however many types there are.
        Series("pointer", "tokens", [200, 600, 2_000, 6_000, 20_000], 2, 2, lambda n: _pointer([_even(n, 30)], 30)),
        # Attention over contexts grows with their number, pairs of equal targets shrink with it.
        Series("pointer", "types", [30, 100, 300, 1_000, 3_000], 1, nan, lambda n: _pointer([_even(12_000, n)], n)),
        Series(
            "pointer", "documents", documents, 1, 1, lambda n: _pointer([_even(400, 300, s) for s in range(n)], 300)
        ),
    ]


def measure() -> tuple[Table, Table]:
    """Run every series.

    Returns
    -------
    growth
        One row a point: operation, over, size, seconds (of CPU, median of five), least, most, mib (peak of
        what the task allocates).
    slopes
        One row a series: operation, over, slope (over both decades), last (over the last decade), theory, mib_slope
        (over the last decade), mib_theory.
    """
    points: list[tuple[Any, ...]] = []
    slopes: list[tuple[Any, ...]] = []
    for each in series():
        seconds, memory = [], []
        for size in each.sizes:
            task = each.task(size)
            mib = _peak(task)
            times = [_cpu_seconds(task) for _ in range(REPEATS)]
            seconds.append(statistics.median(times))
            memory.append(mib)
            points.append((each.operation, each.over, size, seconds[-1], min(times), max(times), mib))
        slopes.append(
            (
                each.operation,
                each.over,
                _slope(each.sizes, seconds),
                _slope(each.sizes[-3:], seconds[-3:]),
                float(each.slope),
                _slope(each.sizes[-3:], memory[-3:]),
                float(each.memory),
            )
        )
    return (
        _columns(("operation", "over", "size", "seconds", "least", "most", "mib"), points),
        _columns(("operation", "over", "slope", "last", "theory", "mib_slope", "mib_theory"), slopes),
    )


def figure(growth: Table, slopes: Table) -> Any:
    """Seconds over size, a panel for what grows, with the theoretical slope through each series' last point."""
    operations = {"counting": style.BLUE, "scoring": style.ORANGE, "cache": style.GREEN, "pointer": style.VERMILION}
    drawn = style.figure(style.DOUBLE, 2.7)
    for axes, over in zip(drawn.subplots(1, 3, sharey=True), ("tokens", "types", "documents"), strict=True):
        for operation, colour in operations.items():
            here = (growth["operation"] == operation) & (growth["over"] == over)
            size, seconds = growth["size"][here], growth["seconds"][here]
            theory = slopes["theory"][(slopes["operation"] == operation) & (slopes["over"] == over)][0]
            axes.plot(size, seconds, "o-", color=colour, label=operation)
            axes.plot(size, seconds[-1] * (size / size[-1]) ** theory, ":", color=colour, linewidth=1)
        style.logarithmic(axes, "xy")
        axes.set(xlabel=over)
    drawn.axes[0].set_ylabel("CPU seconds")
    drawn.axes[0].legend(loc="upper left")
    drawn.axes[2].set_title("dotted: theory", fontsize=7.5, loc="right")
    return drawn


def _columns(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Table:
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return {k: np.array(v, dtype=object if isinstance(v[0], str) else None) for k, v in columns.items()}


def _cpu_seconds(task: Callable[[], object]) -> float:
    start = time.process_time()
    task()
    return time.process_time() - start


def _peak(task: Callable[[], object]) -> float:
    tracemalloc.start()
    task()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / MEBIBYTE


def _slope(sizes: Sequence[int], values: Sequence[float]) -> float:
    if not np.all(np.array(values) > 0.0):
        return float("nan")
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def _text(tokens: int, types: int, seed: int = 0) -> Integers:
    """Words by Zipf-Mandelbrot's law in sentences of equal length."""
    weight = 1.0 / (np.arange(types - len(RESERVED)) + 2.7) ** 1.1
    words = np.random.default_rng(seed).choice(types - len(RESERVED), size=tokens, p=weight / weight.sum())
    text = words + len(RESERVED)
    text[SENTENCE - 1 :: SENTENCE] = END
    text[-1] = END
    return text


def _even(tokens: int, types: int, seed: int = 0) -> Integers:
    """Words drawn evenly, so that all types are soon there."""
    return np.random.default_rng(seed).integers(types, size=tokens)


def _vectors(types: int) -> Floats:
    vectors = np.random.default_rng(0).normal(size=(types, DIMENSIONS))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _counting(text: Integers, types: int) -> Callable[[], object]:
    # A fixed discount: drawn words leave the counts of counts of small texts undefined.
    return lambda: estimate(text, types, discounting=0.75)


def _scoring(training: int, scored: int, types: int) -> Callable[[], object]:
    model, text = estimate(_text(training, types), types, discounting=0.75), _text(scored, types, seed=1)
    return lambda: model.probabilities(text)


def _cache(documents: Sequence[Integers], types: int) -> Callable[[], object]:
    vectors = _vectors(types)
    return lambda: cache_probabilities(documents, vectors, vectors, [BETA])


def _pointer(documents: Sequence[Integers], types: int) -> Callable[[], object]:
    vectors = _vectors(types)
    maps = {name: np.sqrt(BETA) * np.eye(DIMENSIONS) for name in ("A", "B")}

    def step() -> object:
        return pointer_gradient([block for each in documents for block in pointer_blocks(each)], vectors, **maps)

    return step
