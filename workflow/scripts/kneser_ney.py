"""Estimate Kneser-Ney on a corpus's training documents."""

from attnkernel.corpus.text import read_text
from attnkernel.job import Job, log, run
from attnkernel.language import kneser_ney


def main(job: Job) -> None:
    training = read_text(job.input.tokens, job.params.min_count).of("train")
    settings = job.params.settings
    model = kneser_ney.estimate(training.token, len(training.vocabulary), settings["order"], settings["discounts"])
    for length, level in enumerate(model.levels, start=1):
        log.info("%d-grams: %d, discounts %s", length, len(level.keys), model.discounts[length - 1].round(4))
    job.write(job.output.model, kneser_ney.to_columns(model))


if __name__ == "__main__":
    run(main, snakemake, __file__)
