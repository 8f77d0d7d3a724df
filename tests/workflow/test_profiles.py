"""The profiles for other machines name rules that exist, and plan the whole graph."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PROFILES = ROOT / "profiles"


def rules():
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "workflow" / "rules").glob("*.smk"))
    return set(re.findall(r"^rule (\w+):", text, re.MULTILINE)) | set(
        re.findall(r"^use rule \w+ as (\w+) with:", text, re.MULTILINE)
    )


def profile(name):
    return yaml.safe_load((PROFILES / name / "config.yaml").read_text(encoding="utf-8"))


def needs(plugin):
    return pytest.mark.skipif(
        importlib.util.find_spec(plugin) is None, reason=f"{plugin.replace('_', '-')} is not installed"
    )


@pytest.mark.parametrize("name", ["slurm", "kubernetes"])
def test_resources_and_groups_are_of_rules_that_exist(name):
    settings = profile(name)
    assert set(settings.get("set-resources", {})) | set(settings.get("groups", {})) <= rules()
    assert set(settings.get("group-components", {})) <= set(settings.get("groups", {}).values())
    assert {"mem_mb", "runtime"} <= set(settings["default-resources"])


def test_every_rule_that_a_shard_runs_has_resources_of_its_own_on_slurm():
    text = (ROOT / "workflow" / "rules" / "shards.smk").read_text(encoding="utf-8")
    of_shards = set(re.findall(r"^use rule \w+ as (\w+) with:", text, re.MULTILINE)) | {"shard_counts"}
    assert of_shards <= set(profile("slurm")["set-resources"])


def planned(folder, name, *arguments):
    return subprocess.run(
        [
            *(sys.executable, "-m", "snakemake", "--profile", str(PROFILES / name), "--dry-run"),
            *("--configfile", "config/test.yaml", *arguments),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@needs("snakemake_executor_plugin_slurm")
@pytest.mark.skipif(shutil.which("sinfo") is None, reason="SLURM's programs are not installed")
def test_slurm_plans_the_whole_graph(fresh):
    done = planned(fresh.folder, "slurm")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^verify\s+1$", done.stdout, re.MULTILINE)


@needs("snakemake_executor_plugin_kubernetes")
@needs("snakemake_storage_plugin_fs")
def test_kubernetes_plans_the_whole_graph_over_a_volume(fresh, tmp_path):
    shutil.copytree(fresh.folder, tmp_path / "volume")
    done = planned(fresh.folder, "kubernetes", "--default-storage-prefix", os.fspath(tmp_path / "volume"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^verify\s+1$", done.stdout, re.MULTILINE)
