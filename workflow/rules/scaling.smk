# Why 1/sqrt(d): saturation of the softmax with and without the scale.
#   needs   nothing
#   makes   the table of draws beside its expectations, the limits, and the chapter's figure
CHAPTER = "Why 1/sqrt(d)"
SCALING_TABLES = ["scaling", "scaling_limits"]
TABLES += SCALING_TABLES
FIGURES += ["scaling"]


rule scaling:
    """Means of 1 - alpha_max and of the Jacobian's norm over random draws, their expectations, and the limits."""
    output:
        **published_tables(SCALING_TABLES),
    log:
        "results/logs/scaling.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("scaling.py"),
        settings=config["scaling"],
        seed=config["seed"],
    script:
        "../scripts/scaling.py"


rule scaling_figures:
    """Both statistics over the dimension, with and without the scale."""
    input:
        scaling="results/tables/scaling.parquet",
        limits="results/tables/scaling_limits.parquet",
    output:
        **figure_files(["scaling"]),
    log:
        "results/logs/scaling-figures.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("scaling_figures.py"),
    script:
        "../scripts/scaling_figures.py"
