"""The real pipeline on input that is wrong, and on input that is odd but right."""

import csv
import gzip
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from attnkernel import table
from attnkernel.corpus.splits import SPLITS, split_of
from project import ROOT, Project, copied

SHARES = {"train": 0.70, "dev": 0.15, "heldout": 0.15}


def names(split, count):
    """File names that fall into a split."""
    found, number = [], 0
    while len(found) < count:
        name = f"{number}.txt"
        if split_of(name, SHARES, "attnkernel") == split:
            found.append(name)
        number += 1
    return found


@pytest.fixture
def bare(tmp_path):
    return Project(copied(ROOT, tmp_path / "project"))


def overlay(project, corpora, **more):
    (project.folder / "config" / "mine.yaml").write_text(json.dumps({"corpora": corpora, **more}), encoding="utf-8")
    return ["config/mine.yaml"]


WRONG = {
    "latin": ("a.txt", b"caf\xe9", {}, "a.txt: not UTF-8 at byte 3 (0xe9); convert it"),
    "cut": ("a.txt.gz", gzip.compress(b"whole text")[:-6], {}, "a.txt.gz: not a whole gzip file"),
    "half": ("a.jsonl", b'{"id": "1", "text": "x"}\n{"id": ', {}, "a.jsonl, line 2: not JSON"),
    "nothing": ("a.txt", b"...", {}, "none of its documents has a word; check that they are text"),
    "lone": ("a.txt", b"one word", {}, "none of its 1 documents in 1 groups fell into"),
    "twice": (
        "a.jsonl",
        b'{"id": "1", "text": "x"}\n' * 2,
        {},
        "a.jsonl, line 2: document id '1' occurs more than once",
    ),
    "column": ("a.jsonl", b'{"id": "1", "body": "x"}', {}, "a.jsonl, line 1: 'text' is missing; it has 'id', 'body'"),
    "noparquet": ("a.parquet", b"PAR1", {}, "a.parquet: not a readable Parquet file"),
    "reserved": (
        "a.txt",
        b"a <unk>",
        {"tokens": "pretokenised"},
        "holds the reserved token <unk>; set `reserved: escape`",
    ),
    "pattern": ("a.txt", b"a b", {"group_pattern": "("}, "is '(', no regular expression"),
}


def test_wrong_corpora_end_in_one_message_each_and_leave_nothing_half_written(bare):
    corpora = {}
    for name, (file, content, settings, _) in WRONG.items():
        folder = bare.folder / "data" / name
        folder.mkdir(parents=True)
        (folder / file).write_bytes(content)
        corpora[name] = {"path": f"data/{name}", **settings}
    targets = [f"results/corpora/{name}/tokens.parquet" for name in corpora]
    config = overlay(bare, corpora)
    done = bare.snakemake(*config, "--keep-going", "--", *targets, check=False)
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert "Traceback" not in said
    last = said.rpartition("Exiting because a job execution failed")[2]
    for *_, message in WRONG.values():
        assert last.count(message) == 1, f"{message}\n{last}"
    left = [path for path in (bare.folder / "results").rglob("*") if path.is_file() and path.suffix != ".log"]
    assert [path for path in left if "corpora" in path.parts] == []


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"corpora": {"mine": {"path": "nowhere"}}}, "corpus mine: nowhere: there is no such file or folder"),
        (
            {"corpora": {"mine": {"path": "config", "grup": "x"}}},
            "corpora.mine.grup is not a setting; did you mean group?",
        ),
        ({"seed": -1, "circle": {"sigma": "wide"}}, "config: seed is -1; allowed: a whole number at least 0"),
        ({"language": {"cache": {"betas": [float("nan")]}}}, "betas.0 is NaN; allowed: a finite number"),
        ({"published": "nowhere.csv"}, "nowhere.csv"),
    ],
    ids=["path", "unknown", "range", "nan", "published"],
)
def test_a_wrong_config_is_one_message_before_anything_runs(bare, config, message):
    import yaml

    (bare.folder / "config" / "mine.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    targets = ["results/corpora/mine/tokens.parquet"] if "corpora" in config else ["results/claims.csv"]
    done = bare.snakemake("config/mine.yaml", "--dry-run", "--", *targets, check=False)
    assert done.returncode != 0
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not (bare.folder / "results").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("mine.yaml", b"seed: [1\n", "config/mine.yaml, line 2: not YAML (did not find expected ',' or ']')"),
        ("config.yaml", b"seed: caf\xe9\n", "config/config.yaml: not UTF-8 at byte 9 (0xe9); convert it"),
        ("mine.yaml", None, "config/mine.yaml: there is no such config file; check its name after --configfile"),
    ],
    ids=["yaml", "bytes", "absent"],
)
def test_a_config_file_that_cannot_be_read_is_the_one_thing_said(bare, name, content, message):
    if content is not None:
        (bare.folder / "config" / name).write_bytes(content)
    done = bare.snakemake("config/mine.yaml" if name == "mine.yaml" else "config/test.yaml", check=False)
    assert done.returncode != 0
    assert done.stderr.splitlines()[-1].startswith(message)
    assert len(done.stderr.splitlines()) == 2, "this, and which profile is used"
    assert not (bare.folder / ".snakemake").exists()


