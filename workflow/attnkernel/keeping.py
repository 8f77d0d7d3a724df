"""What a run replaces, kept until it is there again.

Snakemake deletes the outputs of a job before it begins, so that a job that then fails, or is killed, has lost what was
there. Its flag `update` is no way out: it puts an old file back as what the failed job made, and the next run takes
that for up to date. So the old files stay apart, under a second name for the same content, which takes no room.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

KEPT: Final = Path(".snakemake") / "previous"
_NO_RESULTS: Final = frozenset(("logs",))


def keep(results: str | Path, kept: Path = KEPT) -> None:
    """Give every file of the results a second name, as long as the file system allows that.

    What an earlier run has lost, and is still not there, stays kept.
    """
    top = Path(results)
    for folder, folders, files in os.walk(top):
        if Path(folder) == top:
            folders[:] = [name for name in folders if name not in _NO_RESULTS]
        place = kept / folder
        place.mkdir(parents=True, exist_ok=True)
        for name in files:
            (place / name).unlink(missing_ok=True)
            with suppress(OSError):
                os.link(Path(folder) / name, place / name)


def retain(kept: Path = KEPT) -> list[str]:
    """Forget what was kept and is in its place; returns the paths of the rest, which a run has lost."""
    lost = []
    for folder, _, files in os.walk(kept, topdown=False):
        for name in files:
            path = Path(folder, name)
            if path.relative_to(kept).exists():
                path.unlink()
            else:
                lost.append(path.relative_to(kept).as_posix())
        with suppress(OSError):  # it is not empty
            Path(folder).rmdir()
    return sorted(lost)


def described(lost: list[str], kept: Path = KEPT) -> list[str]:
    """At most one line: what a run was to replace and did not."""
    if not lost:
        return []
    shown = ", ".join(lost[:3]) + (f" and {len(lost) - 3} more" if len(lost) > 3 else "")
    return [f"what this run was to replace is kept in {kept} until it is made again: {shown}"]
