"""Stop the run, with a list of every published number that does not hold, unless all do."""

from attnkernel import claims, table
from attnkernel.errors import InputError
from attnkernel.job import Job, log, run


def main(job: Job) -> None:
    comparison = table.read(job.input.claims)
    summary = claims.summary(comparison)
    failures = claims.failures(comparison)
    if failures:
        raise InputError("\n".join([f"{len(failures)} published numbers do not hold:", *failures, summary]))
    log.info(summary)
    with table.atomic(job.output.verified, "w") as file:
        file.write(summary + "\n")


if __name__ == "__main__":
    run(main, snakemake, __file__)
