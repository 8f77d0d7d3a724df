# The smoother and the circle: temperature is bandwidth.
#   needs   the tokens and vectors of the corpus that config `propositions` names
#   makes   the table of propositions, the exact tables of the circle, the trained layer, and the chapter's figures
CHAPTER = "A weighted lookup"
CIRCLE = config["circle"]
CIRCLE_TABLES = [
    "circle_gains",
    "circle_optimum",
    "circle_slopes",
    "circle_search",
    "circle_simulation",
    "circle_risk_curve",
    "circle_smoother",
    "circle_checks",
]
CIRCLE_FIGURES = ["circle_smoother", "circle_gains", "circle_risk", "circle_asymptote"]
DENOISER_TABLES = ["denoiser", "denoiser_trace", "denoiser_summary"]
TABLES += ["propositions", *CIRCLE_TABLES, *DENOISER_TABLES]
FIGURES += CIRCLE_FIGURES
ROBUSTNESS += [f"{table}_robustness" for table in DENOISER_TABLES]


rule propositions:
    """Propositions 1 to 5 and 7 to 9, each on random instances, the third also on a sentence of a corpus."""
    input:
        tokens=f"results/corpora/{config['propositions']['corpus']}/tokens.parquet",
        vectors=f"results/corpora/{config['propositions']['corpus']}/vectors.parquet",
    output:
        **published_tables(["propositions"]),
    log:
        "results/logs/propositions.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("propositions.py"),
        min_count=config["language"]["min_count"],
        words=config["propositions"]["words"],
        instances=config["propositions"]["instances"],
        draws=config["propositions"]["draws"],
        seed=config["seed"],
    script:
        "../scripts/propositions.py"


CHAPTER = "Temperature is bandwidth"


rule circle:
    """Gains, exact risk and optimum on the circle, the search over every score matrix, and simulated noise."""
    output:
        **published_tables(CIRCLE_TABLES),
    log:
        "results/logs/circle.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("circle.py"),
        settings={
            "variances": CIRCLE["spectra"],
            "sigma": CIRCLE["sigma"],
            "settings": CIRCLE["settings"],
            "gains": CIRCLE["gains"],
            "optimum": CIRCLE["optimum"],
            "search": CIRCLE["search"],
            "simulation": CIRCLE["simulation"],
            "risk_curve": CIRCLE["risk_curve"],
            "smoother": CIRCLE["smoother"],
        },
        seed=config["seed"],
    script:
        "../scripts/circle.py"


rule denoiser:
    """The attention layer that is trained to denoise, beside the optimum."""
    output:
        **published_tables(DENOISER_TABLES),
    log:
        "results/logs/denoiser.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("denoiser.py"),
        sigma=CIRCLE["sigma"],
        spectra=CIRCLE["spectra"],
        settings=CIRCLE["settings"],
        protocol=CIRCLE["denoiser"],
        seeds=[config["seed"]],
    script:
        "../scripts/denoiser.py"


rule denoiser_robustness:
    """The same training from every seed of the config, all replicas at once."""
    output:
        **published_tables(DENOISER_TABLES, "_robustness"),
    log:
        "results/logs/denoiser-robustness.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("denoiser.py"),
        sigma=CIRCLE["sigma"],
        spectra=CIRCLE["spectra"],
        settings=CIRCLE["settings"],
        protocol=CIRCLE["denoiser"],
        seeds=config["robustness"]["seeds"],
    script:
        "../scripts/denoiser.py"


rule circle_figures:
    """The smoother at three concentrations, its gains, its risk, and the growth of the optimum."""
    input:
        smoother="results/tables/circle_smoother.parquet",
        gains="results/tables/circle_gains.parquet",
        risk_curve="results/tables/circle_risk_curve.parquet",
        optimum="results/tables/circle_optimum.parquet",
        denoiser="results/tables/denoiser.parquet",
    output:
        **figure_files(CIRCLE_FIGURES),
    log:
        "results/logs/circle-figures.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("circle_figures.py"),
        settings=CIRCLE["settings"],
        gains=CIRCLE["figures"]["gains"],
    script:
        "../scripts/circle_figures.py"
