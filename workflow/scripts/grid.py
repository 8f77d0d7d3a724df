"""Choose lambda at every beta, and beta, on development documents."""

from attnkernel.corpus.text import read_text
from attnkernel.job import Job, log, run
from attnkernel.language import tables
from attnkernel.language.evaluate import lambda_grid
from attnkernel.language.scored import read_scores


def main(job: Job) -> None:
    text = read_text(job.input.tokens, job.params.min_count)
    dev, heldout = (read_scores(job.input[split], text.of(split)) for split in ("dev", "heldout"))
    lambdas = lambda_grid(*(job.params.lambdas[key] for key in ("from", "to", "step")))
    grid = tables.grid_table(lambdas, dev, heldout)
    row, weight = tables.chosen(grid)
    log.info("development chooses beta = %g, lambda = %g", grid["beta"][row], weight)
    job.write(job.output.grid, grid)


if __name__ == "__main__":
    run(main, snakemake, __file__)
