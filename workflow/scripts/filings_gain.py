"""What the blend gains over Kneser-Ney on a real corpus, beside the kernel cache of one word of context."""

from attnkernel import table
from attnkernel.corpus.text import read_text
from attnkernel.job import Job, log, run
from attnkernel.language import real_gain
from attnkernel.language.scored import read_scores


def main(job: Job) -> None:
    text = read_text(job.input.tokens, job.params.min_count)
    heldout = read_scores(job.input.scores, text.of("heldout"))
    grid, epochs = table.read(job.input.grid), table.read(job.input.epochs)
    gains = real_gain.gain_table(text, heldout, grid, epochs, job.params.settings)
    log.info("the blend gains %.2f times what the kernel cache gains", gains["ratio"][-1])
    job.publish("filings_gain", table.with_constant(gains, "corpus", job.params.corpus))


if __name__ == "__main__":
    run(main, snakemake, __file__)
