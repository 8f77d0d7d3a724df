# What every chapter needs: the checked config, and the digest of the code behind a script.
#
# `priority` orders what could run: 2 for the links of the longest chain of jobs, from a corpus to the notebook; 1 for the
# other numbers, which the checks wait for; none for figures, which fill what is left.
import atexit
import os
import re
import sys
from pathlib import Path

WORKFLOW = Path(workflow.basedir) / "workflow"

# Snakemake looks for data frames among params, and imports pandas to do so, a fifth of what a run with nothing to do
# costs. No param here is one; jobs are processes of their own and import what they like.
sys.modules.setdefault("pandas", None)

# The code beside the Snakefile is the code that runs, here and in every job, whatever may be installed.
sys.path.insert(0, str(WORKFLOW))
python_path = filter(None, [str(WORKFLOW), os.environ.get("PYTHONPATH")])
run_cores = workflow.resource_settings.cores or 0  # a cluster is given none
os.environ |= {
    "PYTHONPATH": os.pathsep.join(python_path),
    "ATTNKERNEL_CORES": str(run_cores),
}

from attnkernel import (
    configuration,
    failure,
    keeping,
    locking,
    provenance,
    tracking,
)
from attnkernel.corpus import readers
from attnkernel.errors import InputError
from attnkernel.filings import sources

try:
    failure.require_workspace(".", "results")
    config = configuration.checked(config, WORKFLOW / "schemas" / "config.schema.yaml")
except InputError as error:
    files = ", ".join(os.path.relpath(file) for file in workflow.configfiles)
    # These lines alone, without Snakemake's own around them.
    sys.exit(f"{error}\nconfig files: {files}")

# Said now, as what else follows of it, such as a file that is just being written, is no clear message.
if workflow.is_main_process and locking.is_run_held():
    print(locking.ANOTHER, file=sys.stderr)

CORPORA = sorted(config["corpora"])

TEST_FILES = sorted(str(path) for path in Path("tests").rglob("test_*.py"))

# Every table and figure of the run by name; each chapter adds its own. ROBUSTNESS: tables of the target `robustness`.
TABLES = []
FIGURES = []
ROBUSTNESS = []

# In the article's order; each file of rules says as CHAPTER which is its own.
CHAPTERS = [
    "A weighted lookup",
    "Temperature is bandwidth",
    "Why 1/sqrt(d)",
    "A lookup instead of a state",
    "Attention over a document",
    "Kernels that factor",
    "The filings",
    "Bandwidth, reach, and memory",
    "This project",
]


def code(script):
    """Digest of a script and all first-party code that it imports, to be a parameter."""
    return tracking.code_digest(WORKFLOW / "scripts" / script)


def published_tables(names, suffix=""):
    """Named outputs for published tables, each a Parquet file and its CSV twin; the suffix is of the files alone."""
    place = "results/tables/"
    parquet = {name: f"{place}{name}{suffix}.parquet" for name in names}
    return parquet | {
        f"{name}_csv": reported("table", name, f"{place}{name}{suffix}.csv")
        for name in names
    }


def figure_files(names, suffix=""):
    """Named outputs for figures, each an SVG and a PNG; the suffix is of the files alone."""
    place = "results/figures/"
    svg = {
        name: reported("figure", name, f"{place}{name}{suffix}.svg") for name in names
    }
    return svg | {f"{name}_png": f"{place}{name}{suffix}.png" for name in names}


def reported(kind, name, path):
    """An output that `snakemake --report` shows under the chapter whose rules are being read, with its caption."""
    return report(
        path,
        caption=f"../report/{kind}-{name}.rst",
        category=f"{1 + CHAPTERS.index(CHAPTER)} {CHAPTER}",
        labels={"result": Path(path).stem, "kind": kind},
    )


def corpus_settings(wildcards):
    return config["corpora"][wildcards.corpus]


