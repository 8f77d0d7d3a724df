"""Say what each cache is worth on every corpus, and draw it."""

from attnkernel import table
from attnkernel.figures import language, style
from attnkernel.job import Job, run
from attnkernel.language.worth import Measured, worth_table


def main(job: Job) -> None:
    places = zip(*(job.paths(name) for name in Measured._fields), strict=True)
    measured = [Measured(*map(table.read, paths)) for paths in places]
    worth = worth_table(dict(zip(job.params.corpora, measured, strict=True)))
    job.publish("worth", worth)
    style.save(language.worth(worth), job.output.figure, job.output.figure_png)


if __name__ == "__main__":
    run(main, snakemake, __file__)
