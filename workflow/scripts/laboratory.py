"""Make the laboratory page, and check that the data in it is the payload."""

import json
from pathlib import Path

from attnkernel import render, table
from attnkernel.job import Job, run


def main(job: Job) -> None:
    payload = Path(job.input.payload).read_text(encoding="utf-8")
    made = render.laboratory(
        template=Path(job.input.template).read_text(encoding="utf-8"),
        style=Path(job.input.style).read_text(encoding="utf-8"),
        scripts=[Path(path).read_text(encoding="utf-8") for path in job.paths("scripts")],
        charts={Path(path).stem: Path(path).read_text(encoding="utf-8") for path in job.paths("charts")},
        library=Path(job.input.library).read_text(encoding="utf-8"),
        payload=payload,
    )
    with table.atomic(job.output.page, "w") as file:
        file.write(made)
    written = Path(job.output.page).read_text(encoding="utf-8")
    job.publish("harness", render.harness_table({"payload": render.payload_of(written) == json.loads(payload)}))


if __name__ == "__main__":
    run(main, snakemake, __file__)
