"""What each code takes for each filing, step by step and in bytes, and what the cache copied."""

from attnkernel import table
from attnkernel.corpus.readers import files, read_documents
from attnkernel.job import Job, log, run
from attnkernel.language import filing_blend


def main(job: Job) -> None:
    documents = table.read(job.input.documents, ["id", "text"])
    if not len(documents["id"]):
        log.warning("there are no filings: nothing to code")
    priming = job.params.priming
    texts = read_documents(priming, files(priming["path"])) if isinstance(priming, dict) else priming
    paths = zip(*(job.paths(name) for name in filing_blend.Scores._fields), strict=True)
    parts = [filing_blend.Scores(*map(table.read, part)) for part in paths]
    each = len(parts) // len(job.params.training)
    runs = [filing_blend.together(parts[start : start + each]) for start in range(0, len(parts), each)]
    article = table.read(job.input.article)
    tables = filing_blend.tables(documents, texts, job.params.training, article, runs, job.params.settings)
    for name, columns in tables.items():
        job.publish(name, columns)


if __name__ == "__main__":
    run(main, snakemake, __file__)
