"""Estimate the Lyapunov exponents of the census's initializations."""

from attnkernel import table
from attnkernel.job import Job, run
from attnkernel.longlag import lyapunov
from attnkernel.longlag.task import Sizes
from attnkernel.seeding import seed_sequence


def main(job: Job) -> None:
    params = job.params
    draws = table.read(job.input.census)
    seed = seed_sequence(params.seed, "longlag census")  # the census's own: the same initial weights
    sizes = Sizes(**params.sizes)
    exponents = lyapunov.lyapunov_table(draws, sizes, params.forget_biases, **params.exponents, seed=seed)
    job.publish("longlag_lyapunov", exponents)
    job.publish("longlag_lyapunov_summary", lyapunov.lyapunov_summary(exponents, params.longest))


if __name__ == "__main__":
    run(main, snakemake, __file__)
