"""The chain behind a table: what made it, from what."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attnkernel import table, tracking


def origin(
    rule: str,
    params: Mapping[str, Any],
    inputs: Mapping[str, list[str]],
    script: Path,
) -> dict[str, Any]:
    """What a table says of how it was made; only what is the same at every run and on every machine.

    Parameters
    ----------
    rule
        Name of the rule.
    params
        Its parameters; the code digest is among them.
    inputs
        Paths of its inputs by name.
    script
        The rule's script, whose imports name the modules.
    """
    return {
        "rule": rule,
        "params": {name: _plain(value) for name, value in params.items()},
        "modules": tracking.modules_of(script),
        "inputs": {name: {Path(path).name: hash_of(path) for path in paths} for name, paths in inputs.items()},
    }


def hash_of(path: str | Path) -> str:
    """A file's content: the hash over values that a table of this project carries, else SHA-256 over the bytes."""
    if str(path).endswith(".parquet"):
        content = table.origin(path).get("content")
        if content:
            return str(content)
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _plain(value: Any) -> Any:
    """JSON has no infinity: beta = inf is written as text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return str(value)
    return value
