"""Whether a file is what the project, as it stands, would make: fresh, stale or foreign, link by link down its chain.

Three things are held against each other: what the file says of its making (`provenance`), what it holds now, and what
its rule is now (`graph`).

    fresh     its values are those that the rule wrote, and rule, code, params and inputs are as they were then
    stale     code, params or an input has moved on since, or an input is not fresh itself
    foreign   its values are not what the rule wrote, or nothing says what wrote them
    missing   it has not been made, or was deleted
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from attnkernel import provenance, table
from attnkernel.graph import Graph, PlannedJob

FRESH: Final = "fresh"
STALE: Final = "stale"
FOREIGN: Final = "foreign"
MISSING: Final = "missing"

_NEEDED: Final = {"rule", "script", "params", "inputs"}  # of an origin
_SHORT: Final = 12


@dataclass(frozen=True)
class Link:
    """One file of a chain.

    Attributes
    ----------
    path, state
        The file, and one of the states above.
    reasons
        Why it is not fresh.
    job
        The rule as it is now; none for a file that no rule makes.
    origin
        What the file says of its making; empty if it says nothing.
    content
        Its hash now.
    record
        The job's record, with the environment it ran in; empty if there is none.
    """

    path: str
    state: str
    reasons: list[str] = field(default_factory=list)
    job: PlannedJob | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)
    content: str = ""
    record: Mapping[str, Any] = field(default_factory=dict)


class Auditor:
    """Judges files against one graph; each file is read once.

    Parameters
    ----------
    graph
        The jobs as they are now.
    records
        The records of the jobs as they ran, by name.
    """

    def __init__(self, graph: Graph, records: Mapping[str, Mapping[str, Any]]) -> None:
        self._makers = graph.makers
        self._records = records
        self._links: dict[str, Link] = {}
        self._hashes: dict[str, str] = {}

    def chain(self, path: str) -> list[Link]:
        """The links behind a file, itself first, down to files that no rule makes."""
        links: dict[str, Link] = {}
        waiting = [path]
        while waiting:
            current = waiting.pop(0)
            if current not in links:
                links[current] = self.link(current)
                job = links[current].job
                waiting += [] if job is None else [file for files in job.inputs.values() for file in files]
        return list(links.values())

    def link(self, path: str) -> Link:
        """The state of one file; that of a file which no rule makes is only whether it is there."""
        if path not in self._links:
            self._links[path] = self._judge(path)
        return self._links[path]

    def _judge(self, path: str) -> Link:
        job = self._makers.get(path)
        if not Path(path).exists():
            return Link(path, MISSING, ["there is no such file"], job)
        if job is None:
            return Link(path, FRESH, content=self._hash(path))
        record = self._records.get(job.name, {})
        recorded = record.get("outputs", {}).get(path)
        if recorded is None:
            record = {}
        try:
            content = self._hash(path)
            origin = table.origin(path) if path.endswith(".parquet") else record.get("origin", {})
        except ValueError as error:  # an InputError, or metadata that is no JSON
            return Link(path, FOREIGN, [str(error)], job, record=record)
        known = [digest for digest in (origin.get("content"), recorded) if digest is not None]
        if not known or not origin.keys() >= _NEEDED:
            return Link(path, FOREIGN, ["nothing says what made it"], job, origin, content, record)
        if any(digest != content for digest in known):
            return Link(path, FOREIGN, ["it does not hold what its rule wrote"], job, origin, content, record)
        reasons = [*_moved(origin, job), *self._moved_inputs(origin, job)]
        return Link(path, STALE if reasons else FRESH, reasons, job, origin, content, record)

    def _moved_inputs(self, origin: Mapping[str, Any], job: PlannedJob) -> list[str]:
        before = {path: digest for files in origin["inputs"].values() for path, digest in files.items()}
        now = {provenance.place(path): path for files in job.inputs.values() for path in files}
        reasons = [f"it was made without the input {path}" for path in now if path not in before]
        reasons += [f"{path} was an input and is none now" for path in before if path not in now]
        for place, path in now.items():
            link = self.link(path)
            if link.state != FRESH:
                reasons.append(f"its input {path} is {link.state}")
            elif before.get(place, link.content) != link.content:
                reasons.append(f"its input {path} has moved on")
        return reasons

    def _hash(self, path: str) -> str:
        """As `provenance.hash_of`, but computed from the values, whatever the file claims."""
        if path not in self._hashes:
            ours = path.endswith(".parquet") and "content" in table.origin(path)
            content = table.content_hash(table.read(path)) if ours else provenance.hash_of_bytes(Path(path))
            self._hashes[path] = content
        return self._hashes[path]


def _moved(origin: Mapping[str, Any], job: PlannedJob) -> list[str]:
    """What of a rule is no longer as it was."""
    reasons = []
    for what, then, now in (("rule", origin["rule"], job.rule), ("script", origin["script"], job.script)):
        if then != now:
            reasons.append(f"its {what} was {then} and is {now}")
    for name, then, now in _differences("", origin["params"], job.params):
        moved = f"its param {name} was {_brief(then)} and is {_brief(now)}"
        reasons.append("its code has moved on" if name == "code" else moved)
    return reasons


def _differences(prefix: str, then: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    """Where two settings differ, as deep inside as it can be named."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in sorted(then.keys() | now.keys()):
            yield from _differences(f"{prefix}.{key}" if prefix else key, then.get(key), now.get(key))
    elif then != now:
        yield prefix, then, now


