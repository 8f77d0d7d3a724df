"""Write the report of the run: every chapter's claim, tables, figures and published numbers beside ours."""

from pathlib import Path

import yaml

from attnkernel import render, table
from attnkernel.job import Job, run


def main(job: Job) -> None:
    made = render.report(
        template=Path(job.input.template).read_text(encoding="utf-8"),
        style=Path(job.input.style).read_text(encoding="utf-8"),
        texts=yaml.safe_load(Path(job.input.texts).read_text(encoding="utf-8")),
        claims=table.read(job.input.claims),
        tables={Path(path).stem: table.read(path) for path in job.paths("tables")},
        figures={Path(path).stem: Path(path).read_text(encoding="utf-8") for path in job.paths("figures")},
        config=Path(job.input.config).read_text(encoding="utf-8"),
    )
    with table.atomic(job.output.report, "w") as file:
        file.write(made)


if __name__ == "__main__":
    run(main, snakemake, __file__)
