"""What reruns nothing, and what reruns little, on the real graph at toy size; see test_contract.py for the chapters."""

import os
import time

import pytest

PUBLISHING = {"compare", "verify"}


def test_a_second_run_has_nothing_to_do(project):
    done = project.snakemake()
    assert "Nothing to be done" in done.stdout + done.stderr
    assert project.planned() == set()


def test_a_touch_reruns_nothing(project):
    for folder in ("workflow", "config", "envs", "profiles", "tests"):
        for path in (project.folder / folder).rglob("*"):
            os.utime(path)
    assert project.planned() == set()


def test_a_fresh_clone_beside_finished_results_reruns_nothing(project, finished, tmp_path):
    later = time.time() + 5
    for path in project.folder.rglob("*"):
        if not {"results", ".snakemake"} & set(path.relative_to(project.folder).parts):
            os.utime(path, (later, later))
    assert project.planned() == set()


@pytest.mark.parametrize(
    ("path", "old", "new", "rules"),
    [
        (
            "workflow/attnkernel/language/cache.py",
            "\n_BLOCK: Final = 128",
            "\n# why\n_BLOCK: Final = 128",
            set(),
        ),
        ("workflow/attnkernel/language/cache.py", '"""The kernel cache', '"""A kernel cache', set()),
        (
            "workflow/attnkernel/claims.py",
            'FAILED: Final = "failed"',
            'FAILED: Final = "fails"',
            PUBLISHING,
        ),
        (
            "workflow/scripts/stack.py",
            '"corpus", corpus',
            '"corpora", corpus',
            {"language_tables", "feature_tables"} | PUBLISHING,
        ),
        ("tests/workflow/published.csv", "id,", "id,", set()),
    ],
)
def test_an_edit_reruns_exactly_its_users_and_what_lies_downstream(project, path, old, new, rules):
    project.edit(path, old, new)
    assert project.outdated() == rules


def test_an_edited_claim_reruns_the_comparison_only(project):
    path = project.folder / "tests" / "workflow" / "published.csv"
    path.write_text(path.read_text().replace("\n", " \n", 1))
    assert project.outdated() == PUBLISHING


def test_a_rerun_after_an_edit_leaves_nothing_to_do(project):
    project.edit("config/config.yaml", "to: 0.99", "to: 0.97")
    project.snakemake()
    assert project.outdated() == set()


def test_a_config_mistake_is_one_clear_line_and_no_traceback(project):
    project.edit("config/config.yaml", "order: 3", "order: three")
    done = project.snakemake(check=False)
    assert done.returncode != 0
    assert (
        'config: language.kneser_ney.order is "three"; allowed: a whole number at least 1 and at most 6' in done.stderr
    )
    assert "Traceback" not in done.stderr


def test_the_code_beside_the_snakefile_runs_whatever_is_installed(project):
    project.edit(
        "workflow/attnkernel/claims.py",
        "f\"{len(comparison['id'])} numbers: \"",
        "f\"here {len(comparison['id'])}: \"",
    )
    project.snakemake()
    assert (project.folder / "results" / "verified.txt").read_text().startswith("here")
