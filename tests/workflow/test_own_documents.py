"""The guide "Your own documents" of the README, step by step."""

import json
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

from attnkernel import table
from project import ROOT, Project, copied

CORPORA = ROOT.parent / "shared" / "data" / "corpora"
SUBJECTS = ("cat", "dog", "fox", "owl", "hen", "ram", "elk", "yak")
VERBS = ("saw", "met", "lost", "found", "fed")


def steps():
    """The commands of the guide."""
    guide = (ROOT / "README.md").read_text(encoding="utf-8").split("## Your own documents")[1].split("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", guide, re.DOTALL)
    lines = [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]


def follow(project, sources, letter, more):
    """Run the guide's commands on each source of documents, by its name; in one run, as several config files may be.

    The toy settings, and `more` come on top. Gives what each command said.
    """
    programs = project.folder / "bin"
    programs.mkdir()
    for name, module in (("attnkernel", "attnkernel.cli"), ("snakemake", "snakemake")):
        (programs / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m {module} "$@"\n')
        (programs / name).chmod(0o755)
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(project.folder / "workflow")}
    (project.folder / "letter.txt").write_text(letter, encoding="utf-8")
    (project.folder / "config" / "more.yaml").write_text(json.dumps(more))
    first, second, *scoring = steps()
    commands = [
        first.replace("path/to/documents", shlex.quote(str(documents))).replace("mine", name)
        for name, documents in sources.items()
    ]
    files = " ".join(f"config/{name}.yaml" for name in (*sources, "test", "more"))
    commands += [
        second.replace("config/mine.yaml", files),
        *(step.replace("mine", next(iter(sources))) for step in scoring),
    ]
    outputs = []
    for command in commands:
        done = subprocess.run(
            command, shell=True, cwd=project.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        outputs.append(done.stdout + done.stderr)
    return outputs


def test_the_guide_leads_from_a_generated_folder_to_its_row(tmp_path):
    project = Project(copied(ROOT, tmp_path / "project"))
    folder = tmp_path / "mine"
    folder.mkdir()
    generator = np.random.default_rng(0)
    for number in range(60):
        name = f"name{number}"  # each document has a name of its own, which only its own earlier words can foretell
        lines = [f"The {generator.choice(SUBJECTS)} {generator.choice(VERBS)} {name}." for _ in range(12)]
        (folder / f"{number}.txt").write_text("\n".join(lines))
    found, _, tokens, line = follow(project, {"mine": folder}, "The cat saw nobody. The dog met nobody.", {})
    assert "documents: 60 in 60 groups, 0 without a word" in found
    worth = table.read(project.folder / "results" / "tables" / "worth.parquet")
    (row,) = np.flatnonzero(worth["corpus"] == "mine")
    assert worth["documents"][row] == 60
    assert worth["kernel_gain"][row] > 4 * worth["kernel_gain_se"][row] > 0.0
    assert tokens.startswith("document\tsentence\tposition\ttoken\tknown\tkn")
    assert "nobody" in tokens
    assert "1 documents, 10 tokens" in line


# Each cut to little; with this salt, that little has groups in every split.
SALT = "guide 214"
REAL = {
    "calls": ("ectsum-test", {"limit": 12}),
    "articles": ("wikitext-2/valid.txt", {"limit": 20}),
    "speeches": ("sotu", {"limit": 12}),
    "filings": ("tenk-items-2024", {"limit": 22}),
    "items": ("tenk-items-edgar-crawler", {"limit": 35}),
}


@pytest.mark.skipif(not CORPORA.is_dir(), reason="the shared corpora are not beside this checkout")
def test_the_guide_leads_from_real_corpora_to_their_rows(tmp_path):
    project = Project(copied(ROOT, tmp_path / "project"))
    sources = {name: CORPORA / path for name, (path, _) in REAL.items()}
    corpora = {name: {"window": 1000, **settings} for name, (_, settings) in REAL.items()}
    more = {"corpora": corpora, "splits": {"salt": SALT}}
    found = follow(project, sources, "The company reported net income of 3 million.", more)
    assert not any("PROBLEM" in said for said in found)
    worth = table.read(project.folder / "results" / "tables" / "worth.parquet")
    for name in REAL:
        (row,) = np.flatnonzero(worth["corpus"] == name)
        assert worth["kernel_gain"][row] > 0.0
        assert np.isfinite([worth[column][row] for column in ("kn", "unigram", "kernel", "bigram", "learned")]).all()
        assert worth["heldout_clusters"][row] < worth["heldout_documents"][row], "pieces of a document are one cluster"
