"""Hold every published number against the table that computes it."""

import csv
from pathlib import Path

from attnkernel import claims, table
from attnkernel.job import Job, log, run


def main(job: Job) -> None:
    with open(job.input.published, encoding="utf-8", newline="") as file:
        published = list(csv.DictReader(file))
    tables = {Path(path).stem: table.read(path) for path in job.input.tables}
    comparison = claims.compare(published, tables)
    log.info(claims.summary(comparison))
    job.publish("claims", comparison)
    job.publish("calibration", claims.calibration(comparison))


if __name__ == "__main__":
    run(main, snakemake, __file__)
