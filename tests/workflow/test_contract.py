"""The README's table of what reruns after an edit, held against the real graph at toy size."""

import ast
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\|[^|]*\| `(?P<edit>[^`]+)` in `(?P<path>[^`]+)` \| (?P<rules>[^|]*) \|$", re.MULTILINE)
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?(?!.*\d)")


def section():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.search(r"^## What reruns\n(.*?)^## ", text, re.MULTILINE | re.DOTALL).group(1)


def quoted(text):
    return set(re.findall(r"`([a-z_]+)`", text))


ROWS = [match.group("edit", "path", "rules") for match in ROW.finditer(section())]
# What is made of tables and figures reruns after them, and is named once, below the table.
FOLLOWING = quoted(re.search(r"^What is made of tables .*?\n\n", section(), re.MULTILINE | re.DOTALL).group())


def other(value):
    """Another value of the same type that the schema allows too."""
    if isinstance(value, list):
        return [*value[:-1], other(value[-1])]
    if isinstance(value, dict):
        return {**value, "to": other(value["to"])}
    if isinstance(value, str):
        return value + "x"
    return value + 1 if isinstance(value, int) else value * 1.01


def edited_code(text, snippet):
    assert text.count(snippet) == 1, snippet
    return text.replace(
        snippet, NUMBER.sub(lambda match: str(other(ast.literal_eval(match.group()))), snippet, count=1)
    )


def edited_config(text, key):
    config = yaml.safe_load(text)
    *parents, last = key.split(".")
    inner = config
    for parent in parents:
        inner = inner[parent]
    inner[last] = other(inner[last])
    return yaml.safe_dump(config, sort_keys=False)


@pytest.fixture(scope="module")
def shared(finished, tmp_path_factory):
    """One copy of the finished project for all rows: each edit is taken back, and a dry run changes nothing."""
    return finished.copy(tmp_path_factory.mktemp("contract") / "project")


@pytest.mark.parametrize(("edit", "path", "rules"), ROWS, ids=[f"{edit} in {path}" for edit, path, _ in ROWS])
def test_an_edit_reruns_exactly_the_rules_that_the_readme_lists(shared, edit, path, rules):
    file = shared.folder / path
    before = file.read_text(encoding="utf-8")
    file.write_text((edited_config if path.endswith(".yaml") else edited_code)(before, edit), encoding="utf-8")
    try:
        assert shared.outdated() - FOLLOWING == quoted(rules)
    finally:
        file.write_text(before, encoding="utf-8")


def test_what_the_readme_says_of_all_tables_is_so(shared):
    file = shared.folder / "workflow" / "attnkernel" / "language" / "evaluate.py"
    before = file.read_text(encoding="utf-8")
    file.write_text(before + "\n_MORE = 1\n", encoding="utf-8")
    try:
        assert shared.planned() >= FOLLOWING
    finally:
        file.write_text(before, encoding="utf-8")


def test_the_readme_has_a_row_of_code_and_a_row_of_config_for_every_chapter():
    chapters = {path.stem for path in (ROOT / "workflow" / "rules").glob("*.smk")}
    for kind in (".py", ".yaml"):
        listed = set().union(*(quoted(rules) for _, path, rules in ROWS if path.endswith(kind)))
        for chapter in chapters - {"common", "laboratory", "provenance", "publish", "report", "shards"}:
            text = (ROOT / "workflow" / "rules" / f"{chapter}.smk").read_text(encoding="utf-8")
            made = set(re.findall(r"^rule (\w+):", text, re.MULTILINE))
            assert made & listed, f"no {kind} row reruns a rule of {chapter}"


def test_a_comment_anywhere_in_the_code_reruns_nothing_that_reads_tables_only(shared):
    for file in [*(shared.folder / "workflow").rglob("*.py")]:
        file.write_text(file.read_text(encoding="utf-8") + "\n# a remark\n", encoding="utf-8")
    assert shared.outdated() == set()


def test_a_checkout_away_and_back_reruns_nothing_that_reads_tables_only(project):
    def git(*arguments):
        subprocess.run(
            ["git", "-c", "user.name=test", "-c", "user.email=test@example.org", *arguments],
            cwd=project.folder,
            check=True,
            capture_output=True,
        )

    Path(project.folder, ".gitignore").write_text("results/\n.snakemake/\n", encoding="utf-8")
    git("init", "--initial-branch", "here")
    git("add", "--all")
    git("commit", "--message", "as it is")
    git("checkout", "-b", "elsewhere")
    for file in [*(project.folder / "workflow").rglob("*.py"), project.folder / "config" / "config.yaml"]:
        file.write_text(file.read_text(encoding="utf-8") + "\n# another\n", encoding="utf-8")
    git("commit", "--all", "--message", "other files")
    git("checkout", "here")
    assert project.outdated() == set()
