"""Replace the cache's kernel by random features: the error of attention, and what it costs the mixture."""

import numpy as np

from attnkernel import table
from attnkernel.corpus.text import read_text
from attnkernel.job import Job, run
from attnkernel.language import random_features, tables
from attnkernel.seeding import seed_sequence


def main(job: Job) -> None:
    heldout = read_text(job.input.tokens, job.params.min_count).of("heldout")
    documents, clusters = heldout.by_document(), heldout.document_clusters()
    vectors = table.read(job.input.vectors, ["vector"])["vector"]
    kneser_ney = table.read(job.input.heldout, ["kn"])["kn"]
    settings = {"chosen": tables.starting_point(table.read(job.input.grid)), "article": tuple(job.params.article)}
    sizes = job.params.sizes
    generator = np.random.default_rng(seed_sequence(job.params.seed, "features"))
    draws = generator.standard_normal((max(sizes), vectors.shape[1]))
    variation = random_features.total_variation(documents, clusters, vectors, job.params.betas, sizes, draws)
    costs = {
        name: random_features.mixture_table(documents, clusters, vectors, kneser_ney, *setting, sizes, draws)
        for name, setting in settings.items()
    }
    mixed = table.concatenate([table.with_constant(cost, "setting", name) for name, cost in costs.items()])
    job.write(job.output.features, variation)
    job.write(job.output.mixture, mixed)
    job.write(job.output.checks, random_features.check_table(variation, mixed))


if __name__ == "__main__":
    run(main, snakemake, __file__)
