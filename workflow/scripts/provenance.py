"""Write the lineage of every result, and, apart from it, how the run went."""

import json

from attnkernel import lineage, profile, provenance, table
from attnkernel.job import Job, run


def main(job: Job) -> None:
    results = [path for name, _ in job.input.items() for path in job.paths(name)]
    records = lineage.behind(results, provenance.read_records())
    written = {"tables": lineage.lineage(results, records), "run": lineage.run_summary(records)}
    for name, content in written.items():
        with table.atomic(job.output[name], "w") as file:
            json.dump(content, file, indent=1, sort_keys=True, ensure_ascii=False)
            file.write("\n")
    jobs = profile.profile_table(records)
    job.publish("profile", jobs)
    job.publish("summary", profile.summary_table(jobs))


if __name__ == "__main__":
    run(main, snakemake, __file__)
