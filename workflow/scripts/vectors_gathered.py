"""Word vectors from the co-occurrence counts of all shards, and the words that no vector tells apart."""

import numpy as np

from attnkernel import table
from attnkernel.corpus import text
from attnkernel.job import Job, run
from attnkernel.language import vectors


def main(job: Job) -> None:
    settings = job.params.settings
    words = table.read(job.input.words)
    vocabulary = text.closed_vocabulary(words["token"].tolist(), words["count"], job.params.min_count)
    cells = table.concatenate([table.read(path) for path in job.paths("cooccurrences")])
    matrix = vectors.ppmi(vectors.from_cells(cells, len(vocabulary)), settings["context_smoothing"])
    found = vectors.svd_vectors(matrix, settings["dimensions"], settings["singular_value_power"])
    job.write(job.output.vectors, {"token": np.array(vocabulary, dtype=object), "vector": found})
    twins = vectors.twin_summary(matrix, text.class_counts(words, vocabulary))
    job.write(job.output.twins, {k: np.array([v]) for k, v in twins.items()})


if __name__ == "__main__":
    run(main, snakemake, __file__)
