"""Take the gradient census, and summarize it."""

from attnkernel.job import Job, run
from attnkernel.longlag import census
from attnkernel.longlag.task import Sizes
from attnkernel.seeding import seed_sequence


def main(job: Job) -> None:
    params = job.params
    seed = seed_sequence(params.seed, "longlag census")
    draws = census.census_draws(Sizes(**params.sizes), params.forget_biases, **params.census, seed=seed)
    summary = census.census_summary(draws, params.forget_biases)
    job.publish("longlag_census", draws)
    job.publish("longlag_census_summary", summary)
    job.publish("longlag_census_facts", census.census_facts(summary, **params.compared))


if __name__ == "__main__":
    run(main, snakemake, __file__)
