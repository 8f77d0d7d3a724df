import numpy as np

from attnkernel.figures import language as figures
from attnkernel.language import worth
from attnkernel.language.worth import Measured


def measured(gain, betas=(0.0, 2.0, np.inf), clusters=16):
    models = ["kn", "mixture", "unigram cache", "bigram cache", "learned"]
    rows = [(group, model) for group in ("all", "in vocabulary") for model in models]
    if np.inf not in betas:
        rows = [row for row in rows if row[1] != "bigram cache"]
    gains = {"kn": 0.0, "mixture": gain, "unigram cache": gain / 2, "bigram cache": gain / 4, "learned": gain + 0.01}
    heldout = {
        "group": np.array([group for group, _ in rows], dtype=object),
        "model": np.array([model for _, model in rows], dtype=object),
        "gain": np.array([gains[model] * (1.0 if group == "all" else 0.1) for group, model in rows]),
    }
    heldout |= {"loss": 5.0 - heldout["gain"], "gain_se": np.full(len(rows), 0.01)}
    heldout["clusters"] = np.full(len(rows), clusters)
    card = {
        "split": np.array(["train", "dev", "heldout"], dtype=object),
        "documents": np.array([70, 15, 16]),
        "tokens": np.array([7000, 1500, 1600]),
        "repeat_share": np.array([0.3, 0.35, 0.4]),
        "unknown_rate": np.array([0.0, 0.1, 0.2]),
    }
    chosen = np.arange(len(betas)) == 1
    grid = {"beta": np.array(betas), "lambda": np.full(len(betas), 0.9), "chosen": chosen}
    return Measured(card, grid, heldout)


def test_one_row_a_corpus_the_most_valuable_kernel_first():
    table = worth.worth_table({"a": measured(0.1), "b": measured(0.3)})
    assert table["corpus"].tolist() == ["b", "a"]
    assert table["documents"].tolist() == [101, 101]
    assert table["heldout_tokens"].tolist() == [1600, 1600]
    assert table["repeat_share"].tolist() == [0.4, 0.4]
    assert table["kernel_gain"].tolist() == [0.3, 0.1]
    np.testing.assert_allclose(table["kn"] - table["kernel"], table["kernel_gain"])
    np.testing.assert_allclose(table["known_kernel_gain"], [0.03, 0.01])
    assert table["beta"].tolist() == [2.0, 2.0]


def test_a_model_that_the_grid_leaves_out_is_missing_and_no_obstacle():
    table = worth.worth_table({"a": measured(0.1, (0.0, 2.0))})
    assert np.isnan(table["bigram_gain"]).all()
    assert "–" in worth.markdown(table).splitlines()[2]
    assert figures.worth(table) is not None


def test_the_rendered_table_has_a_line_a_corpus_and_as_many_cells_everywhere():
    lines = worth.markdown(worth.worth_table({"a": measured(0.1), "b": measured(0.3)})).splitlines()
    assert len(lines) == 4
    assert len({line.count("|") for line in lines}) == 1
    assert "0.300 ± 0.010" in lines[2]


def test_groups_that_errors_are_clustered_by_are_said():
    lines = worth.markdown(worth.worth_table({"a": measured(0.2), "b": measured(0.1, clusters=4)})).splitlines()
    assert "| 101 (16) |" in lines[2]
    assert "| 101 (16 in 4 groups) |" in lines[3]
