"""Choose the learned kernel's epoch and lambda on the development documents of all shards."""

import numpy as np

from attnkernel import table
from attnkernel.job import Job, log, run
from attnkernel.language import pointer
from attnkernel.language.evaluate import Sums, lambda_grid


def main(job: Job) -> None:
    history = pointer.History.from_columns(table.read(job.input.history))
    lambdas = lambda_grid(*(job.params.lambdas[key] for key in ("from", "to", "step")))
    train, dev = (pointer.Losses.gathered(map(table.read, job.paths(split))) for split in ("train", "dev"))
    mixtures = Sums.gathered(map(table.read, job.paths("mixtures")), len(lambdas))
    epochs = pointer.epoch_table(train, dev, mixtures, lambdas)
    best = int(np.flatnonzero(epochs["chosen"])[0])
    log.info("development chooses epoch %d", best)
    job.write(job.output.kernel, {"A": history.A[best], "B": history.B[best]})
    job.write(job.output.epochs, epochs)


if __name__ == "__main__":
    run(main, snakemake, __file__)
