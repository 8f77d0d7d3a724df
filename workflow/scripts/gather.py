"""Put the tables of all shards back into one, in their order, piece by piece."""

from itertools import chain

from attnkernel import table
from attnkernel.job import Job, run


def main(job: Job) -> None:
    for name, path in job.output.items():
        job.write_pieces(path, chain.from_iterable(map(table.read_pieces, job.paths(name))))


if __name__ == "__main__":
    run(main, snakemake, __file__)
