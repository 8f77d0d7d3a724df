# Publishing: every number held against what was published.
#   needs   the tables of all chapters, the file that config `published` names
#   makes   the tables gradients and effort, results/claims.parquet and .csv, the table calibration, results/verified.txt

CHAPTER = "This project"
TABLES += ["gradients"]


rule gradients:
    """Every hand-written gradient against the complex step and central differences."""
    output:
        **published_tables(["gradients"]),
    log:
        "results/logs/gradients.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("gradients.py"),
        seed=config["seed"],
    script:
        "../scripts/gradients.py"


rule effort:
    """How many tests stand behind the numbers, and how long the work behind them takes."""
    input:
        tables=expand("results/tables/{table}.parquet", table=TABLES),
        tests=TEST_FILES,
    output:
        **published_tables(["effort"]),
    log:
        "results/logs/effort.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("effort.py"),
    script:
        "../scripts/effort.py"


# Made after the others, so that it could not be among its inputs.
TABLES += ["effort"]


rule compare:
    """Published, computed and margin, side by side, for every published number; never fails on a number; and the
    card of the synthetic corpus, which was calibrated to some of them."""
    input:
        published=config["published"],
        tables=expand("results/tables/{table}.parquet", table=TABLES),
    output:
        **published_tables(["calibration"]),
        claims="results/claims.parquet",
        claims_csv=reported("table", "claims", "results/claims.csv"),
    log:
        "results/logs/compare.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("compare.py"),
    script:
        "../scripts/compare.py"


# Made of the comparison, so that it could not be among its inputs.
TABLES += ["calibration"]


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
