import pytest
from filelock import FileLock

from project import ROOT, Project, copied


@pytest.fixture(scope="session")
def finished(tmp_path_factory, worker_id):
    """A project whose toy run is complete, made once for all of pytest's processes; tests take copies of it."""
    here = tmp_path_factory.getbasetemp()
    folder = (here if worker_id == "master" else here.parent) / "finished"
    project = Project(folder)
    with FileLock(f"{folder}.lock"):
        if not (folder / "complete").exists():
            copied(ROOT, folder)
            project.snakemake()
            (folder / "complete").touch()
    return project


@pytest.fixture
def project(finished, tmp_path):
    return finished.copy(tmp_path / "project")


@pytest.fixture
def fresh(finished, tmp_path):
    """The same project before it was run."""
    return Project(copied(finished.folder, tmp_path / "project"))
