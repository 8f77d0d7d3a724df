"""The guide "Your own documents" of the README, step by step."""

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


def follow(project, documents, letter, more):
    """Run the guide's commands on documents; the toy settings, and what `more` says of the corpus, come on top."""
    programs = project.folder / "bin"
    programs.mkdir()
    for name, module in (("attnkernel", "attnkernel.cli"), ("snakemake", "snakemake")):
        (programs / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m {module} "$@"\n')
        (programs / name).chmod(0o755)
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(project.folder / "workflow")}
    (project.folder / "letter.txt").write_text(letter, encoding="utf-8")
    outputs = []
    (project.folder / "config" / "more.yaml").write_text(f"corpora: {{ {more} }}\n" if more else "{}\n")
    for step in steps():
        command = step.replace("path/to/documents", shlex.quote(str(documents)))
        command = command.replace("config/mine.yaml --", "config/mine.yaml config/test.yaml config/more.yaml --")
        done = subprocess.run(
            command, shell=True, cwd=project.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{step}\n{done.stdout}{done.stderr}"
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
    found, _, tokens, line = follow(project, folder, "The cat saw nobody. The dog met nobody.", "")
    assert "documents: 60 in 60 groups, 0 without a word" in found
    worth = table.read(project.folder / "results" / "tables" / "worth.parquet")
    (row,) = np.flatnonzero(worth["corpus"] == "mine")
    assert worth["documents"][row] == 60
    assert worth["kernel_gain"][row] > 4 * worth["kernel_gain_se"][row] > 0.0
    assert tokens.startswith("document\tsentence\tposition\ttoken\tknown\tkn")
    assert "nobody" in tokens
    assert "1 documents, 10 tokens" in line


@pytest.mark.skipif(not CORPORA.is_dir(), reason="the shared corpora are not beside this checkout")
@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("wikitext-2/valid.txt", "mine: { limit: 30, window: 1000 }"),
        ("ectsum-test", "mine: { limit: 30, window: 1000 }"),
    ],
)
def test_the_guide_leads_from_real_corpora_to_their_row(tmp_path, path, more):
    project = Project(copied(ROOT, tmp_path / "project"))
    found, *_ = follow(project, CORPORA / path, "The company reported net income of 3 million.", more)
    assert "PROBLEM" not in found
    worth = table.read(project.folder / "results" / "tables" / "worth.parquet")
    (row,) = np.flatnonzero(worth["corpus"] == "mine")
    assert worth["kernel_gain"][row] > 0.0
    assert np.isfinite([worth[name][row] for name in ("kn", "unigram", "kernel", "bigram", "learned")]).all()
