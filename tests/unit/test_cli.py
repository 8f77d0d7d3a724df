import os
import subprocess
import sys
from pathlib import Path

import pytest

from attnkernel import cli
from attnkernel.errors import InputError
from attnkernel.graph import project_folder

ROOT = Path(__file__).resolve().parents[2]


def test_outside_a_project_a_command_says_so_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["audit", "--all"]) == cli.MISTAKE
    assert capsys.readouterr().err == (
        f"{tmp_path}: there is no Snakefile here or above; run this command in the project folder\n"
    )


def test_a_project_is_found_from_any_folder_in_it(tmp_path):
    (tmp_path / "Snakefile").touch()
    inner = tmp_path / "results" / "tables"
    inner.mkdir(parents=True)
    assert project_folder(inner) == tmp_path
    with pytest.raises(InputError):
        project_folder(tmp_path.parent)


def test_a_name_that_no_corpus_can_have_is_refused_before_a_stanza_is_written(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert cli.main(["new-corpus", "tests", "--name", "9x"]) == cli.MISTAKE
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("--name 9x: begin with a lower-case letter")


@pytest.mark.parametrize("arguments", [[], ["audit"], ["audit", "a", "--all"], ["why"]])
def test_a_command_that_is_not_complete_is_refused_with_its_usage(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == cli.MISTAKE
    assert "usage: attnkernel" in capsys.readouterr().err


def test_the_code_beside_the_snakefile_answers_wherever_the_command_is_installed(tmp_path):
    """A project whose own package does nothing but say that it was asked."""
    package = tmp_path / "workflow" / "attnkernel"
    package.mkdir(parents=True)
    (tmp_path / "Snakefile").touch()
    (package / "__init__.py").touch()
    (package / "cli.py").write_text("import sys\nprint('asked', *sys.argv[1:])\n")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "workflow")}
    command = [sys.executable, "-m", "attnkernel.cli", "why", "some.id"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "asked why some.id\n"


def test_a_command_starts_without_the_packages_that_it_does_not_use():
    code = "import sys; from attnkernel import cli; cli._parser(); print(*sys.modules)"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "workflow")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert not {"snakemake", "numpy", "pyarrow"} & set(done.stdout.split())
