"""Sum what the kernel of each epoch loses on a shard's training and development documents."""

from attnkernel import table
from attnkernel.corpus.text import read_text
from attnkernel.job import Job, run
from attnkernel.language import pointer
from attnkernel.language.evaluate import lambda_grid


def main(job: Job) -> None:
    text = read_text(job.input.tokens, job.params.min_count, job.input.words)
    training, dev = (text.of(split).by_document() for split in ("train", "dev"))
    vectors = table.read(job.input.vectors, ["vector"])["vector"]
    history = pointer.History.from_columns(table.read(job.input.history))
    lambdas = lambda_grid(*(job.params.lambdas[key] for key in ("from", "to", "step")))
    for name, documents in (("train", training), ("dev", dev)):
        losses = pointer.epoch_losses(history, vectors, documents, job.params.settings["window"])
        job.write(job.output[name], losses.columns())
    kneser_ney = table.read(job.input.caches, ["kn"])["kn"]
    job.write(job.output.mixtures, pointer.epoch_mixtures(history, vectors, dev, kneser_ney, lambdas).columns())


if __name__ == "__main__":
    run(main, snakemake, __file__)
