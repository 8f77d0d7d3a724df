# The long lag: a lookup instead of a state.
#   needs   nothing but settings
#   makes   the gradient census and the exponents behind it, the training runs, Proposition 6, and the chapter's figures
CHAPTER = "A lookup instead of a state"
LONGLAG = config["longlag"]
CENSUS_TABLES = ["longlag_census", "longlag_census_summary", "longlag_census_facts"]
EXPONENT_TABLES = ["longlag_lyapunov", "longlag_lyapunov_summary"]
TRAINING_TABLES = ["longlag_training", "longlag_curves"]
BOUND_TABLES = ["longlag_bound", "longlag_bound_summary", "longlag_attention"]
LONGLAG_FIGURES = ["longlag_census", "longlag_lyapunov", "longlag_attention"]
TABLES += [*CENSUS_TABLES, *EXPONENT_TABLES, *TRAINING_TABLES, *BOUND_TABLES]
FIGURES += LONGLAG_FIGURES
ROBUSTNESS += [f"{table}_robustness" for table in TRAINING_TABLES]


rule longlag_census:
    """The gradient that reaches the bit, by model, lag and initialization."""
    output:
        **published_tables(CENSUS_TABLES),
    log:
        "results/logs/longlag-census.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("longlag_census.py"),
        sizes=LONGLAG["sizes"],
        forget_biases=LONGLAG["forget_biases"],
        census=LONGLAG["census"],
        compared=LONGLAG["compared"],
        seed=config["seed"],
    script:
        "../scripts/longlag_census.py"


rule longlag_lyapunov:
    """The exponent of every recurrent initialization, estimated apart, beside the slope of the census."""
    input:
        census="results/tables/longlag_census.parquet",
    output:
        **published_tables(EXPONENT_TABLES),
    log:
        "results/logs/longlag-lyapunov.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("longlag_lyapunov.py"),
        sizes=LONGLAG["sizes"],
        forget_biases=LONGLAG["forget_biases"],
        exponents=LONGLAG["lyapunov"],
        longest=max(LONGLAG["census"]["lags"]),
        seed=config["seed"],
    script:
        "../scripts/longlag_lyapunov.py"


rule longlag_training:
    """Attention, Elman and both LSTMs trained by one protocol, and tested on fresh sequences."""
    output:
        **published_tables(TRAINING_TABLES),
    log:
        "results/logs/longlag-training.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("longlag_training.py"),
        sizes=LONGLAG["sizes"],
        forget_biases=LONGLAG["forget_biases"],
        schedule=LONGLAG["training"],
        test=LONGLAG["test"],
        seeds=[config["seed"]],
    script:
        "../scripts/longlag_training.py"


rule longlag_robustness:
    """The same training from every seed of the config, all replicas at once."""
    output:
        **published_tables(TRAINING_TABLES, "_robustness"),
    log:
        "results/logs/longlag-robustness.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("longlag_training.py"),
        sizes=LONGLAG["sizes"],
        forget_biases=LONGLAG["forget_biases"],
        schedule=LONGLAG["training"],
        test=LONGLAG["test"],
        seeds=config["robustness"]["seeds"],
    script:
        "../scripts/longlag_training.py"


rule longlag_bound:
    """Proposition 6 on the untrained, the trained and the constructed layer, and where they look."""
    output:
        **published_tables(BOUND_TABLES),
    log:
        "results/logs/longlag-bound.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("longlag_bound.py"),
        sizes=LONGLAG["sizes"],
        schedule=LONGLAG["training"],
        constructed=LONGLAG["constructed"],
        bound=LONGLAG["bound"],
        lags=LONGLAG["test"]["lags"],
        seed=config["seed"],
    script:
        "../scripts/longlag_bound.py"


rule longlag_figures:
    """The census with both reference slopes, the exponents that predict it, and where the layer looks."""
    input:
        census="results/tables/longlag_census_summary.parquet",
        lyapunov="results/tables/longlag_lyapunov.parquet",
        attention="results/tables/longlag_attention.parquet",
    output:
        **figure_files(LONGLAG_FIGURES),
    log:
        "results/logs/longlag-figures.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("longlag_figures.py"),
    script:
        "../scripts/longlag_figures.py"
