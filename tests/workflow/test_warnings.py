"""Warnings are rare and mean something."""


def test_no_job_of_the_run_warns_of_its_own_code(finished):
    logs = sorted((finished.folder / "results" / "logs").glob("*.log"))
    assert len(logs) > 20
    for path in logs:
        lines = path.read_text(encoding="utf-8").splitlines()
        # A warning of Python names a file and a line; one of this project says what a user can do about the data.
        assert [line for line in lines if line.startswith("WARNING") and ".py:" in line] == [], path
        assert lines[-1].startswith("INFO: done in "), path
