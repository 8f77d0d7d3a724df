"""Word vectors of a corpus's training documents, and the words that no vector tells apart."""

import numpy as np

from attnkernel.corpus.text import read_text
from attnkernel.job import Job, log, run
from attnkernel.language import vectors
from attnkernel.seeding import seed_sequence


def main(job: Job) -> None:
    training = read_text(job.input.tokens, job.params.min_count).of("train")
    types = len(training.vocabulary)
    settings = job.params.settings
    matrix = vectors.ppmi(
        vectors.cooccurrences(training.token, types, settings["window"]), settings["context_smoothing"]
    )
    if settings["method"] == "ppmi":
        found = vectors.svd_vectors(matrix, settings["dimensions"], settings["singular_value_power"])
    else:
        seed = int(seed_sequence(job.params.seed, "vectors").generate_state(1)[0])
        found = vectors.gensim_vectors(
            settings["method"],
            list(training.sentences()),
            training.vocabulary,
            dimensions=settings["dimensions"],
            window=settings["window"],
            epochs=settings["epochs"],
            seed=seed,
        )
    log.info("%s: %d types, %d of them without a vector", settings["method"], types, (~found.any(axis=1)).sum())
    job.write(job.output.vectors, {"token": np.array(training.vocabulary, dtype=object), "vector": found})
    counts = np.bincount(training.token, minlength=types)
    job.write(job.output.twins, {k: np.array([v]) for k, v in vectors.twin_summary(matrix, counts).items()})


if __name__ == "__main__":
    run(main, snakemake, __file__)
