# Shards: counting, training, scoring and evaluation, scattered over pieces of the corpus that are cut between documents,
# and gathered. Read only if config `shards` is above 1; every table is then the same to the bit. No job holds more of
# the corpus than a shard, but for the steps of the learned kernel, which follow one another over all training tokens,
# and the evaluation, which keeps a few numbers of each held-out one.
#   needs   results/corpora/{corpus}/tokens.parquet
#   makes   what language.smk makes of a corpus, in its stead
scattergather:
    documents=config["shards"],


ruleorder: kneser_ney_gathered > kneser_ney
ruleorder: caches_gathered > caches
ruleorder: scores_gathered > scores
ruleorder: grid_gathered > grid
ruleorder: pointer_gathered > pointer
ruleorder: evaluate_shards > evaluate


# What gensim trains, it trains on one text.
if LANGUAGE["vectors"]["method"] == "ppmi":

    ruleorder: vectors_gathered > vectors

else:

    ruleorder: vectors > vectors_gathered


rule split:
    """The corpus in shards, and how often training holds each word."""
    input:
        tokens="results/corpora/{corpus}/tokens.parquet",
    output:
        shards=scatter.documents(
            "results/shards/{{corpus}}/tokens-{scatteritem}.parquet"
        ),
        words="results/shards/{corpus}/words.parquet",
    log:
        "results/logs/split-{corpus}.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("split.py"),
    script:
        "../scripts/split.py"


rule shard_counts:
    """N-grams and co-occurrences of a shard's training documents."""
    input:
        tokens="results/shards/{corpus}/tokens-{scatteritem}.parquet",
        words="results/shards/{corpus}/words.parquet",
    output:
        ngrams="results/shards/{corpus}/ngrams-{scatteritem}.parquet",
        cooccurrences="results/shards/{corpus}/cooccurrences-{scatteritem}.parquet",
    log:
        "results/logs/shard-counts-{corpus}-{scatteritem}.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("shard_counts.py"),
        min_count=LANGUAGE["min_count"],
        order=LANGUAGE["kneser_ney"]["order"],
        window=LANGUAGE["vectors"]["window"],
    script:
        "../scripts/shard_counts.py"


rule kneser_ney_gathered:
    """Kneser-Ney from the counts of all shards."""
    input:
        ngrams=gather.documents(
            "results/shards/{{corpus}}/ngrams-{scatteritem}.parquet"
        ),
    output:
        model="results/language/{corpus}/kneser-ney.parquet",
    log:
        "results/logs/kneser-ney-{corpus}.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("kneser_ney_gathered.py"),
        settings=LANGUAGE["kneser_ney"],
    script:
        "../scripts/kneser_ney_gathered.py"


rule vectors_gathered:
    """Word vectors from the co-occurrences of all shards."""
    input:
        cooccurrences=gather.documents(
            "results/shards/{{corpus}}/cooccurrences-{scatteritem}.parquet"
        ),
        words="results/shards/{corpus}/words.parquet",
    output:
        vectors="results/corpora/{corpus}/vectors.parquet",
        twins="results/language/{corpus}/twins.parquet",
    log:
        "results/logs/vectors-{corpus}.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("vectors_gathered.py"),
        min_count=LANGUAGE["min_count"],
        settings=LANGUAGE["vectors"],
    script:
        "../scripts/vectors_gathered.py"


use rule caches as caches_shard with:
    input:
        tokens="results/shards/{corpus}/tokens-{scatteritem}.parquet",
        words="results/shards/{corpus}/words.parquet",
        vectors="results/corpora/{corpus}/vectors.parquet",
        model="results/language/{corpus}/kneser-ney.parquet",
    output:
        dev="results/shards/{corpus}/caches-dev-{scatteritem}.parquet",
        heldout="results/shards/{corpus}/caches-heldout-{scatteritem}.parquet",
    log:
        "results/logs/caches-{corpus}-{scatteritem}.log",


rule caches_gathered:
    """The shards' caches, one after another."""
    input:
        dev=gather.documents(
            "results/shards/{{corpus}}/caches-dev-{scatteritem}.parquet"
        ),
        heldout=gather.documents(
            "results/shards/{{corpus}}/caches-heldout-{scatteritem}.parquet"
        ),
    output:
        dev="results/language/{corpus}/caches-dev.parquet",
        heldout="results/language/{corpus}/caches-heldout.parquet",
    log:
        "results/logs/caches-{corpus}.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("gather.py"),
    script:
        "../scripts/gather.py"


rule grid_shard:
    """What each mixture of the grid loses on each document of a shard."""
    input:
        tokens="results/shards/{corpus}/tokens-{scatteritem}.parquet",
        words="results/shards/{corpus}/words.parquet",
        dev="results/shards/{corpus}/caches-dev-{scatteritem}.parquet",
        heldout="results/shards/{corpus}/caches-heldout-{scatteritem}.parquet",
    output:
        dev="results/shards/{corpus}/grid-dev-{scatteritem}.parquet",
        heldout="results/shards/{corpus}/grid-heldout-{scatteritem}.parquet",
    log:
        "results/logs/grid-{corpus}-{scatteritem}.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("grid_shard.py"),
        min_count=LANGUAGE["min_count"],
        lambdas=LANGUAGE["lambdas"],
    script:
        "../scripts/grid_shard.py"


