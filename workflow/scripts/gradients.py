"""Hold every hand-written gradient against the complex step and central differences."""

from attnkernel.gradient_checks import gradients_table
from attnkernel.job import Job, run
from attnkernel.seeding import seed_sequence


def main(job: Job) -> None:
    job.publish("gradients", gradients_table(seed_sequence(job.params.seed, "gradients")))


if __name__ == "__main__":
    run(main, snakemake, __file__)
