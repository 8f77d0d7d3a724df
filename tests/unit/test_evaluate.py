"""Losses: the ratio estimator, the grid, where gains arise, and bits per character."""

import warnings

import numpy as np
import pytest

from attnkernel.language.evaluate import (
    Origin,
    Sums,
    beta_grid,
    bits_per_unit,
    characters,
    distance_groups,
    group_losses,
    lambda_grid,
    losses,
    mentions,
    mixture_sums,
    paired_gains,
    ratio_mean,
)

RNG = np.random.default_rng(0)
DOCUMENT = np.repeat(np.arange(12), RNG.integers(5, 40, size=12))
TOKENS = len(DOCUMENT)
ORIGIN = Origin(DOCUMENT, DOCUMENT)


def test_a_clustered_mean_and_its_standard_error_by_hand():
    nats = np.array([1, 0, 6, 0, 0, 4, 0, 0, 0, 0], dtype=float)
    estimate = ratio_mean(nats, np.repeat([0, 1, 2], [2, 3, 5]))
    assert estimate.mean == pytest.approx(1.1)
    assert estimate.se == pytest.approx(0.4058324778, abs=1e-10)
    assert (estimate.tokens, estimate.clusters, estimate.reason) == (10, 3, "")


def test_documents_of_equal_length_give_the_textbook_standard_error():
    values = RNG.normal(size=(9, 7))
    estimate = ratio_mean(values.ravel(), np.repeat(np.arange(9), 7))
    assert estimate.se == pytest.approx(values.mean(axis=1).std(ddof=1) / 3)


def test_the_standard_error_agrees_with_a_clustered_regression():
    sm = pytest.importorskip("statsmodels.api")
    values = RNG.normal(size=TOKENS) + DOCUMENT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # none of ours: statsmodels warns about its own dependencies
        fit = sm.OLS(values, np.ones(TOKENS)).fit(
            cov_type="cluster", cov_kwds={"groups": DOCUMENT, "use_correction": True, "df_correction": True}
        )
    # statsmodels also corrects by (n - 1) / (n - k), which is 1 for a mean.
    estimate = ratio_mean(values, DOCUMENT)
    assert estimate.mean == pytest.approx(fit.params[0])
    assert estimate.se == pytest.approx(fit.bse[0])


def test_one_document_has_no_standard_error_and_says_so():
    estimate = ratio_mean(np.array([1.0, 2.0]), np.array([4, 4]))
    assert estimate.mean == 1.5
    assert np.isnan(estimate.se)
    assert "one document" in estimate.reason


def test_no_tokens_have_no_mean_and_say_so():
    estimate = ratio_mean(np.array([]), np.array([], dtype=np.int64))
    assert np.isnan(estimate.mean)
    assert np.isnan(estimate.se)
    assert estimate.reason


def test_lambdas_include_both_ends_and_are_their_decimals():
    lambdas = lambda_grid(0.50, 0.99, 0.01)
    assert (len(lambdas), lambdas[0], lambdas[-1], lambdas[7]) == (50, 0.5, 0.99, 0.57)


def example_scores(seed):
    rng = np.random.default_rng(seed)
    kneser_ney, caches = rng.uniform(0.01, 1.0, size=TOKENS), rng.uniform(0.0, 1.0, size=(3, TOKENS))
    first = np.flatnonzero(np.diff(DOCUMENT, prepend=-1))
    caches[:, first] = caches[:, first + 1] = np.nan
    return kneser_ney, caches, DOCUMENT


def example_sums(seed, lambdas):
    kneser_ney, caches, document = example_scores(seed)
    return mixture_sums(kneser_ney, caches, lambdas, document)


def test_sums_of_shards_are_those_of_the_whole_to_the_bit():
    kneser_ney, caches, document = example_scores(1)
    lambdas, cut = np.array([0.5, 0.9]), int(np.flatnonzero(np.diff(DOCUMENT))[1]) + 1
    parts = [
        mixture_sums(kneser_ney[part], caches[:, part], lambdas, document[part])
        for part in (slice(0, cut), slice(cut, cut), slice(cut, None))
    ]
    together = Sums.gathered([part.columns() for part in parts], 2)[:2]
    for ours, whole in zip(together, example_sums(1, lambdas)[:2], strict=True):
        np.testing.assert_array_equal(ours, whole)


