"""Train the learned kernel on the training documents of all shards."""

import numpy as np

from attnkernel import table
from attnkernel.corpus.text import read_text
from attnkernel.job import Job, log, run
from attnkernel.language import pointer, tables
from attnkernel.seeding import seed_sequence


def main(job: Job) -> None:
    training = [
        document
        for shard in job.paths("tokens")
        for document in read_text(shard, job.params.min_count, job.input.words).of("train").by_document()
    ]
    vectors = table.read(job.input.vectors, ["vector"])["vector"]
    beta, _ = tables.starting_point(table.read(job.input.grid))
    generator = np.random.default_rng(seed_sequence(job.params.seed, "pointer", job.wildcards.corpus))
    history = pointer.train(training, vectors, beta, **job.params.settings, generator=generator)
    log.info("from beta = %g", beta)
    job.write(job.output.history, history.columns())


if __name__ == "__main__":
    run(main, snakemake, __file__)
