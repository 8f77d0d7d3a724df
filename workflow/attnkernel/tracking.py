"""Which code a rule depends on, as one digest.

Snakemake notices an edited script by its modification time and an edited module not at all. Here a script's own
imports are followed instead, and what counts is what the code says: neither a comment, a docstring, the layout nor
a touch changes the digest, and every real edit does.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

PACKAGE: Final = "attnkernel"
PACKAGE_FOLDER: Final = Path(__file__).resolve().parent

_RECORD: Final = Path(".snakemake/attnkernel-code.json")


def code_digest(*roots: str | Path) -> str:
    """SHA-256 over the code of `roots` and of every module of this package that they import, however indirectly.

    Parameters
    ----------
    roots
        Paths of scripts, or dotted names of modules of this package.

    Returns
    -------
    The hexadecimal digest.

    Raises
    ------
    ValueError
        A root or an imported module of the package does not exist.
    """
    digest = hashlib.sha256()
    for root in roots:
        if isinstance(root, Path):
            digest.update(_read(root).digest.encode())
    for module in modules_of(*roots):
        digest.update(f"{module}={_read(_module_path(module)).digest}\n".encode())
    return digest.hexdigest()


def modules_of(*roots: str | Path) -> list[str]:
    """Sorted names of the modules of this package that `roots` reach, themselves included; arguments as above."""
    found: set[str] = set()
    waiting: list[str] = []
    for root in roots:
        waiting.extend(_read(root).imports if isinstance(root, Path) else [root])
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting.extend(_read(_module_path(module)).imports)
    return sorted(found)


def remember() -> None:
    """Keep what was read of each file beside Snakemake's own records, so that only a file that changes is parsed again.

    For the main process, which reads them all; nothing is lost with the record.
    """
    files = _kept() | {str(path): [stamp, *source] for path, (stamp, source) in _parsed.items()}
    if _parsed:
        beside = _RECORD.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps({"by": _stamp(Path(__file__)), "files": files}), encoding="utf-8")
        beside.replace(_RECORD)


@cache
def _kept() -> dict[str, list[Any]]:
    try:
        record = json.loads(_RECORD.read_text(encoding="utf-8"))
        return dict(record["files"]) if record["by"] == _stamp(Path(__file__)) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _stamp(path: Path) -> str:
    """What of a file changes with every edit; the change of its entry tells of edits that set back its time."""
    status = path.stat()
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


class _Source(NamedTuple):
    """What a Python file says: a digest of its syntax tree without docstrings, and the names of ours it imports."""

    digest: str
    names: Sequence[str]

    @property
    def imports(self) -> list[str]:
        """The names that are modules."""
        return [name for name in self.names if _module_path(name).is_file()]


_parsed: Final[dict[Path, tuple[str, _Source]]] = {}


@cache
def _read(path: Path) -> _Source:
    try:
        stamp = _stamp(path)
        kept = _kept().get(str(path))
        if kept and kept[0] == stamp:
            return _Source(*kept[1:])
        source = _parse(path)
    except FileNotFoundError:
        raise ValueError(f"{path}: there is no such file to track") from None
    _parsed[path] = (stamp, source)
    return source


def _parse(path: Path) -> _Source:
    tree = ast.parse(path.read_bytes(), filename=str(path))
    names: set[str] = set()
    for node in _statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            _drop_docstring(node)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"{path}:{node.lineno}: a relative import; name the module in full, so it is tracked")
            names.add(node.module or "")
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    ours = {name for name in names if name.split(".")[0] == PACKAGE}
    with_parents = {parent for name in ours for parent in _prefixes(name)}
    return _Source(hashlib.sha256(ast.dump(tree).encode()).hexdigest(), sorted(with_parents))


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """The tree and every statement in it; expressions, most of a tree, hold none and are passed over."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, field, None)
            if isinstance(inner, list):
                waiting.extend(inner)


def _drop_docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        del node.body[0]


def _module_path(module: str) -> Path:
    base = PACKAGE_FOLDER.joinpath(*module.split(".")[1:])
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


def _prefixes(module: str) -> Iterator[str]:
    parts = module.split(".")
    return (".".join(parts[:end]) for end in range(1, len(parts) + 1))
