# Corpora: from files to one long table of tokens.
#   needs   the files that config `corpora` names
#   makes   results/corpora/{corpus}/tokens.parquet, card.parquet


rule tokens:
    """One long table of tokens: split, document, sentence, position, token; and the corpus card."""
    input:
        files=corpus_files,
    output:
        tokens="results/corpora/{corpus}/tokens.parquet",
        card="results/corpora/{corpus}/card.parquet",
    log:
        "results/logs/tokens-{corpus}.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("tokens.py"),
        settings=corpus_settings,
        splits=config["splits"],
        min_count=config["language"]["min_count"],
    script:
        "../scripts/tokens.py"
