"""Train and test the four models once a seed."""

from attnkernel.job import Job, run
from attnkernel.longlag.task import Sizes
from attnkernel.longlag.training import Schedule, training_tables
from attnkernel.seeding import seed_sequence


def main(job: Job) -> None:
    params = job.params
    outcome, curves = training_tables(
        Sizes(**params.sizes),
        params.forget_biases,
        Schedule(**params.schedule),
        test_lags=params.test["lags"],
        test_sequences=params.test["sequences"],
        seeds={seed: seed_sequence(seed, "longlag training") for seed in params.seeds},
    )
    job.publish("longlag_training", outcome)
    job.publish("longlag_curves", curves)


if __name__ == "__main__":
    run(main, snakemake, __file__)
