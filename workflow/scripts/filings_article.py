"""Bits of every token of each excerpt of the filings under the article's models, trained on one corpus."""

from attnkernel import table
from attnkernel.corpus.text import read_text
from attnkernel.job import Job, run
from attnkernel.language import filing_tables, kneser_ney, open_vocabulary
from attnkernel.language.speller import Speller


def main(job: Job) -> None:
    vocabulary = read_text(job.input.tokens, job.params.min_count).vocabulary
    model = kneser_ney.from_columns(table.read(job.input.model))
    speller = Speller(vocabulary[len(kneser_ney.RESERVED) :], job.params.speller_order)
    vectors = table.read(job.input.vectors, ["vector"])["vector"]
    grid, maps, epochs = (table.read(job.input[name]) for name in ("grid", "kernel", "epochs"))
    kernels = open_vocabulary.article_kernels(vectors, grid, maps, epochs)
    documents = table.read(job.input.documents, ["id", "text"])
    parts = []
    for document, excerpt, text in filing_tables.excerpts(documents, job.params.excerpts):
        read = open_vocabulary.read(text, vocabulary)
        bits = open_vocabulary.article_bits(read, model, speller, vocabulary, kernels)
        parts.append(filing_tables.token_columns(document, excerpt, read, bits))
    job.write(job.output.tokens, table.concatenate(parts))


if __name__ == "__main__":
    run(main, snakemake, __file__)
