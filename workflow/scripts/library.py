"""Write the charts' library as one script, so that the page needs no network."""

import vl_convert

from attnkernel import table
from attnkernel.job import Job, run


def main(job: Job) -> None:
    with table.atomic(job.output.library, "w") as file:
        file.write(vl_convert.javascript_bundle())


if __name__ == "__main__":
    run(main, snakemake, __file__)
