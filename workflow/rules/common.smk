# What every chapter needs: the checked config, and the digest of the code behind a script.
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

WORKFLOW = Path(workflow.basedir) / "workflow"

# The code beside the Snakefile is the code that runs, here and in every job, whatever may be installed.
sys.path.insert(0, str(WORKFLOW))
python_path = filter(None, [str(WORKFLOW), os.environ.get("PYTHONPATH")])
os.environ |= {"PYTHONPATH": os.pathsep.join(python_path)}

from attnkernel import configuration, tracking
from attnkernel.corpus import readers
from attnkernel.errors import InputError

try:
    config = configuration.checked(config, WORKFLOW / "schemas" / "config.schema.yaml")
except InputError as error:
    raise WorkflowError(str(error)) from None

CORPORA = sorted(config["corpora"])

# Every table and figure of the run by name; each chapter adds its own. ROBUSTNESS: tables of the target `robustness`.
TABLES = []
FIGURES = []
ROBUSTNESS = []


def code(script):
    """Digest of a script and all first-party code that it imports, to be a parameter."""
    return tracking.code_digest(WORKFLOW / "scripts" / script)


def published_tables(names, suffix=""):
    """Named outputs for published tables, each a Parquet file and its CSV twin; the suffix is of the files alone."""
    place = "results/tables/"
    parquet = {name: f"{place}{name}{suffix}.parquet" for name in names}
    return parquet | {f"{name}_csv": f"{place}{name}{suffix}.csv" for name in names}


def figure_files(names):
    """Named outputs for figures, each an SVG and a PNG."""
    place = "results/figures/"
    svg = {name: f"{place}{name}.svg" for name in names}
    return svg | {f"{name}_png": f"{place}{name}.png" for name in names}


def corpus_settings(wildcards):
    return config["corpora"][wildcards.corpus]


def corpus_files(wildcards):
    """The files of a corpus; one inside a package is no input, as its path differs from machine to machine."""
    path = config["corpora"][wildcards.corpus]["path"]
    if path.startswith(readers.PACKAGE_PREFIX):
        return []
    if path.startswith("results/"):  # made by a rule, so it need not be there yet
        return [path]
    try:
        return [str(file) for file in readers.files(path)]
    except InputError as error:
        raise WorkflowError(f"corpus {wildcards.corpus}: {error}") from None


wildcard_constraints:
    corpus="[a-z][a-z0-9_-]*",
