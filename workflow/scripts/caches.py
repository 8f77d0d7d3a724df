"""Probability of every development and held-out token under Kneser-Ney and under the cache at every beta."""

from attnkernel import table
from attnkernel.corpus.text import UNKNOWN_ID, read_text
from attnkernel.job import Job, run
from attnkernel.language import kneser_ney
from attnkernel.language.cache import cache_columns
from attnkernel.language.scored import cache_column


def main(job: Job) -> None:
    corpus = read_text(job.input.tokens, job.params.min_count, job.input.get("words"))
    texts = {split: corpus.of(split) for split in ("dev", "heldout")}
    model = kneser_ney.backoff_for_texts(
        table.read_pieces(job.input.model, kneser_ney.SCORING), [text.token for text in texts.values()]
    )
    vectors = table.read(job.input.vectors, ["vector"])["vector"]
    for split, text in texts.items():
        rows = cache_columns(text.by_document(), vectors, vectors, job.params.betas)
        columns = {
            "document": text.document_names(),
            "sentence": text.sentence,
            "position": text.position,
            "token": text.written(),
            "known": text.token != UNKNOWN_ID,
            "kn": model.probabilities(text.token),
        }
        job.write(job.output[split], columns | dict(zip(map(cache_column, job.params.betas), rows, strict=True)))


if __name__ == "__main__":
    run(main, snakemake, __file__)
