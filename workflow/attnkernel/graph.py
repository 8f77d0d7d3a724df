"""The jobs that Snakemake would run for the files asked for, as plain data: what a rule is *now*.

Snakemake itself reads the Snakefile and the config, so that params, code digests and inputs here are the very ones that
a run would use.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnkernel import configuration, provenance
from attnkernel.errors import InputError

if TYPE_CHECKING:
    from snakemake.jobs import Job
    from snakemake.rules import Rule


@dataclass(frozen=True)
class PlannedJob:
    """A job of the graph.

    Attributes
    ----------
    name
        Rule and wildcards, as the job's log and record are named.
    place
        File and line of the rule.
    inputs, outputs
        Paths by name; those of a name in order.
    """

    name: str
    rule: str
    place: str
    script: str
    params: dict[str, Any]
    inputs: dict[str, list[str]]
    outputs: list[str]


@dataclass(frozen=True)
class Graph:
    """Jobs in an order in which each follows those whose outputs it reads."""

    jobs: list[PlannedJob]
    configfiles: list[str]

    @property
    def makers(self) -> dict[str, PlannedJob]:
        """The job that makes each file."""
        return {path: job for job in self.jobs for path in job.outputs}


def project_folder(start: Path) -> Path:
    """The folder with the Snakefile, at or above `start`.

    Raises
    ------
    InputError
        There is none.
    """
    for folder in (start, *start.parents):
        if (folder / "Snakefile").is_file():
            return folder
    raise InputError(f"{start}: there is no Snakefile here or above; run this command in the project folder")


def read_graph(
    configfiles: Sequence[Path] = (),
    targets: Sequence[str] | None = None,
    extra: Sequence[str] = (),
) -> Graph:
    """The graph of the project in the current folder.

    Parameters
    ----------
    configfiles
        Config files on top of the project's own, as `snakemake --configfile` takes them.
    targets
        Files or rules to make; if none are given, the default target.
    extra
        More files, of which those that no rule makes are left out.

    Raises
    ------
    InputError
        The config has a mistake, or no rule makes a target.
    """
    from snakemake.api import SnakemakeApi
    from snakemake.exceptions import RuleException, WorkflowError
    from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, Quietness, ResourceSettings

    for path in (Path("config/config.yaml"), *configfiles):
        configuration.read(path)
    try:
        with _environment_kept(), SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
            loaded = api.workflow(
                resource_settings=ResourceSettings(cores=1),
                config_settings=ConfigSettings(configfiles=list(configfiles)),
                snakefile=Path("Snakefile"),
            )
            # What Snakemake's own `--summary` does first; the public interface can print a graph but not return it.
            workflow = loaded._workflow
            wanted = list(targets) if targets is not None else [workflow.default_target]
            wanted += [path for path in extra if any(rule.is_producer(path) for rule in workflow.rules)]
            loaded.dag(DAGSettings(targets=frozenset(wanted)))
            workflow._prepare_dag(forceall=False, ignore_incomplete=True, lock_warn_only=True, nolock=True)
            workflow._build_dag()
            levels = workflow.dag.toposorted()
            jobs = [_planned(job) for level in levels for job in sorted(level, key=str) if job.rule.script]
            return Graph(jobs, [os.path.relpath(path) for path in workflow.configfiles])
    except (WorkflowError, RuleException) as error:
        raise InputError(str(error)) from None
    except SystemExit as stopped:  # the Snakefile's own word on a mistake
        raise InputError(str(stopped.code)) from None


def _planned(job: Job) -> PlannedJob:
    inputs = {name: [paths] if isinstance(paths, str) else list(paths) for name, paths in job.input.items()}
    return PlannedJob(
        name=Path(job.log[0]).stem,
        rule=job.rule.name,
        place=_place(job.rule),
        script=Path(job.rule.script).name,
        params=provenance.plain(dict(job.params.items())),
        inputs={name: [str(path) for path in paths] for name, paths in inputs.items()},
        outputs=[str(path) for path in job.output],
    )


def _place(rule: Rule) -> str:
    """File and line; Snakemake's own line number is of the Python that it makes of the file."""
    file = Path(str(rule.snakefile))
    lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    return f"{os.path.relpath(file)}:{lines.index(f'rule {rule.name}:') + 1}"


@contextmanager
def _environment_kept() -> Iterator[None]:
    """The Snakefile sets variables for its jobs, which are none of ours; Snakemake chats on the error stream."""
    before = dict(os.environ)
    with redirect_stderr(io.StringIO()):
        yield
    os.environ.clear()
    os.environ.update(before)