rule grid_gathered:
    """Lambda chosen at every beta, and beta, on the development documents of all shards."""
    input:
        dev=gather.documents("results/shards/{{corpus}}/grid-dev-{scatteritem}.parquet"),
        heldout=gather.documents(
            "results/shards/{{corpus}}/grid-heldout-{scatteritem}.parquet"
        ),
    output:
        grid="results/language/{corpus}/grid.parquet",
    log:
        "results/logs/grid-{corpus}.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("grid_gathered.py"),
        betas=LANGUAGE["cache"]["betas"],
        lambdas=LANGUAGE["lambdas"],
    script:
        "../scripts/grid_gathered.py"


rule pointer_steps:
    """The learned kernel at the end of each epoch, from the training documents of all shards."""
    input:
        tokens=gather.documents(
            "results/shards/{{corpus}}/tokens-{scatteritem}.parquet"
        ),
        words="results/shards/{corpus}/words.parquet",
        vectors="results/corpora/{corpus}/vectors.parquet",
        grid="results/language/{corpus}/grid.parquet",
    output:
        history="results/shards/{corpus}/kernels.parquet",
    log:
        "results/logs/pointer-steps-{corpus}.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("pointer_steps.py"),
        min_count=LANGUAGE["min_count"],
        settings=LANGUAGE["pointer"],
        seed=config["seed"],
    script:
        "../scripts/pointer_steps.py"


rule pointer_shard:
    """What the kernel of each epoch loses on a shard's training and development documents."""
    input:
        tokens="results/shards/{corpus}/tokens-{scatteritem}.parquet",
        words="results/shards/{corpus}/words.parquet",
        vectors="results/corpora/{corpus}/vectors.parquet",
        history="results/shards/{corpus}/kernels.parquet",
        caches="results/shards/{corpus}/caches-dev-{scatteritem}.parquet",
    output:
        train="results/shards/{corpus}/pointer-train-{scatteritem}.parquet",
        dev="results/shards/{corpus}/pointer-dev-{scatteritem}.parquet",
        mixtures="results/shards/{corpus}/pointer-mixtures-{scatteritem}.parquet",
    log:
        "results/logs/pointer-{corpus}-{scatteritem}.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("pointer_shard.py"),
        min_count=LANGUAGE["min_count"],
        lambdas=LANGUAGE["lambdas"],
        settings=LANGUAGE["pointer"],
    script:
        "../scripts/pointer_shard.py"


rule pointer_gathered:
    """The learned kernel: its epoch and lambda chosen on the development documents of all shards."""
    input:
        history="results/shards/{corpus}/kernels.parquet",
        train=gather.documents(
            "results/shards/{{corpus}}/pointer-train-{scatteritem}.parquet"
        ),
        dev=gather.documents(
            "results/shards/{{corpus}}/pointer-dev-{scatteritem}.parquet"
        ),
        mixtures=gather.documents(
            "results/shards/{{corpus}}/pointer-mixtures-{scatteritem}.parquet"
        ),
    output:
        kernel="results/language/{corpus}/kernel.parquet",
        epochs="results/language/{corpus}/epochs.parquet",
    log:
        "results/logs/pointer-{corpus}.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("pointer_gathered.py"),
        lambdas=LANGUAGE["lambdas"],
    script:
        "../scripts/pointer_gathered.py"


use rule scores as scores_shard with:
    input:
        tokens="results/shards/{corpus}/tokens-{scatteritem}.parquet",
        words="results/shards/{corpus}/words.parquet",
        vectors="results/corpora/{corpus}/vectors.parquet",
        kernel="results/language/{corpus}/kernel.parquet",
        dev="results/shards/{corpus}/caches-dev-{scatteritem}.parquet",
        heldout="results/shards/{corpus}/caches-heldout-{scatteritem}.parquet",
    output:
        dev="results/shards/{corpus}/scores-dev-{scatteritem}.parquet",
        heldout="results/shards/{corpus}/scores-heldout-{scatteritem}.parquet",
    log:
        "results/logs/scores-{corpus}-{scatteritem}.log",


rule scores_gathered:
    """The shards' scores, one after another."""
    input:
        dev=gather.documents(
            "results/shards/{{corpus}}/scores-dev-{scatteritem}.parquet"
        ),
        heldout=gather.documents(
            "results/shards/{{corpus}}/scores-heldout-{scatteritem}.parquet"
        ),
    output:
        dev="results/language/{corpus}/scores-dev.parquet",
        heldout="results/language/{corpus}/scores-heldout.parquet",
    log:
        "results/logs/scores-{corpus}.log",
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("gather.py"),
    script:
        "../scripts/gather.py"


use rule evaluate as evaluate_shards with:
    input:
        tokens=gather.documents(
            "results/shards/{{corpus}}/tokens-{scatteritem}.parquet"
        ),
        words="results/shards/{corpus}/words.parquet",
        grid="results/language/{corpus}/grid.parquet",
        epochs="results/language/{corpus}/epochs.parquet",
        scores=gather.documents(
            "results/shards/{{corpus}}/scores-heldout-{scatteritem}.parquet"
        ),
