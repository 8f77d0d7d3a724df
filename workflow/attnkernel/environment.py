"""Where a job ran: the versions, the machine, and the BLAS kernel that multiplied its matrices."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import time
from functools import cache
from pathlib import Path
from typing import Any, Final

_PACKAGES: Final = ("numpy", "scipy", "pyarrow", "snakemake")


@cache
def describe() -> dict[str, Any]:
    """Versions, machine, BLAS and cores of this process."""
    import numpy
    import pyarrow
    import scipy
    from snakemake.common import __version__ as snakemake_version

    versions = numpy.__version__, scipy.__version__, pyarrow.__version__, snakemake_version
    return {
        "python": platform.python_version(),
        **dict(zip(_PACKAGES, versions, strict=True)),
        "machine": f"{platform.system()} {platform.machine()}",
        "blas": blas(),
        "machine_cores": os.cpu_count(),
        "run_cores": int(os.environ.get("ATTNKERNEL_CORES", "0")) or None,
    }


def packages() -> dict[str, str]:
    """Version of every package that is installed here."""
    from importlib import metadata  # slow to import, and every job imports this module

    found = ((package.metadata["Name"].lower(), package.version) for package in metadata.distributions())
    return dict(sorted(found))


def blas() -> str:
    """Name, version and kernel of the library that numpy multiplies with, such as `scipy-openblas 0.3 (Haswell)`."""
    import numpy as np

    built = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"{built['name']} {built['version']} ({_openblas_kernel(Path(np.__file__).parent)})"


def peak_memory() -> float:
    """The most memory that this process has held, in megabytes."""
    status = Path("/proc/self/status")
    if status.is_file():  # getrusage would count what the process was forked from
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0**2  # macOS counts bytes


def spawned() -> float | None:
    """When this process began, in seconds since 1970; None where the system does not say."""
    status = Path("/proc/self/stat")
    if not status.is_file():
        return None
    # The name in brackets may hold blanks; the 20th field after it counts clock ticks since the machine's start.
    ticks = int(status.read_text(encoding="utf-8").rpartition(")")[2].split()[19])
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + ticks / os.sysconf("SC_CLK_TCK")


def _openblas_kernel(numpy_folder: Path) -> str:
    """The kernel that numpy's own OpenBLAS chose for this processor; last bits may differ from one to another."""
    for folder in (numpy_folder.with_name("numpy.libs"), numpy_folder / ".dylibs"):
        for library in folder.glob("*openblas*"):
            corename = getattr(ctypes.CDLL(str(library)), "scipy_openblas_get_corename64_", None)
            if corename is not None:
                corename.restype = ctypes.c_char_p
                return str(corename().decode())
    return "unknown kernel"


def summary(environment: dict[str, Any]) -> str:
    """One line for a reader."""
    versions = ", ".join(f"{package} {environment[package]}" for package in _PACKAGES)
    return f"Python {environment['python']}, {versions}; {environment['machine']}; {environment['blas']}"
