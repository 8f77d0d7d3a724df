"""Draw a corpus's losses over the bandwidth, and the gain by distance."""

from attnkernel import table
from attnkernel.figures import language, style
from attnkernel.job import Job, run


def main(job: Job) -> None:
    columns = {name: table.read(path) for name, path in job.input.items()}
    drawings = {
        "bandwidth": language.losses_over_beta(columns["grid"], columns["heldout"]),
        "distance": language.gain_by_distance(columns["distance"]),
        "epochs": language.learned_epochs(columns["epochs"]),
    }
    for name, drawing in drawings.items():
        style.save(drawing, job.output[name], job.output[f"{name}_png"])


if __name__ == "__main__":
    run(main, snakemake, __file__)
