import pytest

from project import ROOT, Project, copied


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A project whose toy run is complete; tests take copies of it."""
    project = Project(copied(ROOT, tmp_path_factory.mktemp("finished")))
    project.snakemake()
    return project


@pytest.fixture
def project(finished, tmp_path):
    return finished.copy(tmp_path / "project")


@pytest.fixture
def fresh(finished, tmp_path):
    """The same project before it was run."""
    return Project(copied(finished.folder, tmp_path / "project"))
