# Publishing: every number held against what was published.
#   needs   the tables of all chapters, the file that config `published` names
#   makes   results/claims.parquet and .csv, the table calibration, results/verified.txt


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
