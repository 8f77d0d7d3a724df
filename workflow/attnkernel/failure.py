"""Why a run cannot start, or stopped, in words that its user can act on."""

from __future__ import annotations

import argparse
import os
import re
import signal
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from attnkernel import configuration
from attnkernel.errors import InputError

# Snakemake's own log names the log of each job that failed.
_FAILED_LOG: Final = re.compile(r"^    log: (\S+) \(check log file", re.MULTILINE)
_LEVEL: Final = re.compile(r"^(?:DEBUG|INFO|WARNING|ERROR|CRITICAL): ", re.MULTILINE)


def messages(snakemake_logs: Iterable[str | Path]) -> list[str]:
    """What each failed job said last, a message a job; none where Snakemake itself failed, for it says so.

    Parameters
    ----------
    snakemake_logs
        The logs of the run, which `onerror` of a Snakefile calls `log`.
    """
    text = "".join(_text(Path(log)) for log in snakemake_logs)
    logs = dict.fromkeys(_FAILED_LOG.findall(text))
    return [said for log in logs if (said := last_error(Path(log)))]


def last_error(log: Path) -> str:
    """The last error of a job's log, without the traceback of an error that is not the user's."""
    text = "\n" + _text(log)
    parts = _LEVEL.split(text)
    errors = [part.strip() for level, part in zip(_LEVEL.findall(text), parts[1:], strict=True) if level == "ERROR: "]
    if not errors:
        return f"a job ended without a word, stopped from outside (for its memory?) or before it began; see {log}"
    said, _, traceback = errors[-1].partition("\nTraceback (most recent call last):")
    return f"{said}; please report it with {log}" if traceback else said


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def require_configs(arguments: Sequence[str], own: str | Path) -> None:
    """Refuse a config file that cannot be read, which Snakemake would answer with a traceback or without its name.

    Parameters
    ----------
    arguments
        Of the command `snakemake`.
    own
        The project's own config file, which is read where it exists.

    Raises
    ------
    InputError
        See `configuration.read`.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[])
    given, _ = parser.parse_known_args(list(arguments))
    for path in [own, *given.configfile] if Path(own).exists() else given.configfile:
        configuration.read(path)


def require_workspace(folder: str | Path, results: str) -> None:
    """Refuse a folder in which Snakemake could not even begin, which it would answer with a traceback.

    Raises
    ------
    InputError
        Snakemake's records cannot be written there, or a file has the name of the folder of results.
    """
    records = Path(folder) / ".snakemake"
    _require_writable(records if records.exists() else Path(folder))
    place = Path(folder) / results
    if place.exists() and not place.is_dir():
        raise InputError(f"{results}: is a file where a folder is needed; move it away")


def require_writable(folder: str | Path) -> None:
    """Refuse a folder of results in which nothing can be made.

    Raises
    ------
    InputError
        It, or a folder in it, cannot be written to.
    """
    top = Path(folder)
    for place in [top, *(inner for inner in top.glob("*") if inner.is_dir())]:
        if place.exists():
            _require_writable(place)


def _require_writable(place: Path) -> None:
    if not os.access(place, os.W_OK | os.X_OK):
        raise InputError(f"{place}: cannot be written to; allow it, or run in a copy of the project that is yours")


def heed_termination() -> None:
    """Let a request to end be heard beside what is being done.

    Snakemake's own handler takes a lock that the very thread it interrupts may hold, and both would then wait for ever.
    """
    handler = signal.getsignal(signal.SIGTERM)
    if callable(handler):
        signal.signal(signal.SIGTERM, lambda *received: threading.Thread(target=handler, args=received).start())


def wait_no_longer() -> None:
    """Stop Snakemake's timers, for which a process whose work is done would wait another second."""
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()
