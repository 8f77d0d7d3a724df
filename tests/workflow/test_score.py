"""`attnkernel score` on the held-out documents of a run says what the run says."""

import io
import json
import subprocess
import sys

import numpy as np

from attnkernel import table
from attnkernel.corpus import readers


def test_a_held_out_document_is_scored_as_the_run_scored_it(finished):
    scores = table.read(finished.folder / "results" / "language" / "lee" / "scores-heldout.parquet")
    name = scores["document"][0]
    text = readers.resolve("package:gensim/test/test_data/lee_background.cor").read_text(encoding="utf-8")
    line = text.split("\n")[int(name.rpartition(":")[2]) - 1]
    command = [sys.executable, "-m", "attnkernel.cli", "score", "lee", "--each", "token", "--format", "jsonl"]
    done = subprocess.run(
        command,
        cwd=finished.folder,
        env={"PYTHONPATH": str(finished.folder / "workflow"), "PATH": ""},
        input=line,
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [json.loads(row) for row in io.StringIO(done.stdout)]
    mine = scores["document"] == name
    assert [row["token"] for row in rows] == scores["token"][mine].tolist()
    grid = table.read(finished.folder / "results" / "language" / "lee" / "grid.parquet")
    chosen = f"cache_{grid['beta'][grid['chosen']][0]:g}"
    for ours, theirs in (("kn", "kn"), ("cache", chosen), ("learned", "learned")):
        found = np.array([np.nan if row[ours] is None else row[ours] for row in rows])
        np.testing.assert_allclose(found, scores[theirs][mine], rtol=1e-12, atol=0.0)
