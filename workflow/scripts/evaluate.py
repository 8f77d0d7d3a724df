"""Choose beta and lambda on development documents, and measure what the cache gains on held-out ones."""

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
    losses = tables.model_losses(heldout, grid)
    by_group = tables.heldout_table(heldout, losses)
    by_distance = tables.distance_table(heldout, losses, job.params.edges)
    ratio = tables.far_gain_ratio(heldout, losses)
    row, weight = tables.chosen(grid)
    log.info("development chooses beta = %g, lambda = %g", grid["beta"][row], weight)
    job.write(job.output.grid, grid)
    job.write(job.output.heldout, by_group)
    job.write(job.output.distance, by_distance)
    job.write(job.output.shapes, tables.shape_table(grid, by_group, by_distance, ratio))


if __name__ == "__main__":
    run(main, snakemake, __file__)
