"""Count the n-grams and the co-occurrences of a shard's training documents."""

from attnkernel.corpus.text import read_text
from attnkernel.job import Job, run
from attnkernel.language import kneser_ney, vectors


def main(job: Job) -> None:
    training = read_text(job.input.tokens, job.params.min_count, job.input.words).of("train")
    types = len(training.vocabulary)
    ngrams = kneser_ney.count_ngrams(training.token, types, job.params.order)
    job.write(job.output.ngrams, kneser_ney.counts_to_columns(ngrams))
    together = vectors.cooccurrences(training.token, types, job.params.window)
    job.write(job.output.cooccurrences, vectors.to_cells(together))


if __name__ == "__main__":
    run(main, snakemake, __file__)
