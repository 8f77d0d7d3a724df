"""Draw both statistics of the scale over the dimension."""

from attnkernel import table
from attnkernel.figures import scaling, style
from attnkernel.job import Job, run


def main(job: Job) -> None:
    drawing = scaling.scaling(table.read(job.input.scaling), table.read(job.input.limits))
    style.save(drawing, job.output.scaling, job.output.scaling_png)


if __name__ == "__main__":
    run(main, snakemake, __file__)
