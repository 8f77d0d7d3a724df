"""Pack the run for deposit."""

import json
from pathlib import Path

import yaml

from attnkernel import crate, table
from attnkernel.job import Job, run


def main(job: Job) -> None:
    with table.atomic(job.output.config, "w") as file:
        yaml.safe_dump(job.params.config, file, sort_keys=False, allow_unicode=True)
    citation = yaml.safe_load(Path(job.input.citation).read_text(encoding="utf-8"))
    authors = [author["name"] for author in citation["authors"]]
    about = crate.About(citation["title"], citation["abstract"], citation["license"], authors)
    given = {"config": [job.output.config], "published": job.paths("published"), "lock": job.paths("lock")}
    made = {name: job.paths(name) for name in ("tables", "figures", "claims", "pages", "provenance")}
    timing = json.loads(Path(job.input.run).read_text(encoding="utf-8"))
    packed = crate.build(about, given, made, [*job.paths("snakefile"), *job.params.workflow], timing)
    packed.write(job.output.crate)


if __name__ == "__main__":
    run(main, snakemake, __file__)
