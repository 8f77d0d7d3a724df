# Corpora: from files to one long table of tokens.
#   needs   the files that config `corpora` names; the synthetic corpus is generated
#   makes   results/corpora/{corpus}/tokens.parquet, card.parquet; results/corpora/synthetic/documents.parquet


rule synthetic:
    """The article's kind of corpus, generated from the seed; it is then read like any other."""
    output:
        documents="results/corpora/synthetic/documents.parquet",
    log:
        "results/logs/synthetic.log",
    priority: 2
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("synthetic.py"),
        settings=config["synthetic"],
        seed=config["seed"],
    script:
        "../scripts/synthetic.py"


rule tokens:
    """One long table of tokens: split, document, sentence, position, token; and the corpus card."""
    input:
        files=corpus_files,
    output:
        tokens="results/corpora/{corpus}/tokens.parquet",
        card="results/corpora/{corpus}/card.parquet",
    log:
        "results/logs/tokens-{corpus}.log",
    priority: 2
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("tokens.py"),
        settings=corpus_settings,
        packaged=packaged_files,
        splits=config["splits"],
        min_count=config["language"]["min_count"],
    script:
        "../scripts/tokens.py"
