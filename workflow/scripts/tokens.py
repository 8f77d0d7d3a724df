"""Read a corpus, split it by hash, and write its table of tokens and its card, a piece in memory at a time."""

from itertools import islice

from attnkernel.corpus import assemble, card, readers
from attnkernel.job import Job, log, run


def main(job: Job) -> None:
    settings = job.params.settings
    documents = islice(readers.each_document(settings, readers.files(settings["path"])), settings["limit"])
    assembly = assemble.Assembly(documents, settings, job.params.splits)
    counts = card.Card()
    job.write_pieces(job.output.tokens, counts.through(assembly.pieces()))
    for what, count in sorted((+assembly.changed).items()):
        log.info("normalised %d x %s", count, what)
    job.write(job.output.card, counts.table(job.params.min_count))


if __name__ == "__main__":
    run(main, snakemake, __file__)
