"""Draw the census, the exponents that predict it, and where the layer looks."""

from attnkernel import table
from attnkernel.figures import longlag, style
from attnkernel.job import Job, run


def main(job: Job) -> None:
    drawings = {
        "longlag_census": longlag.census(table.read(job.input.census)),
        "longlag_lyapunov": longlag.lyapunov(table.read(job.input.lyapunov)),
        "longlag_attention": longlag.attention(table.read(job.input.attention)),
    }
    for name, drawing in drawings.items():
        style.save(drawing, job.output[name], job.output[f"{name}_png"])


if __name__ == "__main__":
    run(main, snakemake, __file__)
