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
    with tempfile.TemporaryDirectory() as folder:
        # Sockets in a folder that no other user of the machine can reach, unlike ports.
        config = Config({"KernelManager": {"transport": "ipc", "ip": f"{folder}/kernel"}})
        NotebookClient(notebook, config=config, kernel_name="python3", timeout=120, record_timing=False).execute()
    log.info("executed %d cells", len(notebook.cells))
    with table.atomic(job.output.notebook, "w") as file:
        file.write(nbformat.writes(notebook) + "\n")


if __name__ == "__main__":
    run(main, snakemake, __file__)