def results(folder: Path) -> list[str]:
    """Every table and figure below a folder."""
    kinds = (".parquet", ".csv", ".svg", ".png")
    return sorted(path.as_posix() for path in folder.rglob("*") if path.suffix in kinds and path.is_file())


def strays(graph: Graph, existing: Iterable[str]) -> list[Link]:
    """Those of the files that no job of the graph makes, though it makes others in the same folder."""
    made = graph.makers
    folders = {Path(path).parent for path in made}
    found = (path for path in existing if path not in made and Path(path).parent in folders)
    return [Link(path, FOREIGN, ["no rule makes it"]) for path in found]


def tally(links: Iterable[Link]) -> str:
    """How many files have each state."""
    counts = Counter(link.state for link in links)
    parts = [
        f"{counts[state]} {state}" for state in (FRESH, STALE, FOREIGN, MISSING) if counts[state] or state == FRESH
    ]
    return f"{counts.total()} file{'s' * (counts.total() != 1)}: {', '.join(parts)}"


def describe(links: Iterable[Link]) -> str:
    """Links for a reader, those of one job together: files, rule, code, params, inputs and environment."""
    jobs: dict[str, list[Link]] = {}
    for link in links:
        jobs.setdefault(link.path if link.job is None else link.job.name, []).append(link)
    return "\n".join(line for group in jobs.values() for line in _lines(group))


def _lines(group: Sequence[Link]) -> list[str]:
    lines = [f"{link.state:8}{link.path} {link.content[:_SHORT]}" for link in group]
    job = group[0].job
    origin = max((link.origin for link in group), key=len)
    params = {name: value for name, value in origin.get("params", {}).items() if name != "code"}
    inputs = [(path, digest) for files in origin.get("inputs", {}).values() for path, digest in files.items()]
    modules = [name.partition(".")[2] for name in origin.get("modules", [])]
    details = [
        *(("but", reason) for reason in dict.fromkeys(reason for link in group for reason in link.reasons)),
        ("rule", f"{job.rule}, {job.place}, workflow/scripts/{job.script}" if job else ""),
        ("code", f"{origin.get('params', {}).get('code', '')[:_SHORT]} {' '.join(filter(None, modules))}"),
        ("params", ", ".join(f"{name}={_brief(value)}" for name, value in params.items())),
        *(("input", f"{path} {digest[:_SHORT]}") for path, digest in inputs),
        ("ran on", _environment(group[0].record)),
    ]
    return lines + [f"        {name:7}{text}" for name, text in details if text.strip()]


def _environment(record: Mapping[str, Any]) -> str:
    from attnkernel import environment

    return environment.summary(record["environment"]) if record else ""


def _brief(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 160 else text[:157] + "..."
