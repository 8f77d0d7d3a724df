"""Hold every proposition of the closed-form chapters against random instances and a sentence of the corpus."""

from attnkernel import table
from attnkernel.corpus.text import read_text
from attnkernel.job import Job, run
from attnkernel.propositions import propositions_table, sentence_vectors
from attnkernel.seeding import seed_sequence


def main(job: Job) -> None:
    training = read_text(job.input.tokens, job.params.min_count).of("train")
    columns = table.read(job.input.vectors)
    vectors = dict(zip(columns["token"], columns["vector"], strict=True))
    sentence = sentence_vectors(training.sentences(), vectors, job.params.words)
    seed = seed_sequence(job.params.seed, "propositions")
    job.publish("propositions", propositions_table(sentence, job.params.instances, job.params.draws, seed))


if __name__ == "__main__":
    run(main, snakemake, __file__)
