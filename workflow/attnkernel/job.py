"""What every script shares: the log, the origin of what it writes, and one clear line for a mistake of the user."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attnkernel import provenance, table
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

    def write(self, path: str, columns: table.Columns) -> None:
        """Write a table with this job's origin, and say how long it is."""
        inputs = {name: self.paths(name) for name, _ in self.input.items()}
        table.write(path, columns, provenance.origin(self._rule, dict(self.params.items()), inputs, self._script))
        log.info("wrote %s: %d rows", path, len(next(iter(columns.values()))))

    def publish(self, name: str, columns: table.Columns) -> None:
        """Write a published table and its CSV twin, to the outputs `name` and `name`_csv."""
        self.write(self.output[name], columns)
        table.write_csv(self.output[f"{name}_csv"], columns)


def run(main: Callable[[Job], None], snakemake: Any, script: str) -> None:
    """Run a script's `main`, with its messages in the rule's log.

    A mistake of the user ends in its message alone; anything else in a traceback, which belongs in a bug report.
    """
    logging.basicConfig(
        filename=snakemake.log[0],
        filemode="w",
        format="%(levelname)s: %(message)s",
        force=True,
    )
    # Only this project speaks of progress; a library speaks up when something is wrong.
    log.setLevel(logging.INFO)
    logging.captureWarnings(True)
    started = time.perf_counter()
    try:
        main(Job(snakemake, Path(script)))
    except InputError as error:
        log.error("%s", error)
        sys.exit(1)
    except Exception:
        log.exception("rule %s stopped on an error that is not yours", snakemake.rule)
        sys.exit(1)
    log.info("done in %.2f s", time.perf_counter() - started)
