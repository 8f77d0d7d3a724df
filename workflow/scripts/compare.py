"""Hold every published number against the table that computes it."""

from pathlib import Path

from attnkernel import claims, table
from attnkernel.job import Job, log, run


def main(job: Job) -> None:
    published = claims.read_claims(job.input.published)
    tables = {Path(path).stem: table.read(path) for path in job.input.tables}
    comparison = claims.compare(published, tables, job.input.published)
    log.info(claims.summary(comparison))
    job.publish("claims", comparison)
    job.publish("calibration", claims.calibration(comparison))


if __name__ == "__main__":
    run(main, snakemake, __file__)
