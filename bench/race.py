"""Two programs on one input, in turn: seconds, their spread, and the memory that each takes at its peak."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

MEBIBYTE = 2**20
_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")

Row = dict[str, Any]


class Runner(NamedTuple):
    """One side of a race.

    Attributes
    ----------
    seconds
        Runs once and returns the seconds that count.
    mebibytes
        Runs once and returns the peak memory, above what was there before; NaN where the system does not say.
    """

    seconds: Callable[[], float]
    mebibytes: Callable[[], float]


def runner(task: Callable[[], object], times: int = 1) -> Runner:
    """A function of this process as a runner; a quick one is called `times` over, and its mean counts."""

    def seconds() -> float:
        start = time.perf_counter()
        for _ in range(times):
            task()
        return (time.perf_counter() - start) / times

    return Runner(seconds, lambda: peak_memory(task))


def peak_memory(task: Callable[[], object]) -> float:
    """Resident memory that a task adds at its peak, MiB; NaN where Linux' counters are not there."""
    try:
        _RESET.write_text("5", encoding="ascii")
    except OSError:
        task()
        return math.nan
    before = _resident("VmRSS")
    task()
    return max(_resident("VmHWM") - before, 0.0)


def race(
    benchmark: str,
    size: str,
    ours: Runner,
    peers: Mapping[str, Runner | str],
    goals: Mapping[str, float] | None = None,
    repeats: int = 5,
) -> list[Row]:
    """Run both sides `repeats` times in turn, after one run of each that measures memory.

    Parameters
    ----------
    benchmark, size
        What is done, and on how much.
    peers
        By name; a text instead of a runner says why the peer is absent.
    goals
        By peer, the least ratio of its time to ours that is aimed at; 1 where none is given.

    Returns
    -------
    One row a peer: benchmark, size, peer, ours and theirs (median seconds), the least and largest of each, ratio
    (theirs over ours: above 1 we are faster), goal, met, ours_mib and theirs_mib (peak memory), note.
    """
    present = {name: peer for name, peer in peers.items() if isinstance(peer, Runner)}
    ours_mib = ours.mebibytes()
    theirs_mib = {name: peer.mebibytes() for name, peer in present.items()}
    times: dict[str, list[float]] = {"": [], **{name: [] for name in present}}
    for _ in range(repeats):
        times[""].append(ours.seconds())
        for name, peer in present.items():
            times[name].append(peer.seconds())
    rows = []
    for name, peer in peers.items():
        theirs = times.get(name, [math.nan])
        ratio = statistics.median(theirs) / statistics.median(times[""])
        goal = (goals or {}).get(name, 1.0)
        rows.append(
            {
                "benchmark": benchmark,
                "size": size,
                "peer": name,
                **_spread("ours", times[""]),
                **_spread("theirs", theirs),
                "ratio": ratio,
                "goal": goal,
                "met": "" if math.isnan(ratio) else ("yes" if ratio >= goal else "no"),
                "ours_mib": ours_mib,
                "theirs_mib": theirs_mib.get(name, math.nan),
                "note": "" if name in present else str(peer),
            }
        )
    return rows


def _spread(side: str, seconds: list[float]) -> Row:
    return {side: statistics.median(seconds), f"{side}_least": min(seconds), f"{side}_most": max(seconds)}


def _resident(counter: str) -> float:
    line = next(line for line in _STATUS.read_text(encoding="ascii").splitlines() if line.startswith(counter))
    return int(line.split()[1]) * 1024 / MEBIBYTE
