"""What every script shares: the log, the origin of what it writes, and one clear line for a mistake of the user."""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from attnkernel import locking, provenance, table
from attnkernel.errors import InputError

log = logging.getLogger("attnkernel")


class Job:
    """A running Snakemake job as a script sees it.

    Attributes
    ----------
    input, output, params, wildcards
        As the rule names them.
    """

    def __init__(self, snakemake: Any, script: Path) -> None:
        self.input, self.output = snakemake.input, snakemake.output
        self.params, self.wildcards = snakemake.params, snakemake.wildcards
        self._rule, self._script = snakemake.rule, script

    def paths(self, name: str) -> list[str]:
        """Paths of an input, one or several."""
        value = self.input[name]
        return [value] if isinstance(value, str) else list(value)

    @cached_property
    def origin(self) -> dict[str, Any]:
        """What this job's outputs say of how they were made."""
        inputs = {name: self.paths(name) for name, _ in self.input.items()}
        return provenance.origin(self._rule, dict(self.params.items()), inputs, self._script)

    def write(self, path: str, columns: table.Columns) -> None:
        """Write a table with this job's origin, and say how long it is."""
        table.write(path, columns, self.origin)
        log.info("wrote %s: %d rows", path, len(next(iter(columns.values()))))

    def write_pieces(self, path: str, pieces: Iterable[table.Columns]) -> None:
        """Write a table that comes in pieces, as `write` does, with one of them in memory at a time."""
        log.info("wrote %s: %d rows", path, table.write_pieces(path, pieces, self.origin))

    def warn(self, message: str) -> None:
        """Say something in the log and on the screen, where a log alone would not be read."""
        log.warning("%s", message)
        print(f"WARNING: {message}", file=sys.stderr)

    def publish(self, name: str, columns: table.Columns) -> None:
        """Write a published table and its CSV twin, to the outputs `name` and `name`_csv."""
        self.write(self.output[name], columns)
        table.write_csv(self.output[f"{name}_csv"], columns)


def _say(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: str | None = None,
) -> None:
    """Log a warning: one of this project's in its own words, one of a library with its place."""
    own = category.__module__.startswith(__package__ or "")
    log.warning("%s", message if own else warnings.formatwarning(message, category, filename, lineno, line))


def _stop(snakemake: Any, error: Exception) -> NoReturn:
    """End a job with the one message that its user needs, or with the traceback of an error that is not the user's."""
    if isinstance(error, MemoryError):
        error = InputError(
            f"the memory does not suffice ({error}); cut long documents with the corpus's `window`, `limit` it, or "
            "lower the sizes in the config"
        )
    elif isinstance(error, OSError):
        error = table.explained(error, error.filename or "a file")
    file = Path(snakemake.log[0])
    before = file.stat().st_size
    if isinstance(error, InputError):
        log.error("%s", error)
    else:
        log.error("rule %s stopped on an error that is not yours", snakemake.rule, exc_info=error)
    if file.stat().st_size == before:  # the disk has no room even for that line
        print(f"ERROR: {error}", file=sys.stderr)
    sys.exit(1)


def run(main: Callable[[Job], None], snakemake: Any, script: str) -> None:
    """Run a script's `main`, with its messages in the rule's log and its record beside the results.

    A mistake of the user ends in its message alone; anything else in a traceback, which belongs in a bug report.
    """
    logging.basicConfig(
        filename=snakemake.log[0],
        filemode="w",
        format="%(levelname)s: %(message)s",
        force=True,
    )
    logging.raiseExceptions = False  # of a log that cannot be written
    # Only this project speaks of progress; a library speaks up when something is wrong.
    log.setLevel(logging.INFO)
    warnings.showwarning = _say
    started = time.time()
    try:
        with locking.hold_job():
            job = Job(snakemake, Path(script))
            main(job)
            provenance.write_record(Path(snakemake.log[0]).stem, job.origin, snakemake.output, started)
    except Exception as error:
        _stop(snakemake, error)
    log.info("done in %.2f s", time.time() - started)
