"""What the blend gains over Kneser-Ney on real corpora, beside the kernel cache of one word of context."""

from attnkernel import table
from attnkernel.corpus.text import read_text
from attnkernel.job import Job, log, run
from attnkernel.language import real_gain
from attnkernel.language.scored import read_scores


def gains(job: Job, corpus: str, tokens: str, scores: str, grid: str, epochs: str) -> table.Table:
    text = read_text(tokens, job.params.min_count)
    heldout = read_scores(scores, text.of("heldout"))
    found = real_gain.gain_table(text, heldout, table.read(grid), table.read(epochs), job.params.settings)
    log.info("%s: the blend gains %.2f times what the kernel cache gains", corpus, found["ratio"][-1])
    return table.with_constant(found, "corpus", corpus)


def main(job: Job) -> None:
    inputs = zip(job.params.corpora, *map(job.paths, ("tokens", "scores", "grid", "epochs")), strict=True)
    job.publish("filings_gain", table.concatenate([gains(job, *paths) for paths in inputs]))


if __name__ == "__main__":
    run(main, snakemake, __file__)
