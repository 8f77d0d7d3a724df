# The laboratory: the circle, documents token by token, and the census, in one page.
#   needs   tables of the circle and of the census, each corpus's held-out scores and kernels, the filings
#   makes   results/lab/payload.json and index.html, and the tables of the documents that the page shows and of the
#           page's data against its source
from attnkernel import render

LABORATORY = config["laboratory"]
PAGE = "workflow/page"
SHOWN = list(config["corpora"])  # in the order of the config
TABLES += ["laboratory", "harness"]


rule payload:
    """The laboratory's data from the tables, and the documents that it shows."""
    input:
        tokens=expand("results/corpora/{corpus}/tokens.parquet", corpus=SHOWN),
        vectors=expand("results/corpora/{corpus}/vectors.parquet", corpus=SHOWN),
        scores=expand("results/language/{corpus}/scores-heldout.parquet", corpus=SHOWN),
        grid=expand("results/language/{corpus}/grid.parquet", corpus=SHOWN),
        epochs=expand("results/language/{corpus}/epochs.parquet", corpus=SHOWN),
        kernel=expand("results/language/{corpus}/kernel.parquet", corpus=SHOWN),
        model=expand("results/language/{corpus}/kneser-ney.parquet", corpus=SHOWN),
        filings="results/filings/documents.parquet",
        risk_curve="results/tables/circle_risk_curve.parquet",
        optimum="results/tables/circle_optimum.parquet",
        denoiser="results/tables/denoiser.parquet",
        smoother="results/tables/circle_smoother.parquet",
        census="results/tables/longlag_census_summary.parquet",
        grid_table="results/tables/grid.parquet",
        heldout_table="results/tables/heldout.parquet",
        published=config["published"],
    output:
        **published_tables(["laboratory"]),
        payload="results/lab/payload.json",
    log:
        "results/logs/payload.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("payload.py"),
        corpora=SHOWN,
        lowercase=config["corpora"][LABORATORY["text"]]["lowercase"],
        min_count=config["language"]["min_count"],
        speller_order=config["language"]["speller_order"],
        spectra=CIRCLE["spectra"],
        sigma=CIRCLE["sigma"],
        settings=LABORATORY,
        filings_corpus=config["filing_codes"]["article_corpus"],
        excerpt=config["filing_codes"]["excerpts"][0],
    script:
        "../scripts/payload.py"


rule library:
    """Vega, Vega-Lite and Vega-Embed as one script, out of the package that carries them."""
    output:
        library="results/lab/vega.js",
    log:
        "results/logs/library.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("library.py"),
    script:
        "../scripts/library.py"


rule laboratory:
    """The page: circle, lookup, census and the reader's own text, in one file that needs no network."""
    input:
        payload="results/lab/payload.json",
        template=f"{PAGE}/index.html.j2",
        style=f"{PAGE}/style.css",
        scripts=expand(f"{PAGE}/{{script}}.js", script=render.SCRIPTS),
        charts=expand(f"{PAGE}/charts/{{chart}}.json", chart=render.CHARTS),
        library="results/lab/vega.js",
    output:
        **published_tables(["harness"]),
        page="results/lab/index.html",
    log:
        "results/logs/laboratory.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("laboratory.py"),
    script:
        "../scripts/laboratory.py"
