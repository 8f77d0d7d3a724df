"""Measure on held-out documents what each kernel gains over Kneser-Ney, and where."""

from attnkernel import table
from attnkernel.corpus.text import read_text
from attnkernel.job import Job, run
from attnkernel.language import tables
from attnkernel.language.scored import read_scores


def main(job: Job) -> None:
    grid, epochs = table.read(job.input.grid), table.read(job.input.epochs)
    parts, speller = [], None
    # A corpus in shards comes shard by shard; of each only a few numbers a token are kept.
    for tokens, scores in zip(job.paths("tokens"), job.paths("scores"), strict=True):
        text = read_text(tokens, job.params.min_count, job.input.get("words")).of("heldout")
        speller = speller or tables.speller_of(text, job.params.speller_order)
        parts.append(tables.measure(text, read_scores(scores, text), grid, epochs, speller))
    heldout = tables.stack(parts)
    by_group = tables.heldout_table(heldout)
    by_distance = tables.distance_table(heldout, job.params.edges)
    learned = tables.learned_table(heldout, grid, epochs)
    job.write(job.output.heldout, by_group)
    job.write(job.output.distance, by_distance)
    job.write(job.output.learned, learned)
    ratio = tables.far_gain_ratio(heldout)
    job.write(job.output.shapes, tables.shape_table(grid, by_group, by_distance, epochs, learned, ratio))


if __name__ == "__main__":
    run(main, snakemake, __file__)
