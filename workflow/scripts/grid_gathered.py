"""Choose lambda at every beta, and beta, on the development documents of all shards."""

from attnkernel import table
from attnkernel.job import Job, log, run
from attnkernel.language import tables
from attnkernel.language.evaluate import Sums, beta_grid, lambda_grid


def main(job: Job) -> None:
    lambdas = lambda_grid(*(job.params.lambdas[key] for key in ("from", "to", "step")))
    dev, heldout = (Sums.gathered(map(table.read, job.paths(split)), len(lambdas)) for split in ("dev", "heldout"))
    grid = beta_grid(job.params.betas, lambdas, dev, heldout)
    row, weight = tables.chosen(grid)
    log.info("development chooses beta = %g, lambda = %g", grid["beta"][row], weight)
    job.write(job.output.grid, grid)


if __name__ == "__main__":
    run(main, snakemake, __file__)
