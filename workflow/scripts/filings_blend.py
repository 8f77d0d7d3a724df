"""Score, code and decode the filings' excerpts under the blend, cold or primed."""

from attnkernel import table
from attnkernel.corpus.readers import files, read_documents
from attnkernel.corpus.text import read_text
from attnkernel.job import Job, run
from attnkernel.language import filing_blend, recurrent
from attnkernel.seeding import seed_sequence


def main(job: Job) -> None:
    documents = table.read(job.input.documents, ["id", "text"])
    corpus = read_text(job.input.tokens, job.params.min_count)
    priming = job.params.priming
    texts = read_documents(priming, files(priming["path"])) if isinstance(priming, dict) else priming
    kind = job.wildcards.text
    seed = seed_sequence(job.params.seed, "filings-blend", kind)
    paths = zip(job.paths("words"), job.paths("cells"), strict=True)
    networks = [recurrent.Saved(*map(table.read, pair)) for pair in paths]
    found = filing_blend.scores(documents, kind, corpus, texts, networks, job.params.settings, seed)
    for name, columns in found._asdict().items():
        job.write(job.output[name], columns)


if __name__ == "__main__":
    run(main, snakemake, __file__)
