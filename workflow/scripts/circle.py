"""Write the exact tables of the circle, and those that check them."""

from attnkernel import circle
from attnkernel.job import Job, run
from attnkernel.seeding import seed_sequence


def main(job: Job) -> None:
    seed = seed_sequence(job.params.seed, "circle")
    for name, columns in circle.exact_tables(**job.params.settings, seed=seed).items():
        job.publish(name, columns)


if __name__ == "__main__":
    run(main, snakemake, __file__)
