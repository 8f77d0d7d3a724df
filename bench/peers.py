"""Which peers are here; none is needed to run the pipeline."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

_REMEDY = {
    "torch": "PyTorch is not installed (pip install '.[bench]')",
    "nltk": "nltk is not installed (pip install '.[bench]')",
}
BUILD = Path(__file__).parent / "build"


def absent(package: str) -> str | None:
    """Why a Python peer cannot run, or None if it can."""
    return None if importlib.util.find_spec(package) else _REMEDY[package]


def kenlm() -> Path | str:
    """Folder of KenLM's programs: KENLM_BIN, or what bench/build_kenlm.sh made; else why there is none."""
    folder = Path(os.environ.get("KENLM_BIN", BUILD / "bin"))
    if (folder / "lmplz").exists():
        return folder
    return f"KenLM is not built (sh bench/build_kenlm.sh {os.path.relpath(BUILD)})"
