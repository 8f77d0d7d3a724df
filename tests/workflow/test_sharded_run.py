"""The language chapter at toy size over shards gives the tables of the whole, to the bit."""

from attnkernel import table


def contents(project):
    folder = project.folder / "results"
    names = [*folder.glob("language/*/*.parquet"), *folder.glob("corpora/*/*.parquet")]
    return {str(path.relative_to(folder)): table.origin(path)["content"] for path in names}


def test_sharded_results_are_identical_to_unsharded_ones(project):
    whole = contents(project)
    assert "language/lee/scores-heldout.parquet" in whole
    project.edit("config/config.yaml", "\nshards: 1\n", "\nshards: 3\n")
    # One corpus stands for all; evaluation reads the shards, so the gathered scores are asked for by name.
    done = project.snakemake("--", *(f"results/language/lee/{name}.parquet" for name in ("heldout", "scores-heldout")))
    ran = done.stdout + done.stderr
    scattered = ("split", "shard_counts", "caches_shard", "grid_shard", "pointer_shard", "scores_gathered")
    assert all(f"rule {rule}:" in ran for rule in (*scattered, "evaluate_shards"))
    assert len(list((project.folder / "results" / "shards" / "lee").glob("ngrams-*-of-3.parquet"))) == 3
    assert contents(project) == whole
