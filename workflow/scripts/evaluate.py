"""Measure on held-out documents what each kernel gains over Kneser-Ney, and where."""

from attnkernel import table
from attnkernel.corpus.text import read_text
from attnkernel.job import Job, run
from attnkernel.language import tables
from attnkernel.language.scored import read_scores


def main(job: Job) -> None:
    text = read_text(job.input.tokens, job.params.min_count)
    heldout = read_scores(job.input.scores, text.of("heldout"))
    grid, epochs = table.read(job.input.grid), table.read(job.input.epochs)
    losses = tables.model_losses(heldout, grid, epochs)
    written = tables.written_out(text, job.params.speller_order)
    by_group = tables.heldout_table(heldout, losses, written)
    by_distance = tables.distance_table(heldout, losses, job.params.edges)
    learned = tables.learned_table(heldout, losses, grid, epochs)
    job.write(job.output.heldout, by_group)
    job.write(job.output.distance, by_distance)
    job.write(job.output.learned, learned)
    ratio = tables.far_gain_ratio(heldout, losses)
    job.write(job.output.shapes, tables.shape_table(grid, by_group, by_distance, epochs, learned, ratio))


if __name__ == "__main__":
    run(main, snakemake, __file__)
