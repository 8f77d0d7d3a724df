"""Write the results in short, for the README."""

from attnkernel import render, table
from attnkernel.job import Job, run


def main(job: Job) -> None:
    tables = {name: table.read(job.input[name]) for name in ("corpora", "heldout")}
    with table.atomic(job.output.summary, "w") as file:
        file.write(render.summary(table.read(job.input.claims), tables))


if __name__ == "__main__":
    run(main, snakemake, __file__)
