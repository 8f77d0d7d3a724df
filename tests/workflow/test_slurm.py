"""The toy graph through SLURM, started here for the test, gives the tables of a local run.

Needs root, Debian's slurm-wlm and munge, and snakemake-executor-plugin-slurm: `make slurm-test` sees to them.
"""

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from attnkernel import table

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue")
# Jobs find the configuration here alone: the executor clears SLURM's variables from their environment.
CONFIGURATION = Path("/etc/slurm/slurm.conf")
PROFILE = Path(__file__).resolve().parents[2] / "profiles" / "slurm"
# At toy size these are quick too. Each round of jobs that need those of the round before waits for the executor to ask
# how they stand, which takes longer each time that none has ended.
QUICK = {
    "learned": ("tokens", "vectors", "kneser_ney", "caches", "grid"),
    "first": ("circle", "denoiser", "scaling", "gradients", "library", "longlag_bound", "longlag_training"),
}

SLURM_CONF = """\
ClusterName=toy
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=sched_interval=1
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MinJobAge=600
# A group of jobs asks for more cores than a small machine has.
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=64 RealMemory={memory} State=UNKNOWN
PartitionName=toy Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def absent():
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    missing = [program for program in PROGRAMS if not shutil.which(program, path=path)]
    if missing:
        return f"SLURM is not installed ({', '.join(missing)}): apt-get install slurm-wlm munge"
    if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
        return "snakemake-executor-plugin-slurm is not installed: pip install '.[cluster]'"
    if os.geteuid() != 0:
        return "SLURM's daemons are started as root"
    if CONFIGURATION.exists():
        return f"{CONFIGURATION} is there: this machine has a SLURM of its own"
    return None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)


@contextlib.contextmanager
def slurm(folder):
    """Munge, a controller and a node on this machine, all of whose files are in `folder`."""
    for name in ("state", "spool"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    text = SLURM_CONF.format(
        host=socket.gethostname().split(".")[0],
        folder=folder,
        controller=free_port(),
        daemon=free_port(),
        memory=100_000,
    )
    CONFIGURATION.parent.mkdir(exist_ok=True)
    CONFIGURATION.write_text(text, encoding="utf-8")
    places = {"socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
    try:
        options = [f"--{option}={folder}/munge.{suffix}" for option, suffix in places.items()]
        run("/usr/sbin/munged", f"--key-file={key}", *options, "--force")
        run("/usr/sbin/slurmctld")
        run("/usr/sbin/slurmd")
        wait_for_the_node()
        yield
    finally:
        for name in ("slurmd", "slurmctld", "munge"):
            stop(folder / f"{name}.pid")
        CONFIGURATION.unlink()


def wait_for_the_node(seconds=30):
    for _ in range(seconds):
        states = subprocess.run(["sinfo", "--noheader", "--format=%T"], capture_output=True, text=True, check=False)
        if states.stdout.strip() == "idle":
            return
        time.sleep(1)
    pytest.fail(f"SLURM's node did not come up in {seconds} s: {states.stdout}{states.stderr}")


def stop(pid_file):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        pid = int(pid_file.read_text())
        os.kill(pid, signal.SIGTERM)
        for _ in range(50):
            os.kill(pid, 0)
            time.sleep(0.1)
        os.kill(pid, signal.SIGKILL)


def groups():
    """Those of the profile, and those of what is quick here."""
    stated = yaml.safe_load((PROFILE / "config.yaml").read_text(encoding="utf-8"))["groups"]
    return stated | {rule: group for group, rules in QUICK.items() for rule in rules}


def contents(project):
    folder = project.folder / "results"
    tables = [path for path in folder.rglob("*.parquet") if "provenance" not in path.parts]
    return {str(path.relative_to(folder)): table.origin(path).get("content") for path in sorted(tables)}


@pytest.mark.skipif(absent() is not None, reason=str(absent()))
def test_slurm_gives_the_tables_of_a_local_run(finished, fresh, tmp_path):
    (tmp_path / "slurm").mkdir()
    with slurm(tmp_path / "slurm"):
        done = subprocess.run(
            [
                *(sys.executable, "-m", "snakemake", "--profile", str(PROFILE)),
                *("--configfile", "config/test.yaml"),
                # What waits for a real cluster's file system and scheduler need not wait here.
                *("--latency-wait", "10", "--seconds-between-status-checks", "2"),
                *("--slurm-init-seconds-before-status-checks", "5", "--slurm-status-command", "squeue"),
                *("--groups", *(f"{rule}={group}" for rule, group in groups().items())),
                *("--group-components", "drawn=12", "first=7"),
            ],
            cwd=fresh.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=1800,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        assert "has been submitted with SLURM jobid" in done.stdout + done.stderr
    ours, theirs = contents(fresh), contents(finished)
    assert theirs
    assert ours == theirs
