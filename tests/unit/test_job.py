"""How a job ends, each in a process of its own, as a job takes over logging and warnings."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"

SCRIPT = """
import sys, warnings
from types import SimpleNamespace
sys.path.insert(0, {workflow!r})
from attnkernel import job
from attnkernel.errors import InputError
from attnkernel.language.kneser_ney import DiscountWarning
job.provenance.write_record = lambda *given: None

def main(_):
    {body}

names = SimpleNamespace(items=list)
fake = SimpleNamespace(log=[{log!r}], rule="counting", input=names, output=names, params=names, wildcards=names)
job.run(main, fake, {script!r})
"""


def run(folder, body, log="rule.log"):
    """Run a script's main as Snakemake would; gives what came of it, and the log."""
    code = SCRIPT.format(workflow=str(WORKFLOW), body=textwrap.indent(body, "    ").strip(), log=log, script=__file__)
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    kept = folder / log
    return done, kept.read_text() if kept.is_file() else ""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("InputError('a.txt: not UTF-8; convert it')", "ERROR: a.txt: not UTF-8; convert it"),
        ("MemoryError('8 TiB')", "ERROR: the memory does not suffice (8 TiB); cut long documents with"),
        ("OSError(28, 'No space left on device', 'page.html')", "ERROR: page.html: cannot be written (No space left"),
    ],
)
def test_what_a_user_can_mend_is_one_line_of_the_log_and_no_traceback(tmp_path, error, said):
    done, log = run(tmp_path, f"raise {error}")
    assert done.returncode == 1
    assert done.stderr == ""
    assert log.startswith(said)
    assert len(log.splitlines()) == 1


def test_an_error_that_is_not_the_users_keeps_its_traceback(tmp_path):
    done, log = run(tmp_path, "1 / 0")
    assert done.returncode == 1
    assert "rule counting stopped on an error that is not yours" in log
    assert "ZeroDivisionError" in log


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_log_without_room_is_no_reason_to_say_nothing(tmp_path):
    done, _ = run(tmp_path, "raise InputError('a.txt: not UTF-8; convert it')", log="/dev/full")
    assert done.returncode == 1
    assert "ERROR: a.txt: not UTF-8; convert it" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_warning_of_this_project_stands_in_its_own_words_and_one_of_a_library_with_its_place(tmp_path):
    body = "warnings.warn('order 1: falling back', DiscountWarning)\nwarnings.warn('old', UserWarning)"
    done, log = run(tmp_path, body)
    assert done.returncode == 0
    first, second, *_ = log.splitlines()
    assert first == "WARNING: order 1: falling back"
    assert "UserWarning: old" in second
    assert ":1" in second or "<string>" in second
