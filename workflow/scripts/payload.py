"""Build the laboratory's data from the tables, and the table of the documents that it shows."""

import csv

from attnkernel import payload, table
from attnkernel.corpus.text import read_text
from attnkernel.job import Job, run
from attnkernel.language import kneser_ney


def main(job: Job) -> None:
    settings, spelled = job.params.settings, {"speller_order": job.params.speller_order}
    documents, filings, exported = [], [], {}
    places = [job.paths(name) for name in ("tokens", "vectors", "scores", "grid", "epochs", "kernel", "model")]
    for corpus, tokens, *paths in zip(job.params.corpora, *places, strict=True):
        text = read_text(tokens, job.params.min_count)
        vectors, scores, grid, epochs, kernel, model = (table.read(path) for path in paths)
        kinds, vectors, model = payload.models(grid, epochs), vectors["vector"], kneser_ney.from_columns(model)
        chosen = {"quantile": settings["length_quantile"], **spelled}
        documents.append(payload.corpus_document(corpus, text, scores, kinds, vectors, kernel, **chosen))
        trained = (text.vocabulary, model, kinds, vectors, kernel)
        if corpus == job.params.filings_corpus:
            filings = payload.filing_documents(table.read(job.input.filings), job.params.excerpt, *trained, **spelled)
        if corpus == settings["text"]:
            exported = payload.text_entry(corpus, job.params.lowercase, *trained[:-1])
    documents += filings
    job.publish("laboratory", payload.laboratory_table(documents, settings["tokens"]))
    with open(job.input.published, encoding="utf-8", newline="") as file:
        published = list(csv.DictReader(file))
    data = payload.build(
        circle={name: table.read(job.input[name]) for name in ("risk_curve", "optimum", "denoiser", "smoother")},
        spectra=job.params.spectra,
        sigma=job.params.sigma,
        census=table.read(job.input.census),
        published=published,
        documents=documents,
        losses={name: table.read(job.input[f"{name}_table"]) for name in ("grid", "heldout")},
        text=exported,
        shown=settings["tokens"],
        count=settings["heaviest"],
    )
    with table.atomic(job.output.payload, "w") as file:
        file.write(payload.to_text(data))


if __name__ == "__main__":
    run(main, snakemake, __file__)
