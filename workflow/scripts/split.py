"""Cut a corpus between documents into shards, and count the words of training over all of them."""

from attnkernel import table
from attnkernel.corpus import shards
from attnkernel.corpus.text import training_words
from attnkernel.job import Job, run


def main(job: Job) -> None:
    path = job.input.tokens
    positions = (piece["position"] for piece in table.read_pieces(path, ["position"]))
    bounds = shards.document_bounds(positions, len(job.output.shards))
    for shard, (start, stop) in zip(job.output.shards, bounds, strict=True):
        job.write_pieces(shard, table.read_pieces(path, start=start, stop=stop))
    job.write(job.output.words, training_words(job.output.shards))


if __name__ == "__main__":
    run(main, snakemake, __file__)
