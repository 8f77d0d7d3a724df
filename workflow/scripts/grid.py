"""Choose lambda at every beta, and beta, on development documents."""

from attnkernel.corpus.text import read_text
from attnkernel.job import Job, log, run
from attnkernel.language import tables
from attnkernel.language.evaluate import beta_grid, lambda_grid
from attnkernel.language.scored import read_scores


def main(job: Job) -> None:
    text = read_text(job.input.tokens, job.params.min_count)
    lambdas = lambda_grid(*(job.params.lambdas[key] for key in ("from", "to", "step")))
    sums = []
    for split in ("dev", "heldout"):
        part = text.of(split)
        scored = read_scores(job.input[split], part)
        sums.append(tables.grid_sums(part, scored, lambdas))
    grid = beta_grid(scored.betas, lambdas, *sums)
    row, weight = tables.chosen(grid)
    log.info("development chooses beta = %g, lambda = %g", grid["beta"][row], weight)
    job.write(job.output.grid, grid)


if __name__ == "__main__":
    run(main, snakemake, __file__)
