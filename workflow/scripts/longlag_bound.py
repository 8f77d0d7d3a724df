"""Hold Proposition 6 against three layers, and say where they look."""

from attnkernel.job import Job, run
from attnkernel.longlag import bound
from attnkernel.longlag.task import Sizes
from attnkernel.longlag.training import Schedule
from attnkernel.seeding import seed_sequence


def main(job: Job) -> None:
    params = job.params
    sizes, schedule = Sizes(**params.sizes), Schedule(**params.schedule)
    trained_as = [seed_sequence(params.seed, "longlag training")]  # the training job's own: the same trained layer
    states = bound.attention_states(sizes, schedule, **params.constructed, seeds=trained_as)
    fresh = seed_sequence(params.seed, "longlag bound")
    bounds = bound.bound_table(states, sizes, **params.bound, seed=fresh)
    job.publish("longlag_bound", bounds)
    job.publish("longlag_bound_summary", bound.bound_summary(bounds))
    job.publish("longlag_attention", bound.attention_table(states, sizes, lags=params.lags, seed=fresh))


if __name__ == "__main__":
    run(main, snakemake, __file__)
