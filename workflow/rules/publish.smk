# Publishing: every number held against what was published.
#   needs   the tables of all chapters, the file that config `published` names
#   makes   the table gradients, results/claims.parquet and .csv, the table calibration, results/verified.txt

TABLES += ["gradients"]


rule gradients:
    """Every hand-written gradient against the complex step and central differences."""
    output:
        **published_tables(["gradients"]),
    log:
        "results/logs/gradients.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("gradients.py"),
        seed=config["seed"],
    script:
        "../scripts/gradients.py"


rule compare:
    """Published, computed and margin, side by side, for every published number; never fails on a number; and the
    card of the synthetic corpus, which was calibrated to some of them."""
    input:
        published=config["published"],
        tables=expand("results/tables/{table}.parquet", table=TABLES),
    output:
        claims="results/claims.parquet",
        claims_csv="results/claims.csv",
        **published_tables(["calibration"]),
    log:
        "results/logs/compare.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("compare.py"),
    script:
        "../scripts/compare.py"


rule verify:
    """Fail, and list every number that does not hold, unless all do."""
    input:
        claims="results/claims.parquet",
    output:
        verified="results/verified.txt",
    log:
        "results/logs/verify.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("verify.py"),
    script:
        "../scripts/verify.py"
