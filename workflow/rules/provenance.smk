# Provenance: where every result comes from, and the run packed for deposit.
#   needs   every table and figure, the claims; the record that each job leaves in results/provenance/jobs
#   makes   results/provenance/tables.json (the same at every run), run.json (versions, seconds, memory), run-crate/;
#           profile.parquet, profile-summary.parquet: where the time goes (no longer the same at every run)
PAGES = [
    "results/report.html",
    "results/summary.md",
    "results/companion.ipynb",
    "results/lab/index.html",
]


rule provenance:
    """The lineage and content of every result down to the corpora; apart, versions, machine, seconds and memory."""
    input:
        claims="results/claims.parquet",
        tables=expand("results/tables/{table}.parquet", table=TABLES),
        figures=expand(
            "results/figures/{figure}.{kind}", figure=FIGURES, kind=["svg", "png"]
        ),
        pages=PAGES,
    output:
        tables="results/provenance/tables.json",
        run="results/provenance/run.json",
        profile="results/provenance/profile.parquet",
        profile_csv="results/provenance/profile.csv",
        summary="results/provenance/profile-summary.parquet",
        summary_csv="results/provenance/profile-summary.csv",
    log:
        "results/logs/provenance.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("provenance.py"),
    script:
        "../scripts/provenance.py"


rule crate:
    """A Workflow Run RO-Crate with the workflow, its config and lock, tables, figures, claims and lineage."""
    input:
        snakefile="Snakefile",
        citation="CITATION.cff",
        lock="envs/requirements.lock",
        published=config["published"],
        tables=expand(
            "results/tables/{table}.{kind}", table=TABLES, kind=["parquet", "csv"]
        ),
        figures=expand(
            "results/figures/{figure}.{kind}", figure=FIGURES, kind=["svg", "png"]
        ),
        claims=["results/claims.parquet", "results/claims.csv"],
        pages=PAGES,
        provenance=["results/provenance/tables.json", "results/provenance/run.json"],
        run="results/provenance/run.json",
    output:
        config="results/provenance/config.yaml",
        crate=directory("results/provenance/run-crate"),
    log:
        "results/logs/crate.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("crate.py"),
        config=config,
        workflow=workflow_files(),
    script:
        "../scripts/crate.py"
