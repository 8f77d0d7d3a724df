# Attention over a document: what a kernel over a document's own earlier words adds to Kneser-Ney.
#   needs   results/corpora/{corpus}/tokens.parquet
#   makes   word vectors, Kneser-Ney, the probability of every token under every model, the development grid, and the
#           tables and figures of the chapter, in which every corpus has its rows
CHAPTER = "Attention over a document"
LANGUAGE = config["language"]
LANGUAGE_TABLES = [
    "corpora",
    "twins",
    "grid",
    "heldout",
    "distance",
    "epochs",
    "learned",
    "shapes",
]
TABLES += [*LANGUAGE_TABLES, "worth"]
LANGUAGE_FIGURES = ["bandwidth", "distance", "epochs"]
FIGURES += ["worth"]
FIGURES += expand("{figure}-{corpus}", figure=LANGUAGE_FIGURES, corpus=CORPORA)


rule vectors:
    """Word vectors of the training documents, and the words that no vector tells apart."""
    input:
        tokens="results/corpora/{corpus}/tokens.parquet",
    output:
        vectors="results/corpora/{corpus}/vectors.parquet",
        twins="results/language/{corpus}/twins.parquet",
    log:
        "results/logs/vectors-{corpus}.log",
    priority: 2
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("vectors.py"),
        min_count=LANGUAGE["min_count"],
        settings=LANGUAGE["vectors"],
        seed=config["seed"],
    script:
        "../scripts/vectors.py"


rule kneser_ney:
    """Interpolated Kneser-Ney over the sentences of the training documents."""
    input:
        tokens="results/corpora/{corpus}/tokens.parquet",
    output:
        model="results/language/{corpus}/kneser-ney.parquet",
    log:
        "results/logs/kneser-ney-{corpus}.log",
    priority: 2
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("kneser_ney.py"),
        min_count=LANGUAGE["min_count"],
        settings=LANGUAGE["kneser_ney"],
    script:
        "../scripts/kneser_ney.py"


rule caches:
    """Probability of every development and held-out token under Kneser-Ney and under the cache at every beta."""
    input:
        tokens="results/corpora/{corpus}/tokens.parquet",
        vectors="results/corpora/{corpus}/vectors.parquet",
        model="results/language/{corpus}/kneser-ney.parquet",
    output:
        dev="results/language/{corpus}/caches-dev.parquet",
        heldout="results/language/{corpus}/caches-heldout.parquet",
    log:
        "results/logs/caches-{corpus}.log",
    priority: 2
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("caches.py"),
        min_count=LANGUAGE["min_count"],
        betas=LANGUAGE["cache"]["betas"],
    script:
        "../scripts/caches.py"


rule grid:
    """Lambda chosen at every beta, and beta, on development documents; losses on both splits."""
    input:
        tokens="results/corpora/{corpus}/tokens.parquet",
        dev="results/language/{corpus}/caches-dev.parquet",
        heldout="results/language/{corpus}/caches-heldout.parquet",
    output:
        grid="results/language/{corpus}/grid.parquet",
    log:
        "results/logs/grid-{corpus}.log",
    priority: 2
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("grid.py"),
        min_count=LANGUAGE["min_count"],
        lambdas=LANGUAGE["lambdas"],
    script:
        "../scripts/grid.py"


rule pointer:
    """The learned kernel: trained on training documents, its epoch and lambda chosen on development ones."""
    input:
        tokens="results/corpora/{corpus}/tokens.parquet",
        vectors="results/corpora/{corpus}/vectors.parquet",
        grid="results/language/{corpus}/grid.parquet",
        dev="results/language/{corpus}/caches-dev.parquet",
    output:
        kernel="results/language/{corpus}/kernel.parquet",
        epochs="results/language/{corpus}/epochs.parquet",
    log:
        "results/logs/pointer-{corpus}.log",
    priority: 2
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("pointer.py"),
        min_count=LANGUAGE["min_count"],
        lambdas=LANGUAGE["lambdas"],
        settings=LANGUAGE["pointer"],
        seed=config["seed"],
    script:
        "../scripts/pointer.py"


