"""Read a corpus, split it by hash, and write its table of tokens and its card."""

from attnkernel.corpus import assemble, card, readers
from attnkernel.job import Job, log, run


def main(job: Job) -> None:
    settings = job.params.settings
    documents = readers.read_documents(settings, readers.files(settings["path"]))[: settings["limit"]]
    columns, changed = assemble.token_table(documents, settings, job.params.splits)
    for what, count in sorted(changed.items()):
        log.info("normalised %d x %s", count, what)
    job.write(job.output.tokens, columns)
    job.write(job.output.card, card.corpus_card(columns, job.params.min_count))


if __name__ == "__main__":
    run(main, snakemake, __file__)
