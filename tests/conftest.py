import pytest

import small_run


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A small run in memory; see `small_run`."""
    return small_run.small_run(tmp_path_factory.mktemp("small"))
