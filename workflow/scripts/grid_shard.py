"""Sum the losses of every mixture of the grid over each document of a shard."""

from attnkernel.corpus.text import read_text
from attnkernel.job import Job, run
from attnkernel.language import tables
from attnkernel.language.evaluate import lambda_grid
from attnkernel.language.scored import read_scores


def main(job: Job) -> None:
    text = read_text(job.input.tokens, job.params.min_count, job.input.words)
    lambdas = lambda_grid(*(job.params.lambdas[key] for key in ("from", "to", "step")))
    for split in ("dev", "heldout"):
        part = text.of(split)
        sums = tables.grid_sums(part, read_scores(job.input[split], part), lambdas)
        job.write(job.output[split], sums.columns())


if __name__ == "__main__":
    run(main, snakemake, __file__)
