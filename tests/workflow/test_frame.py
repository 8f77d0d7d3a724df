"""The frame around the pipeline: pins, targets, and that nothing names a machine or a host."""

import re
import subprocess
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
PIN = re.compile(r"^([A-Za-z0-9_.-]+)==([^ ;\\]+)")


def pins(lines):
    return dict(match.groups() for line in lines if (match := PIN.match(line)))


def locked():
    return pins((ROOT / "envs" / "requirements.lock").read_text().splitlines())


def test_the_conda_environment_has_the_pins_of_the_lock():
    dependencies = yaml.safe_load((ROOT / "envs" / "pipeline.yaml").read_text())["dependencies"]
    conda = pins(dependencies[-1]["pip"])
    lock = locked()
    assert conda == {name: lock[name] for name in conda}


def test_every_direct_dependency_is_pinned_with_a_hash():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    direct = [
        *project["dependencies"],
        *project["optional-dependencies"]["test"],
        *project["optional-dependencies"]["lint"],
    ]
    names = {re.match(r"[A-Za-z0-9_-]+", requirement).group().lower().replace("_", "-") for requirement in direct}
    assert names <= set(locked())
    lock = (ROOT / "envs" / "requirements.lock").read_text()
    for block in re.split(r"\n(?=\S)", lock.strip()):
        assert "--hash=sha256:" in block, block


def tracked():
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listing.stdout.split() if (ROOT / name).is_file()]


def test_no_file_names_a_path_of_a_machine_or_an_index():
    machine = re.compile(r"(?<![\w.])/(?:root|home|Users)/\w|index-url|find-links\s*=|files\.pythonhosted")
    for path in tracked():
        if path == Path(__file__).resolve() or path.suffix in (".gz", ".png"):
            continue
        found = machine.search(path.read_text(encoding="utf-8"))
        assert found is None or path.name == "lock.sh", f"{path}: {found.group()}"


def test_first_party_imports_are_static_and_in_full():
    for path in (ROOT / "workflow").rglob("*.py"):
        assert not re.search(r"import_module|__import__|^from \.", path.read_text(), re.MULTILINE), path


def test_no_rule_runs_inline_python_and_every_numeric_rule_has_one_thread():
    for path in (ROOT / "workflow" / "rules").glob("*.smk"):
        text = path.read_text()
        assert not re.search(r"^\s+run:", text, re.MULTILINE), path
        assert text.count("script:") == text.count("threads: 1"), path
        assert text.count("script:") == text.count("code=code("), path


def test_no_chapter_takes_a_name_that_another_has():
    """The rule files share their global names: an assignment in one changes what the functions of another read."""
    assigned = re.compile(r"^(?:def )?([A-Za-z_]+)(?: = |\()", re.MULTILINE)
    names = [
        name
        for path in sorted((ROOT / "workflow" / "rules").glob("*.smk"))
        for name in set(assigned.findall(path.read_text(encoding="utf-8")))
    ]
    # Each chapter says where its results stand in the report.
    assert {name for name in names if names.count(name) > 1} == {"CHAPTER"}


def test_every_script_is_thin():
    for path in (ROOT / "workflow" / "scripts").glob("*.py"):
        body = path.read_text().split("def main", 1)
        if len(body) == 2 and "argparse" not in body[0]:
            assert len(body[1].splitlines()) <= 40, path
