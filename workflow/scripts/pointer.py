"""Train the learned kernel on training documents; choose its epoch and lambda on development ones."""

import numpy as np

from attnkernel import table
from attnkernel.corpus.text import read_text
from attnkernel.job import Job, log, run
from attnkernel.language import pointer, tables
from attnkernel.language.evaluate import lambda_grid
from attnkernel.seeding import seed_sequence


def main(job: Job) -> None:
    text = read_text(job.input.tokens, job.params.min_count)
    training, dev = (text.of(split).by_document() for split in ("train", "dev"))
    vectors = table.read(job.input.vectors, ["vector"])["vector"]
    kneser_ney = table.read(job.input.dev, ["kn"])["kn"]
    lambdas = lambda_grid(*(job.params.lambdas[key] for key in ("from", "to", "step")))
    beta, _ = tables.starting_point(table.read(job.input.grid))
    generator = np.random.default_rng(seed_sequence(job.params.seed, "pointer", job.wildcards.corpus))
    history = pointer.train(training, vectors, beta, **job.params.settings, generator=generator)
    losses = [pointer.epoch_losses(history, vectors, part, job.params.settings["window"]) for part in (training, dev)]
    mixtures = pointer.epoch_mixtures(history, vectors, dev, kneser_ney, lambdas)
    epochs = pointer.epoch_table(*losses, mixtures, lambdas)
    best = int(np.flatnonzero(epochs["chosen"])[0])
    log.info("from beta = %g; development chooses epoch %d", beta, best)
    job.write(job.output.kernel, {"A": history.A[best], "B": history.B[best]})
    job.write(job.output.epochs, epochs)


if __name__ == "__main__":
    run(main, snakemake, __file__)
