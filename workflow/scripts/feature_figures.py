"""Draw the error of attention over the number of random features."""

from attnkernel import table
from attnkernel.figures import language, style
from attnkernel.job import Job, run


def main(job: Job) -> None:
    drawing = language.feature_errors(table.read(job.input.features))
    style.save(drawing, job.output.features, job.output.features_png)


if __name__ == "__main__":
    run(main, snakemake, __file__)
