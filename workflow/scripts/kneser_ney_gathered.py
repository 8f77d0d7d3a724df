"""Estimate Kneser-Ney from the n-gram counts of all shards."""

from attnkernel import table
from attnkernel.job import Job, run
from attnkernel.language import kneser_ney


def main(job: Job) -> None:
    settings = job.params.settings
    shards = (kneser_ney.counts_from_columns(table.read(path), settings["order"]) for path in job.paths("ngrams"))
    model = kneser_ney.estimate_from_counts(kneser_ney.merge_counts(shards), settings["discounts"])
    job.write_pieces(job.output.model, kneser_ney.column_pieces(model))


if __name__ == "__main__":
    run(main, snakemake, __file__)
