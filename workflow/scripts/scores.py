"""Add the learned kernel's probabilities to those of Kneser-Ney and the caches."""

import numpy as np

from attnkernel import table
from attnkernel.corpus.text import read_text
from attnkernel.job import Job, run
from attnkernel.language.cache import cache_probabilities


def main(job: Job) -> None:
    corpus = read_text(job.input.tokens, job.params.min_count)
    vectors = table.read(job.input.vectors, ["vector"])["vector"]
    kernel = table.read(job.input.kernel)
    queries, keys = vectors @ kernel["A"].T, vectors @ kernel["B"].T
    for split in ("dev", "heldout"):
        learned = cache_probabilities(corpus.of(split).by_document(), queries, keys, [1.0])
        columns = table.read(job.input[split])
        job.write(job.output[split], columns | {"learned": np.concatenate(learned, axis=1)[0]})


if __name__ == "__main__":
    run(main, snakemake, __file__)
