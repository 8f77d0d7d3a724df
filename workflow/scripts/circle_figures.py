"""Draw the smoother, its gains, its risk and the growth of the optimum."""

from attnkernel import table
from attnkernel.figures import circle, style
from attnkernel.job import Job, run


def main(job: Job) -> None:
    columns = {name: table.read(path) for name, path in job.input.items()}
    drawings = {
        "circle_smoother": circle.smoother(columns["smoother"], *job.params.settings[0]),
        "circle_gains": circle.gains(columns["gains"], **job.params.gains),
        "circle_risk": circle.risk(columns["risk_curve"], columns["optimum"], columns["denoiser"]),
        "circle_asymptote": circle.asymptote(columns["optimum"]),
    }
    for name, drawing in drawings.items():
        style.save(drawing, job.output[name], job.output[f"{name}_png"])


if __name__ == "__main__":
    run(main, snakemake, __file__)
