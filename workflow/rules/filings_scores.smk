# The filings as a test of the models: what real 10-K text costs under them and under compressors.
#   needs   results/filings/documents.parquet, and the models of the language chapter
#   makes   the tables of code lengths and of what the cache copied
CODES = config["filing_codes"]
ARTICLE = CODES["article_corpus"]
GAIN = CODES["gain_corpora"]
POOL = CODES["pool"]
# The settings of the blend itself.
BLEND = [
    "order",
    "dimensions",
    "window",
    "skips",
    "beta",
    "context",
    "memory",
    "document",
    "rescaling",
    "rate",
]
FILING_TABLES = [
    "filings",
    "filings_shapes",
    "filings_ablation",
    "filings_coded",
    "filings_regret",
    "filings_growth",
    "filings_copied",
]
TABLES += [*FILING_TABLES, "filings_gain"]
FIGURES += ["filings"]
MATCHES = ["cold", "primed"]
TEXTS = ["normalised", "raw"]
# What the primed models were trained on, by name.
PRIMED_BY = Path(PRIMER["path"]).name if PRIMER else "other filings"


wildcard_constraints:
    training="|".join(MATCHES),
    text="|".join(TEXTS),
    scale="(_full)?",
    member="[0-9]+",


rule filings_network:
    """A recurrent network of the pool, trained on the text that primes; the members differ in their seeds alone."""
    input:
        primer=filing_primer,
    output:
        words="results/filings/network-{member}-words.parquet",
        cell="results/filings/network-{member}-cell.parquet",
    log:
        "results/logs/filings-network-{member}.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("filings_network.py"),
        settings=lambda wildcards: POOL["recurrent"],
        every=lambda wildcards: POOL["taught"]["every"],
        priming=filing_priming,
        packaged=packaged_primer,
        seed=config["seed"],
    script:
        "../scripts/filings_network.py"


rule filings_article:
    """Bits of every token of each excerpt under the article's models, trained on the synthetic corpus."""
    input:
        documents="results/filings/documents.parquet",
        tokens=f"results/corpora/{ARTICLE}/tokens.parquet",
        vectors=f"results/corpora/{ARTICLE}/vectors.parquet",
        model=f"results/language/{ARTICLE}/kneser-ney.parquet",
        grid=f"results/language/{ARTICLE}/grid.parquet",
        epochs=f"results/language/{ARTICLE}/epochs.parquet",
        kernel=f"results/language/{ARTICLE}/kernel.parquet",
    output:
        tokens="results/filings/article{scale}.parquet",
    log:
        "results/logs/filings-article{scale}.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("filings_article.py"),
        excerpts=filing_excerpts,
        min_count=LANGUAGE["min_count"],
        speller_order=LANGUAGE["speller_order"],
    script:
        "../scripts/filings_article.py"


rule filings_blend:
    """Each excerpt under the blend, token by token, and through a real encoder and decoder: cold, or primed."""
    input:
        documents="results/filings/documents.parquet",
        tokens=f"results/corpora/{ARTICLE}/tokens.parquet",
        primer=filing_primer,
        words=lambda wildcards: filing_networks(wildcards, "words"),
        cells=lambda wildcards: filing_networks(wildcards, "cell"),
    output:
        tokens="results/filings/blend-{training}-{text}{scale}.parquet",
        coded="results/filings/coded-{training}-{text}{scale}.parquet",
        regret="results/filings/regret-{training}-{text}{scale}.parquet",
    log:
        "results/logs/filings-blend-{training}-{text}{scale}.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("filings_blend.py"),
        settings=filing_settings,
        priming=filing_priming,
        packaged=packaged_primer,
        min_count=LANGUAGE["min_count"],
        seed=config["seed"],
    script:
        "../scripts/filings_blend.py"


rule filings_tables:
    """What each code takes for each excerpt, step by step and in bytes, and what the cache copied."""
    input:
        documents="results/filings/documents.parquet",
        article="results/filings/article{scale}.parquet",
        tokens=expand(
            "results/filings/blend-{training}-{text}{scale}.parquet",
            training=MATCHES,
            text=TEXTS,
            allow_missing=True,
        ),
        coded=expand(
            "results/filings/coded-{training}-{text}{scale}.parquet",
            training=MATCHES,
            text=TEXTS,
            allow_missing=True,
        ),
        regret=expand(
            "results/filings/regret-{training}-{text}{scale}.parquet",
            training=MATCHES,
            text=TEXTS,
            allow_missing=True,
        ),
        primer=filing_primer,
    output:
        **published_tables(FILING_TABLES, "{scale}"),
    log:
        "results/logs/filings-tables{scale}.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("filings_tables.py"),
        settings=filing_settings,
        priming=filing_priming,
        packaged=packaged_primer,
        training=[ARTICLE, PRIMED_BY],
    script:
        "../scripts/filings_tables.py"


rule filings_figures:
    """Bits per character along each document, for all codes."""
    input:
        documents="results/filings/documents.parquet",
        growth="results/tables/filings_growth.parquet",
    output:
        **figure_files(["filings"]),
    log:
        "results/logs/filings-figures.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("filings_figures.py"),
        cold=ARTICLE,
    script:
        "../scripts/filings_figures.py"


rule filings_gain:
    """What the blend gains over Kneser-Ney on real corpora, beside the kernel cache of one word of context."""
    input:
        tokens=expand("results/corpora/{corpus}/tokens.parquet", corpus=GAIN),
        scores=expand("results/language/{corpus}/scores-heldout.parquet", corpus=GAIN),
        grid=expand("results/language/{corpus}/grid.parquet", corpus=GAIN),
        epochs=expand("results/language/{corpus}/epochs.parquet", corpus=GAIN),
    output:
        **published_tables(["filings_gain"]),
    log:
        "results/logs/filings-gain.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("filings_gain.py"),
        settings={key: CODES[key] for key in BLEND},
        corpora=GAIN,
        min_count=LANGUAGE["min_count"],
    script:
        "../scripts/filings_gain.py"


rule filings_full:
    """Whole filings, every compressor primed, every step: minutes, and not part of `all`."""
    input:
        expand("results/tables/{table}_full.parquet", table=FILING_TABLES),
