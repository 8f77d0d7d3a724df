import re
from pathlib import Path

import pytest

from attnkernel import claims, graph, why

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def planned():
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        yield graph.read_graph()


def test_every_published_number_leads_to_the_lines_of_code_that_name_its_column(planned):
    for claim in claims.read_claims("config/published.csv"):
        if claim["table"]:
            job = why.computing_job(
                planned, f"results/tables/{claim['table']}.parquet", claim["table"], claim["corpus"]
            )
            lines = why.lines_of_code(job, claim["table"], claim["column"])
            assert re.match(rf"workflow/scripts/{job.script}:\d+ main", lines[0]), claim["id"]
            assert any(f'"{claim["column"]}"' in line for line in lines), claim["id"]


def test_lines_of_code_are_where_they_are_said_to_be(planned):
    job = planned.makers["results/tables/circle_gains.parquet"]
    for place in why.lines_of_code(job, "circle_gains", "gain"):
        file, line, text = re.fullmatch(r"(\S+):(\d+) (.*)", place).groups()
        assert text in (ROOT / file).read_text(encoding="utf-8").splitlines()[int(line) - 1]


def test_a_stacked_table_leads_to_the_job_of_its_corpus(planned):
    job = why.computing_job(planned, "results/tables/heldout.parquet", "heldout", "lee")
    assert job.name == "evaluate-lee"


def test_the_place_of_a_rule_is_the_line_that_it_begins_on(planned):
    for job in planned.jobs:
        file, line = job.place.split(":")
        assert (ROOT / file).read_text(encoding="utf-8").splitlines()[int(line) - 1].strip() == f"rule {job.rule}:"


def test_jobs_have_names_of_their_own(planned):
    names = [job.name for job in planned.jobs]
    assert len(set(names)) == len(names)
