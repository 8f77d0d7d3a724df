"""Put the tables of all shards back into one, in their order, with one shard in memory at a time."""

from attnkernel import table
from attnkernel.job import Job, run


def main(job: Job) -> None:
    for name, path in job.output.items():
        job.write_pieces(path, map(table.read, job.paths(name)))


if __name__ == "__main__":
    run(main, snakemake, __file__)
