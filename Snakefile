# Attention as kernel smoothing: the table of contents. Rules stand in workflow/rules, one file a chapter, in the
# article's order; settings in config/config.yaml; the numerics in workflow/attnkernel.
from snakemake.utils import min_version

min_version("9.20")


configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/corpora.smk"
include: "workflow/rules/circle.smk"
include: "workflow/rules/scaling.smk"
include: "workflow/rules/longlag.smk"
include: "workflow/rules/language.smk"


if config["shards"] > 1:

    include: "workflow/rules/shards.smk"


include: "workflow/rules/features.smk"
include: "workflow/rules/filings.smk"
include: "workflow/rules/filings_scores.smk"
include: "workflow/rules/laboratory.smk"
include: "workflow/rules/publish.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/provenance.smk"


rule all:
    default_target: True
    input:
        "results/verified.txt",
        "results/report.html",
        "results/summary.md",
        "results/companion.ipynb",
        "results/lab/index.html",
        "results/provenance/run-crate",
        expand("results/tables/{table}.{kind}", table=TABLES, kind=["parquet", "csv"]),
        expand("results/figures/{figure}.{kind}", figure=FIGURES, kind=["svg", "png"]),


# Not part of the main job: the trained models over every seed of config `robustness`.
rule robustness:
    input:
        expand(
            "results/tables/{table}.{kind}", table=ROBUSTNESS, kind=["parquet", "csv"]
        ),