def test_a_failed_rerun_keeps_what_it_was_to_replace_and_ends_on_its_message(bare):
    folder = bare.folder / "data"
    folder.mkdir()
    for split in SPLITS:
        for name in names(split, 1):
            (folder / name).write_text("one word")
    target = "results/corpora/mine/tokens.parquet"
    given = [*overlay(bare, {"mine": {"path": "data"}}), "--", target]
    bare.snakemake(*given)
    before = (bare.folder / target).read_bytes()
    (folder / name).write_bytes(b"caf\xe9")
    done = bare.snakemake(*given, check=False)
    assert done.returncode != 0
    kept, last = done.stderr.splitlines()[-2:]
    assert last.endswith(
        f"{name}: not UTF-8 at byte 3 (0xe9); convert it, for example with: iconv -f WINDOWS-1252 -t UTF-8"
    )
    assert "is kept in .snakemake/previous until it is made again" in kept
    assert (bare.folder / ".snakemake" / "previous" / target).read_bytes() == before


ODD = {
    "one-word": ({"train": ["a " * 8] * 15, "dev": ["a " * 8] * 3, "heldout": ["a " * 8] * 3}),
    "one-token": ({"train": [f"w{n}" for n in range(20)], "dev": ["w1", "w50"], "heldout": ["w2", "w60", "w4"]}),
    "one-document-a-split": (
        {"train": ["the cat sat. The cat."], "dev": ["the dog. The dog."], "heldout": ["a cat ran. A"]}
    ),
    "all-unknown": (
        {"train": ["alpha beta. Gamma."] * 5, "dev": ["one two one."] * 3, "heldout": ["one two one.", "six"]}
    ),
    "mixed": (
        {
            "train": ["", "\n\n", "alpha beta\r\nalpha\rgamma\x00delta", "x" * 2_000_000 + " y z"],
            "dev": ["", "alpha beta alpha"],
            "heldout": ["...", "alpha beta alpha", "y" * 200_000 + " y", "\u0301\u0327" * 200_000 + " y"],
        }
    ),
}


def test_odd_corpora_run_to_the_end_with_numbers_or_reasons(bare):
    corpora = {}
    for name, texts in ODD.items():
        folder = bare.folder / "data" / name
        folder.mkdir(parents=True)
        for split in SPLITS:
            for file, text in zip(names(split, len(texts[split])), texts[split], strict=True):
                (folder / file).write_bytes(text.encode())
        corpora[name] = {"path": f"data/{name}"}
    targets = [f"results/language/{name}/shapes.parquet" for name in corpora]
    bare.snakemake(*overlay(bare, corpora), "--", *targets)
    for name in corpora:
        folder = bare.folder / "results" / "language" / name
        scores = table.read(folder / "scores-heldout.parquet")
        assert (scores["kn"] > 0.0).all(), name
        for model in ("cache_0", "cache_2", "cache_inf", "learned"):
            cached = scores[model]
            assert np.isnan(cached).tolist() == (scores["position"] < 2).tolist(), (name, model)
            assert not (cached < 0.0).any()
            assert not (cached > 1.0 + 1e-12).any()
        heldout = table.read(folder / "heldout.parquet")
        missing = np.isnan(heldout["loss"]) | np.isnan(heldout["se"])
        reasons = np.array([bool(reason) for reason in heldout["reason"].tolist()])
        assert (missing == reasons).all(), name
    logs = [path.read_text() for path in (bare.folder / "results" / "logs").glob("*.log")]
    warned = [line for log in logs for line in log.splitlines() if line.startswith("WARNING")]
    assert warned
    assert all("Kneser-Ney order" in line and "falling back on" in line for line in warned)


def in_a_small_disk(project, prepare, target):
    """Run in a mount namespace of its own, in which the results are on a disk of one megabyte."""
    command = " ".join([sys.executable, "-m snakemake --cores 1 --configfile config/test.yaml --", target])
    script = (
        f"mount -t tmpfs -o size=1m tmpfs results && {prepare} && {command}; status=$?; ls -AR results; exit $status"
    )
    (project.folder / "results").mkdir()
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", script], cwd=project.folder, capture_output=True, text=True, check=False
    )


def may_mount(tmp_path):
    if shutil.which("unshare") is None:
        return False
    probe = f"mount -t tmpfs tmpfs {tmp_path}"
    return subprocess.run(["unshare", "--mount", "sh", "-c", probe], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        ("head -c 1040000 /dev/zero > results/fill", "documents.parquet: cannot be written (No space left on device)"),
        ("mount -o remount,ro results", "results: cannot be written to; allow it"),
    ],
    ids=["full", "read-only"],
)
def test_a_full_disk_and_read_only_results_end_in_one_message(bare, tmp_path, prepare, message):
    if not may_mount(tmp_path):
        pytest.skip("mounting is not allowed here")
    done = in_a_small_disk(bare, prepare, "results/corpora/synthetic/tokens.parquet")
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert message in said
    assert "Traceback" not in said
    assert ".tmp" not in done.stdout
    assert "documents.parquet\n" not in done.stdout


def test_a_published_file_with_a_fault_stops_the_comparison_in_one_message(project):
    path = project.folder / "tests" / "workflow" / "published.csv"
    rows = list(csv.reader(path.read_text().splitlines()))
    rows[1][rows[0].index("published")] = "many"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    done = project.snakemake("--", "results/claims.csv", check=False)
    assert done.returncode != 0
    assert "line 2: published is 'many'; a number, true or false is needed" in done.stderr
    assert "Traceback" not in done.stderr
