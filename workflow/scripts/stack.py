"""Stack each table of the corpora under a column that names the corpus."""

from attnkernel import table
from attnkernel.job import Job, run


def main(job: Job) -> None:
    for name, _ in job.input.items():
        parts = [
            table.with_constant(table.read(path), "corpus", corpus)
            for corpus, path in zip(job.params.corpora, job.paths(name), strict=True)
        ]
        job.publish(name, table.concatenate(parts))


if __name__ == "__main__":
    run(main, snakemake, __file__)
