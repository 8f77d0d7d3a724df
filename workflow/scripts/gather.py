"""Put the tables of all shards back into one, in their order."""

from attnkernel import table
from attnkernel.job import Job, run


def main(job: Job) -> None:
    for name, path in job.output.items():
        job.write(path, table.concatenate([table.read(part) for part in job.paths(name)]))


if __name__ == "__main__":
    run(main, snakemake, __file__)