rule scores:
    """Every development and held-out token under every model: Kneser-Ney, each cache, the learned kernel."""
    input:
        tokens="results/corpora/{corpus}/tokens.parquet",
        vectors="results/corpora/{corpus}/vectors.parquet",
        kernel="results/language/{corpus}/kernel.parquet",
        dev="results/language/{corpus}/caches-dev.parquet",
        heldout="results/language/{corpus}/caches-heldout.parquet",
    output:
        dev="results/language/{corpus}/scores-dev.parquet",
        heldout="results/language/{corpus}/scores-heldout.parquet",
    log:
        "results/logs/scores-{corpus}.log",
    priority: 2
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("scores.py"),
        min_count=LANGUAGE["min_count"],
    script:
        "../scripts/scores.py"


rule evaluate:
    """Held-out losses, gains and distances with clustered standard errors."""
    input:
        tokens="results/corpora/{corpus}/tokens.parquet",
        grid="results/language/{corpus}/grid.parquet",
        epochs="results/language/{corpus}/epochs.parquet",
        scores="results/language/{corpus}/scores-heldout.parquet",
    output:
        heldout="results/language/{corpus}/heldout.parquet",
        distance="results/language/{corpus}/distance.parquet",
        learned="results/language/{corpus}/learned.parquet",
        shapes="results/language/{corpus}/shapes.parquet",
    log:
        "results/logs/evaluate-{corpus}.log",
    priority: 2
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("evaluate.py"),
        min_count=LANGUAGE["min_count"],
        speller_order=LANGUAGE["speller_order"],
        edges=LANGUAGE["distance_edges"],
    script:
        "../scripts/evaluate.py"


rule language_tables:
    """The chapter's tables, each corpus stacked under the last."""
    input:
        corpora=expand("results/corpora/{corpus}/card.parquet", corpus=CORPORA),
        grid=expand("results/language/{corpus}/grid.parquet", corpus=CORPORA),
        heldout=expand("results/language/{corpus}/heldout.parquet", corpus=CORPORA),
        distance=expand("results/language/{corpus}/distance.parquet", corpus=CORPORA),
        twins=expand("results/language/{corpus}/twins.parquet", corpus=CORPORA),
        epochs=expand("results/language/{corpus}/epochs.parquet", corpus=CORPORA),
        learned=expand("results/language/{corpus}/learned.parquet", corpus=CORPORA),
        shapes=expand("results/language/{corpus}/shapes.parquet", corpus=CORPORA),
    output:
        **published_tables(LANGUAGE_TABLES),
    log:
        "results/logs/language-tables.log",
    priority: 2
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("stack.py"),
        corpora=CORPORA,
    script:
        "../scripts/stack.py"


rule worth:
    """What is a cache worth? One row a corpus, and its figure."""
    input:
        card=expand("results/corpora/{corpus}/card.parquet", corpus=CORPORA),
        grid=expand("results/language/{corpus}/grid.parquet", corpus=CORPORA),
        heldout=expand("results/language/{corpus}/heldout.parquet", corpus=CORPORA),
    output:
        **published_tables(["worth"]),
        figure=reported("figure", "worth", "results/figures/worth.svg"),
        figure_png="results/figures/worth.png",
    log:
        "results/logs/worth.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("worth.py"),
        corpora=CORPORA,
    script:
        "../scripts/worth.py"


rule language_figures:
    """Losses over the bandwidth, the gain by distance to the previous mention, and the learned kernel's epochs."""
    input:
        grid="results/language/{corpus}/grid.parquet",
        heldout="results/language/{corpus}/heldout.parquet",
        distance="results/language/{corpus}/distance.parquet",
        epochs="results/language/{corpus}/epochs.parquet",
    output:
        **figure_files(LANGUAGE_FIGURES, "-{corpus}"),
    log:
        "results/logs/language-figures-{corpus}.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("language_figures.py"),
    script:
        "../scripts/language_figures.py"
