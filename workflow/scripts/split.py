"""Cut a corpus between documents into shards, and count the words of training over all of them."""

from attnkernel import table
from attnkernel.corpus import shards
from attnkernel.corpus.text import training_words
from attnkernel.job import Job, run

ROWS = 2**20  # read at once


def main(job: Job) -> None:
    path = job.input.tokens
    pieces = range(0, table.rows(path), ROWS)
    positions = (table.read_rows(path, start, start + ROWS, ["position"])["position"] for start in pieces)
    bounds = shards.document_bounds(positions, len(job.output.shards))
    for shard, (start, stop) in zip(job.output.shards, bounds, strict=True):
        job.write(shard, table.read_rows(path, start, stop))
    job.write(job.output.words, training_words(job.output.shards))


if __name__ == "__main__":
    run(main, snakemake, __file__)