def found(setting, path):
    """The files at a configured path; looked for at once, as Snakemake answers a mistake in an input function at
    length, and one in a job after others have run."""
    if path.startswith("results/"):  # made by a rule, so it need not be there yet
        return [path]
    try:
        return readers.files(path)
    except InputError as error:
        sys.exit(f"{setting}: {error}")


FOUND_FILES = {
    corpus: found(f"corpus {corpus}", config["corpora"][corpus]["path"])
    for corpus in CORPORA
}
PRIMER = config["filing_codes"]["primer"]
PRIMER_FILES = found("filing_codes.primer", PRIMER["path"]) if PRIMER else []

if not Path(config["published"]).is_file():
    sys.exit(
        f"{config['published']}: there is no such file; set `published` in the config"
    )


def tracked(path, files):
    """Which of the files at a configured path are inputs: one inside a package is none, as its path differs from
    machine to machine."""
    return [] if path.startswith(readers.PACKAGE_PREFIX) else list(map(str, files))


def digests(path, files):
    """Digest of each file of the others, for a parameter."""
    untracked = [] if tracked(path, files) else files
    return {file.name: provenance.hash_of(file) for file in untracked}


def corpus_files(wildcards):
    return tracked(corpus_settings(wildcards)["path"], FOUND_FILES[wildcards.corpus])


def packaged_files(wildcards):
    return digests(corpus_settings(wildcards)["path"], FOUND_FILES[wildcards.corpus])


def filings_files(settings):
    """The filings in a folder; those of another source are no input, as the job fetches them."""
    if sources.choose(settings, os.environ) != "folder":
        return []
    try:
        return [str(file) for file in sources.folder_files(settings)]
    except InputError as error:
        sys.exit(f"filings: {error}")


def filing_settings(wildcards):
    """Settings of the codes of the filings; those of the target `filings_full` differ."""
    settings = config["filing_codes"]
    return {**settings, **(settings["full"] if wildcards.scale else {}), "full": None}


def filing_excerpts(wildcards):
    return filing_settings(wildcards)["excerpts"]


def filing_priming(wildcards):
    """What primes models and compressors: nothing, the other filings, or a text corpus, whose settings these are."""
    if wildcards.get("training") == "cold":
        return None
    return config["filing_codes"]["primer"] or "other filings"


def filing_primer(wildcards):
    """Files of the text corpus that primes, if one does."""
    return (
        tracked(PRIMER["path"], PRIMER_FILES)
        if PRIMER and filing_priming(wildcards)
        else []
    )


def packaged_primer(wildcards):
    return (
        digests(PRIMER["path"], PRIMER_FILES)
        if PRIMER and filing_priming(wildcards)
        else {}
    )


def filing_networks(wildcards, part):
    """One of the two files of each recurrent network, where a pool is primed."""
    pool = config["filing_codes"]["pool"]
    members = pool["members"] if pool and wildcards.training == "primed" else 0
    return [
        f"results/filings/network-{member}-{part}.parquet"
        for member in range(1, members + 1)
    ]


def workflow_files():
    """The files of the workflow itself, beside the Snakefile."""
    kinds = (".smk", ".py", ".yaml", ".html", ".rst", ".css", ".js", ".ipynb")
    found = (path for path in WORKFLOW.rglob("*") if path.suffix in kinds)
    return sorted(os.path.relpath(path, workflow.basedir) for path in found)


onstart:
    try:
        failure.require_writable("results")
        if workflow.is_main_process:
            failure.heed_termination()
            locking.hold_run()
            tracking.remember()
            keeping.keep("results")
    except InputError as error:
        sys.exit(str(error))


onsuccess:
    keeping.retain()
    failure.wait_no_longer()


onerror:
    failure.wait_no_longer()
    said = [*keeping.described(keeping.retain()), *failure.messages(log)]
    # When the process ends, so that it is the last thing on the screen.
    atexit.register(print, "\n".join(["", *said]), file=sys.stderr)


wildcard_constraints:
    corpus="|".join(map(re.escape, CORPORA)),
