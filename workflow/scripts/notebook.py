"""Execute the companion notebook over this run's tables."""

import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

from attnkernel import table
from attnkernel.job import Job, log, run


def main(job: Job) -> None:
    notebook = nbformat.reads(Path(job.input.source).read_text(encoding="utf-8"), as_version=4)
    execute(notebook)
    log.info("executed %d cells", len(notebook.cells))
    with table.atomic(job.output.notebook, "w") as file:
        file.write(nbformat.writes(notebook) + "\n")


def execute(notebook: nbformat.NotebookNode) -> None:
    """Fill in the outputs of a notebook, the same at every run."""
    with tempfile.TemporaryDirectory() as folder:
        # Sockets in a folder that no other user of the machine can reach, unlike ports.
        config = Config({"KernelManager": {"transport": "ipc", "ip": f"{folder}/kernel"}})
        # What a cell prints is one output however long the cell takes: the kernel sends it in pieces, by the clock.
        options = {"timeout": 120, "record_timing": False, "coalesce_streams": True}
        NotebookClient(notebook, config=config, kernel_name="python3", **options).execute()


if __name__ == "__main__":
    run(main, snakemake, __file__)