def test_the_errors_of_a_grid_are_clustered_over_shards_too():
    kneser_ney, caches, document = example_scores(1)
    lambdas, names = np.array([0.5]), np.array([f"company {code // 2}" for code in range(12)], dtype=object)
    whole = mixture_sums(kneser_ney, caches, lambdas, document)._replace(cluster=names)
    parts = [{name: column[part] for name, column in whole.columns().items()} for part in (slice(0, 5), slice(5, None))]
    for sums in (whole, Sums.gathered(parts, 1)):
        table = beta_grid((0, 1, np.inf), lambdas, sums, sums)
        mixed = losses(np.where(np.isnan(caches[2]), kneser_ney, 0.5 * kneser_ney + 0.5 * caches[2]))
        assert table["heldout_se"][2] == pytest.approx(ratio_mean(mixed, document // 2).se)


def test_the_grid_is_the_loss_of_each_mixture():
    kneser_ney, caches, _ = example_scores(1)
    grid = mixture_sums(kneser_ney, caches, np.array([0.5, 0.9]), DOCUMENT).means()
    mixed = np.where(np.isnan(caches[2]), kneser_ney, 0.9 * kneser_ney + 0.1 * caches[2])
    assert grid.shape == (3, 2)
    assert grid[2, 1] == pytest.approx(-np.log(mixed).mean())


def test_development_alone_chooses():
    lambdas = lambda_grid(0.5, 0.9, 0.1)
    dev, heldout, another = (example_sums(seed, lambdas) for seed in (2, 3, 4))
    table = beta_grid((0, 1, np.inf), lambdas, dev, heldout)
    other = beta_grid((0, 1, np.inf), lambdas, dev, another)
    grid = dev.means()
    np.testing.assert_allclose(table["dev"], grid.min(axis=1))
    np.testing.assert_array_equal(table["lambda"], lambdas[grid.argmin(axis=1)])
    assert table["chosen"].tolist() == (np.arange(3) == grid.min(axis=1).argmin()).tolist()
    for column in ("lambda", "dev", "dev_se", "chosen"):
        np.testing.assert_array_equal(table[column], other[column])


def test_a_previous_mention_is_the_nearest_one_in_the_same_document():
    token = np.array([5, 6, 5, 5, 5, 6])
    found = mentions(token, np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 0, 0]))
    assert found.distance.tolist() == [0, 0, 2, 1, 0, 0]
    assert found.earlier_sentence.tolist() == [False, False, False, True, False, False]
    assert found.repeat.tolist() == [False, False, True, True, False, False]


def test_distances_fall_into_the_published_bins():
    groups = distance_groups(np.array([0, 1, 12, 13, 50, 51, 900]), (12, 50))
    assert {name: mask.nonzero()[0].tolist() for name, mask in groups.items()} == {
        "1-12": [1, 2],
        "13-50": [3, 4],
        "51+": [5, 6],
    }


def test_group_losses_add_up_and_name_what_is_missing():
    loss = RNG.uniform(1.0, 5.0, size=TOKENS)
    known = RNG.random(TOKENS) < 0.8
    groups = {"all": np.ones(TOKENS, bool), "known": known, "unknown": ~known, "none": np.zeros(TOKENS, bool)}
    table = group_losses({"kn": loss, "mix": loss - 0.1}, ORIGIN, groups)
    assert table["group"].tolist() == ["all", "all", "known", "known", "unknown", "unknown", "none", "none"]
    np.testing.assert_allclose(
        table["tokens"][2] * table["loss"][2] + table["tokens"][4] * table["loss"][4], loss.sum()
    )
    np.testing.assert_allclose(table["share"][[0, 2, 4]], [1.0, known.mean(), 1 - known.mean()])
    np.testing.assert_allclose(table["perplexity"][:2], np.exp([loss.mean(), loss.mean() - 0.1]))
    assert np.isnan(table["loss"][-1])
    assert table["reason"][-1]


def test_a_paired_gain_is_surer_than_the_difference_of_two_means():
    before = RNG.normal(size=TOKENS) + DOCUMENT
    after = before - 0.1 + 0.01 * RNG.normal(size=TOKENS)
    everything = {"all": np.ones(TOKENS, bool)}
    gains = paired_gains(before, after, ORIGIN, everything)
    assert gains["gain"][0] == pytest.approx(gains["before"][0] - gains["after"][0])
    assert gains["se"][0] < ratio_mean(before, DOCUMENT).se / 100
    assert gains["z"][0] == pytest.approx(gains["gain"][0] / gains["se"][0])
    assert gains["part"][0] == 1.0


def test_errors_are_clustered_by_group_and_documents_are_still_counted():
    loss = RNG.normal(size=TOKENS) + DOCUMENT
    cluster = DOCUMENT // 2
    table = group_losses({"kn": loss}, Origin(DOCUMENT, cluster), {"all": np.ones(TOKENS, bool)})
    assert table["documents"][0] == len(np.unique(DOCUMENT))
    assert table["clusters"][0] == len(np.unique(cluster)) < table["documents"][0]
    groups = len(np.unique(cluster))
    residual = loss - loss.mean()
    sums = np.array([residual[cluster == code].sum() for code in np.unique(cluster)])
    assert table["se"][0] == pytest.approx(np.sqrt(groups / (groups - 1) * (sums**2).sum()) / TOKENS)
    assert table["se"][0] != pytest.approx(ratio_mean(loss, DOCUMENT).se)


def test_an_impossible_token_costs_infinity_without_a_warning():
    assert losses(np.array([1.0, 0.0])).tolist() == [0.0, np.inf]


def test_characters_are_code_points_in_normal_form_c_and_a_separator():
    assert characters(["naïve", "nai\u0308ve", "</s>", "a"]).tolist() == [6.0, 6.0, 1.0, 2.0]


def test_bits_per_character_and_per_byte_divide_by_what_they_name():
    nats, document = np.array([13.8629436]), np.array([0])
    text = "naïve café"
    assert bits_per_unit(nats, document, np.array([len(text)])).mean == pytest.approx(2.0, abs=1e-6)
    per_byte = bits_per_unit(nats, document, np.array([len(text.encode())])).mean
    assert per_byte == pytest.approx(1.6667, abs=1e-4)
