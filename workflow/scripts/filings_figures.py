"""Draw what each code takes along each filing."""

from attnkernel import table
from attnkernel.figures import filings, style
from attnkernel.job import Job, run


def main(job: Job) -> None:
    documents = table.read(job.input.documents, ["id", "company"])
    companies = dict(zip(documents["id"].tolist(), documents["company"].tolist(), strict=True))
    drawing = filings.bits_along(table.read(job.input.growth), job.params.cold, companies)
    style.save(drawing, job.output.filings, job.output.filings_png)


if __name__ == "__main__":
    run(main, snakemake, __file__)
