"""Train a recurrent network on the text that primes the blend."""

from attnkernel.corpus.readers import files, read_documents
from attnkernel.job import Job, run
from attnkernel.language import primer
from attnkernel.seeding import seed_sequence


def main(job: Job) -> None:
    priming, params = job.params.priming, job.params
    seed = seed_sequence(params.seed, "filings-network", job.wildcards.member)
    texts = read_documents(priming, files(priming["path"]))
    network = primer.network(texts, params.every, params.settings, seed)
    job.write(job.output.words, network.words)
    job.write(job.output.cell, network.cell)


if __name__ == "__main__":
    run(main, snakemake, __file__)
