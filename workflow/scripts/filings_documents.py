"""Fetch the filings of the case study and make prose of them; an empty table if they cannot be had."""

import os

from attnkernel.filings import documents, sources
from attnkernel.filings.edgar import read_edgar
from attnkernel.job import Job, log, run

RERUN = "snakemake --cores 2 --forcerun filings_documents"


def main(job: Job) -> None:
    settings, source = job.params.settings, job.params.source
    try:
        if source == "folder":
            filings = sources.read_folder(settings, job.paths("files"))
        else:
            filings = read_edgar(settings, os.environ) if source == "edgar" else sources.read_archive(settings)
    except sources.UnavailableError as error:
        filings = []
        job.warn(f"the case study of the filings is NOT RUN: {error}; to run it: {RERUN}")
    columns = documents.document_table(filings, settings["items"])
    for name, found, text in zip(columns["id"], columns["items"], columns["text"], strict=True):
        log.info("%s: items %s, %d characters", name, found or "(whole text)", len(text))
    job.write(job.output.documents, columns)


if __name__ == "__main__":
    run(main, snakemake, __file__)
