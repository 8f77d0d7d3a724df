# Kernels that factor: the kernel cache through random features, and as a recurrence.
#   needs   a corpus's tokens, vectors, grid and Kneser-Ney probabilities
#   makes   the tables features, features_mixture and features_checks, and a figure for each corpus
CHAPTER = "Kernels that factor"
FEATURES = config["features"]
FEATURE_TABLES = ["features", "features_mixture", "features_checks"]
TABLES += FEATURE_TABLES
FIGURES += expand("features-{corpus}", corpus=FEATURES["corpora"])


rule features:
    """Total variation between attention through random features and exact attention, and what it costs the mixture."""
    input:
        tokens="results/corpora/{corpus}/tokens.parquet",
        vectors="results/corpora/{corpus}/vectors.parquet",
        grid="results/language/{corpus}/grid.parquet",
        heldout="results/language/{corpus}/caches-heldout.parquet",
    output:
        features="results/features/{corpus}/features.parquet",
        mixture="results/features/{corpus}/mixture.parquet",
        checks="results/features/{corpus}/checks.parquet",
    log:
        "results/logs/features-{corpus}.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("features.py"),
        min_count=config["language"]["min_count"],
        betas=FEATURES["betas"],
        sizes=FEATURES["sizes"],
        article=FEATURES["article"],
        seed=config["seed"],
    script:
        "../scripts/features.py"


rule feature_tables:
    """The chapter's tables, each corpus stacked under the last."""
    input:
        features=expand(
            "results/features/{corpus}/features.parquet", corpus=FEATURES["corpora"]
        ),
        features_mixture=expand(
            "results/features/{corpus}/mixture.parquet", corpus=FEATURES["corpora"]
        ),
        features_checks=expand(
            "results/features/{corpus}/checks.parquet", corpus=FEATURES["corpora"]
        ),
    output:
        **published_tables(FEATURE_TABLES),
    log:
        "results/logs/feature-tables.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("stack.py"),
        corpora=FEATURES["corpora"],
    script:
        "../scripts/stack.py"


rule feature_figures:
    """The error of attention over the number of random features, a line for each beta."""
    input:
        features="results/features/{corpus}/features.parquet",
    output:
        **figure_files(["features"], "-{corpus}"),
    log:
        "results/logs/feature-figures-{corpus}.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("feature_figures.py"),
    script:
        "../scripts/feature_figures.py"
