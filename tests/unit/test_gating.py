"""The pool's network: with even weights a geometric mean, and taught to trust who is right."""

import numpy as np
import pytest

from attnkernel.language import gating

SETTINGS = {"width": 4, "epochs": 30, "step": 0.02, "batch": 64}


def test_without_a_hidden_layer_the_pool_is_a_normalised_geometric_mean():
    odds = np.array([[0.4, -1.3]])
    parameters = {
        "w": np.array([0.5, 0.5]), "G": np.zeros((1, 2)), "v": np.zeros(1),
        "C": np.zeros((2, 1)), "A": np.zeros((1, 1)), "b": np.zeros((1, 1)),
    }  # fmt: skip
    found = gating.log_odds([parameters], odds, np.zeros((1, 1)), np.array([0]))[0]
    above = 1.0 / (1.0 + np.exp(-odds[0]))
    up, down = np.sqrt(above).prod(), np.sqrt(1.0 - above).prod()
    assert 1.0 / (1.0 + np.exp(-found)) == pytest.approx(up / (up + down))


def test_training_learns_which_expert_to_trust_where():
    rng = np.random.default_rng(3)
    outcome = rng.integers(2, size=2000).astype(np.float32)
    truth = 2.0 * outcome - 1.0
    where = rng.integers(2, size=2000)
    inputs = np.stack([np.where(where == k, truth, -truth) for k in (0, 1)], axis=1).astype(np.float32)
    known, node = where[:, None].astype(np.float32), np.zeros(2000, dtype=np.int64)
    taught = gating.train(inputs, known, node, outcome, 1, SETTINGS, np.random.SeedSequence(1))
    assert gating.loss(taught, inputs, known, node, outcome)[0] < 0.05


def test_several_networks_are_averaged_and_differ():
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((300, 2)), rng.standard_normal((300, 1)), rng.integers(2, size=300)
    outcome = rng.integers(2, size=300)
    taught = [gating.train(*rows, outcome, 2, SETTINGS, seed) for seed in np.random.SeedSequence(1).spawn(2)]
    one, other = (gating.log_odds([each], *rows) for each in taught)
    assert np.abs(one - other).max() > 1e-3
    assert gating.log_odds(taught, *rows) == pytest.approx((one + other) / 2.0, rel=1e-5)


def test_many_rows_are_computed_as_few_are(monkeypatch):
    rng = np.random.default_rng(0)
    inputs, known, node = rng.standard_normal((50, 2)), rng.standard_normal((50, 1)), rng.integers(3, size=50)
    parameters = {
        "w": rng.standard_normal(2), "G": rng.standard_normal((3, 2)), "v": rng.standard_normal(3),
        "C": rng.standard_normal((2, 3)), "A": rng.standard_normal((1, 3)), "b": rng.standard_normal((3, 3)),
    }  # fmt: skip
    whole = gating.log_odds([parameters], inputs, known, node)
    monkeypatch.setattr(gating, "_BLOCK", 7)
    assert gating.log_odds([parameters], inputs, known, node) == pytest.approx(whole)
