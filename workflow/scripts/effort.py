"""Count the tests, and add up what the jobs behind the tables took."""

import ast
from pathlib import Path

from attnkernel import lineage, profile, provenance
from attnkernel.job import Job, run


def functions(path: str) -> int:
    nodes = ast.walk(ast.parse(Path(path).read_bytes()))
    return sum(isinstance(node, ast.FunctionDef) and node.name.startswith("test_") for node in nodes)


def main(job: Job) -> None:
    tests = {path: functions(path) for path in job.paths("tests")}
    records = lineage.behind(job.paths("tables"), provenance.read_records())
    job.publish("effort", profile.effort_table(records, tests))


if __name__ == "__main__":
    run(main, snakemake, __file__)
