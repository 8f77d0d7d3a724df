import time

import numpy as np
import pytest

from attnkernel import environment
from attnkernel.profile import effort_table, profile_table, summary_table


def record(spawned, started, ended, inputs, outputs):
    return {
        "origin": {"rule": "rule", "inputs": {"tables": dict.fromkeys(inputs, "hash")}},
        "outputs": dict.fromkeys(outputs, "hash"),
        "run": {
            "spawned": spawned,
            "started": started,
            "ended": ended,
            "cpu_seconds": ended - spawned,
            "peak_memory_megabytes": 100.0 * ended,
        },
    }


@pytest.fixture
def run():
    """The chain a, c, d beside b, which could take three seconds more; nothing runs from 6 to 7."""
    return {
        "d": record(7.0, 8.0, 9.0, ["c.out", "b.out"], ["d.out"]),
        "a": record(0.0, 0.5, 2.0, ["a file"], ["a.out"]),
        "b": record(0.0, 1.0, 3.0, [], ["b.out"]),
        "c": record(2.0, 2.5, 6.0, ["a.out"], ["c.out"]),
    }


def test_the_longest_chain_is_critical_and_the_others_have_their_slack(run):
    profile = profile_table(run)
    assert profile["job"].tolist() == ["a", "b", "c", "d"]
    assert dict(zip(profile["job"], profile["slack"], strict=True)) == {"a": 0.0, "b": 3.0, "c": 0.0, "d": 0.0}
    assert profile["critical"].tolist() == [True, False, True, True]


def test_the_summary_adds_up(run):
    summary = dict(zip(*summary_table(profile_table(run)).values(), strict=True))
    assert summary["jobs"] == 4
    assert summary["wall"] == 9.0
    assert summary["idle"] == 1.0
    assert summary["critical"] == 8.0
    assert summary["work"] == pytest.approx(1.5 + 2.0 + 3.5 + 1.0)
    assert summary["start_up"] == pytest.approx(0.5 + 1.0 + 0.5 + 1.0)
    assert summary["peak_mib"] == 900.0


def test_a_run_without_records_has_no_profile():
    with pytest.raises(ValueError, match="no record"):
        profile_table({})


def test_a_process_knows_when_it_began():
    began = environment.spawned()
    if began is None:
        pytest.skip("this system does not say when a process began")
    assert 0.0 < time.time() - began < 24 * 3600
    assert np.isclose(began, environment.spawned(), atol=0.1)


@pytest.mark.parametrize(("cpu", "seconds"), [(1.0, 60.0), (119.0, 60.0), (121.0, 120.0)])
def test_the_effort_is_rounded_up_to_minutes_of_two_cores(cpu, seconds):
    effort = effort_table({"a": {"run": {"cpu_seconds": cpu}}}, {"test_a": 3, "test_b": 4})
    assert dict(zip(effort["check"], effort["value"], strict=True)) == {
        "test modules": 2.0,
        "test functions": 7.0,
        "seconds": seconds,
    }
