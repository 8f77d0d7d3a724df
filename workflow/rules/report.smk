# The report, its short form for the README, and the companion notebook.
#   needs   the tables and figures of all chapters, results/claims.parquet
#   makes   results/report.html, results/summary.md, results/companion.ipynb
REPORT = "workflow/report"
NOTEBOOK_MODULES = [
    "attnkernel.circle",
    "attnkernel.features",
    "attnkernel.scaling",
    "attnkernel.smoother",
    "attnkernel.gradients",
    "attnkernel.language.cache",
    "attnkernel.language.evaluate",
    "attnkernel.language.kneser_ney",
    "attnkernel.language.pointer",
]
NOTEBOOK_TABLES = [
    "denoiser",
    "longlag_census_summary",
    "grid",
    "heldout",
    "learned",
    "features",
]


rule summary:
    """The results in short, as the README shows them."""
    input:
        claims="results/claims.parquet",
        corpora="results/tables/corpora.parquet",
        heldout="results/tables/heldout.parquet",
    output:
        summary="results/summary.md",
    log:
        "results/logs/summary.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("summary.py"),
    script:
        "../scripts/summary.py"


rule report:
    """The whole run as one page, chapter by chapter, with the published numbers beside ours."""
    input:
        claims="results/claims.parquet",
        tables=expand("results/tables/{table}.parquet", table=TABLES),
        figures=expand("results/figures/{figure}.svg", figure=FIGURES),
        config="config/config.yaml",
        template=f"{REPORT}/report.html.j2",
        style=f"{REPORT}/report.css",
        texts=f"{REPORT}/chapters.yaml",
    output:
        report="results/report.html",
    log:
        "results/logs/report.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("report.py"),
    script:
        "../scripts/report.py"


rule notebook:
    """The companion notebook, executed: each definition on a tiny example, and the tables of this run."""
    input:
        source="workflow/notebook/companion.ipynb",
        tables=expand("results/tables/{table}.csv", table=NOTEBOOK_TABLES),
    output:
        notebook="results/companion.ipynb",
    log:
        "results/logs/notebook.log",
    priority: 2
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("notebook.py"),
        # The notebook is no script, so what it imports is named here.
        modules=tracking.code_digest(*NOTEBOOK_MODULES),
    script:
        "../scripts/notebook.py"
