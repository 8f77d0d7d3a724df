"""Add the learned kernel's probabilities to those of Kneser-Ney and the caches."""

from attnkernel import table
from attnkernel.corpus.text import read_text
from attnkernel.job import Job, run
from attnkernel.language.cache import cache_columns


def main(job: Job) -> None:
    corpus = read_text(job.input.tokens, job.params.min_count, job.input.get("words"))
    vectors = table.read(job.input.vectors, ["vector"])["vector"]
    kernel = table.read(job.input.kernel)
    queries, keys = vectors @ kernel["A"].T, vectors @ kernel["B"].T
    for split in ("dev", "heldout"):
        (learned,) = cache_columns(corpus.of(split).by_document(), queries, keys, [1.0])
        job.write(job.output[split], table.read(job.input[split]) | {"learned": learned})


if __name__ == "__main__":
    run(main, snakemake, __file__)
