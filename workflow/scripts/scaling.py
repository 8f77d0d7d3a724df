"""Write the table of draws with and without the scale, and the limits."""

from attnkernel import scaling
from attnkernel.job import Job, run
from attnkernel.seeding import seed_sequence


def main(job: Job) -> None:
    draws, limits = seed_sequence(job.params.seed, "scaling").spawn(2)
    job.publish("scaling", scaling.scaling_table(**job.params.settings, seed=draws))
    job.publish("scaling_limits", scaling.limits_table(**job.params.settings, seed=limits))


if __name__ == "__main__":
    run(main, snakemake, __file__)
