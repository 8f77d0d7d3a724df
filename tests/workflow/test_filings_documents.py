"""The filings in the graph: prose from a folder, and no filings at all."""

import os
import re

import pytest

from attnkernel import table
from project import ROOT, Project, copied

TARGET = "results/filings/documents.parquet"


@pytest.fixture
def project(tmp_path):
    """A project of which nothing was run: the filings need no other rule."""
    return Project(copied(ROOT, tmp_path))


def test_the_filings_of_a_folder_become_a_table_of_prose(project):
    project.snakemake("--", TARGET)
    columns = table.read(project.folder / TARGET)
    assert list(columns) == ["id", "company", "form", "year", "source", "items", "text"]
    assert columns["id"].tolist() == ["alder", "birch", "cedar"]
    assert set(columns["source"]) == {"folder"}
    for text in columns["text"]:
        assert re.match(r"item 1a\. risk factors\n", text, re.IGNORECASE)


def test_where_no_filing_can_be_had_the_job_ends_well_and_says_so_with_the_line_that_runs_it(project, monkeypatch):
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    settings = "filings={'source': 'archive', 'identity': {'name': 'Ada', 'email': 'ada@example.org'}}"
    done = project.snakemake("--config", settings, "--", TARGET)
    assert "ada@example.org" not in str(table.origin(project.folder / TARGET)), "an identity is published with no table"
    assert len(table.read(project.folder / TARGET)["id"]) == 0
    said = re.search(r"WARNING: the case study of the filings is NOT RUN: .*; to run it: (.+)", done.stderr)
    assert said[1] == "snakemake --cores 2 --forcerun filings_documents"


def test_edgar_is_not_asked_without_a_name_and_a_mail(project, monkeypatch):
    monkeypatch.delenv("EDGAR_IDENTITY", raising=False)
    settings = "filings={'source': 'edgar', 'documents': [{'id': 'a'}], 'identity': {'email': 'ada@example.org'}}"
    done = project.snakemake("--config", settings, "--", TARGET, check=False)
    assert done.returncode
    assert "a name and an e-mail are needed: set `filings.identity.name`" in done.stdout + done.stderr
