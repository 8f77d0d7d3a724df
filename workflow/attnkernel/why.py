"""What is behind a published number: its place, both values, the check, and the code that computes ours."""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Final

from attnkernel import audit, claims, table, tracking
from attnkernel.errors import InputError
from attnkernel.graph import Graph, PlannedJob

CLAIMS: Final = "results/claims.parquet"
SCRIPTS: Final = Path("workflow/scripts")
PACKAGE: Final = Path("workflow")

# A class stands for all of its methods.
Definition = ast.FunctionDef | ast.ClassDef
Place = tuple[Path, Definition]

_SHARED: Final = {f"{tracking.PACKAGE}.{module}" for module in ("job", "table", "seeding", "corpus.text")}


def answer(identifier: str, graph: Graph, records: Mapping[str, Mapping[str, Any]]) -> str:
    """Everything about one published number, for a reader.

    Raises
    ------
    InputError
        There is no such number, or the run that computes it has not been made.
    """
    comparing = graph.makers[CLAIMS]
    with Path(comparing.inputs["published"][0]).open(encoding="utf-8", newline="") as file:
        published = {row["id"]: row for row in csv.DictReader(file)}
    if identifier not in published:
        close = get_close_matches(identifier, published, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else f"{comparing.inputs['published'][0]} lists them"
        raise InputError(f"there is no published number {identifier!r}; {hint}")
    claim = published[identifier]
    compared = table.read(CLAIMS)
    rows = [row for row, name in enumerate(compared["id"].tolist()) if name == identifier]
    if not rows:
        raise InputError(f"{CLAIMS} is older than the claim {identifier!r}; run: make run")
    ours = {name: column[rows[0]] for name, column in compared.items()}
    details = {
        "place": f"{claim['section']}: {claim['quantity']}",
        "published": f"{claim['published'] or '-'} {claim['unit']}",
        "ours": "" if ours["status"] == claims.NOT_RUN else f"{ours['computed']:.10g} {claim['unit']}",
        "check": f"{claim['test']}  ({claim['check']})",
        "margin": f"{ours['margin']:.4g}" if ours["margin"] == ours["margin"] else "",
        "status": str(ours["status"]),
        "because": str(ours["reason"] or ""),
    }
    path = f"results/tables/{claim['table']}.parquet"
    if claim["table"] and path in graph.makers:
        details |= {"table": path, "row": _row(claim), "column": claim["column"]}
        details |= _made(graph, records, path, claim)
    lines = [f"{name:10}{text}" for name, text in details.items() if text.strip()]
    return "\n".join([identifier, *lines])


def _row(claim: Mapping[str, str]) -> str:
    return ";".join(filter(None, [claim["corpus"] and f"corpus={claim['corpus']}", claim["row"]])) or "the only one"


def _made(
    graph: Graph, records: Mapping[str, Mapping[str, Any]], path: str, claim: Mapping[str, str]
) -> dict[str, str]:
    job = computing_job(graph, path, claim["table"], claim["corpus"])
    chain = audit.Auditor(graph, records).chain(path)
    stale = [link for link in chain if link.state != audit.FRESH]
    doubt = f"; {stale[-1].path} is {stale[-1].state}: {'; '.join(stale[-1].reasons)}" if stale else ""
    code = "\n          ".join(lines_of_code(job, claim["table"], claim["column"]))
    return {"rule": f"{job.rule}, {job.place}", "code": code, "chain": audit.tally(chain) + doubt}


def computing_job(graph: Graph, path: str, name: str, corpus: str) -> PlannedJob:
    """The job that computes a table: if the table only stacks those of the corpora, the one of that corpus."""
    job = graph.makers[path]
    parts = [graph.makers[file] for file in job.inputs.get(name, []) if file in graph.makers]
    named = [part for part in parts if part.name.endswith(f"-{corpus}")] if corpus else parts
    return named[0] if named else job


def lines_of_code(job: PlannedJob, name: str, column: str) -> list[str]:
    """Where a job computes a column: its script, what is called for the table, the lines that name the column."""
    script = SCRIPTS / job.script
    main = _functions(script)["main"]
    called = list(_called(script, _steps_towards(main, name)))
    reached = dict.fromkeys(called)
    for file, function in (waiting := list(called)):
        further = [call for call in _called(file, [function]) if call not in reached]
        reached |= dict.fromkeys(further)
        waiting += further
    naming = sorted({line for file, function in reached for line in _naming(file, function, column)})
    return [
        f"{script}:{main.lineno} main",
        *(f"{file}:{function.lineno} {function.name}" for file, function in called),
        *(f"{file}:{line} {text}" for file, line, text in naming),
    ]


def _steps_towards(main: Definition, name: str) -> list[ast.stmt]:
    """The statements of a script that lead to the table it writes under a name; all, where no statement names it."""
    steps = [step for step in main.body if any(_names_output(node, name) for node in ast.walk(step))]
    if not steps:
        return main.body
    for step in reversed(main.body):
        needed = {node.id for kept in steps for node in ast.walk(kept) if isinstance(node, ast.Name)}
        assigned = {
            node.id for node in ast.walk(step) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        if step not in steps and needed & assigned:
            steps.append(step)
    return [step for step in main.body if step in steps]


def _names_output(node: ast.AST, name: str) -> bool:
    """`job.publish("name", ...)` or `job.write(job.output.name, ...)`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
        return False
    first = node.args[0]
    if node.func.attr == "publish":
        return isinstance(first, ast.Constant) and first.value == name
    return node.func.attr == "write" and isinstance(first, ast.Attribute) and first.attr == name


def _called(file: Path, steps: Sequence[ast.AST]) -> Iterator[Place]:
    """The functions of this package that statements mention, in order, without those that every script shares."""
    names, own = _imported(file), _functions(file)
    for node in (node for step in steps for node in ast.walk(step)):
        if isinstance(node, ast.Name) and node.id in own:
            yield file, own[node.id]
        elif isinstance(node, ast.Name) and node.id in names:
            module, _, function = names[node.id].rpartition(".")
            yield from _place(module, function)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
            yield from _place(names[node.value.id], node.attr)


def _place(module: str, function: str) -> Iterator[Place]:
    file = PACKAGE.joinpath(*module.split(".")).with_suffix(".py")
    if module not in _SHARED and file.is_file() and function in _functions(file):
        yield file, _functions(file)[function]


def _naming(file: Path, function: Definition, column: str) -> Iterator[tuple[Path, int, str]]:
    lines = file.read_text(encoding="utf-8").splitlines()
    for node in ast.walk(function):
        if isinstance(node, ast.Constant) and node.value == column:
            yield file, node.lineno, lines[node.lineno - 1].strip()


@cache
def _functions(file: Path) -> dict[str, Definition]:
    body = ast.parse(file.read_text(encoding="utf-8")).body
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


@cache
def _imported(file: Path) -> dict[str, str]:
    """Dotted names of this package's modules and functions, by the name that a file has for them."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in imports
        if (node.module or "").split(".")[0] == tracking.PACKAGE
        for alias in node.names
    }
