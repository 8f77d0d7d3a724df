from __future__ import annotations

import numpy as np

from attnkernel.longlag import census, lyapunov, training
from attnkernel.longlag.models import FRESH, families
from attnkernel.longlag.task import Sizes, draw_sequences, streams

ARTICLE = Sizes(noise_symbols=8, dimension=16, hidden=16, embedding_sd=0.5)
BIASES = {"lstm_fb1": 1.0}
SEED = np.random.SeedSequence(3)


def test_attention_is_diluted_and_elman_decays() -> None:
    draws = census.census_draws(ARTICLE, BIASES, lags=(10, 480), replicas=4, batch=32, seed=SEED)
    summary = census.census_summary(draws, BIASES)
    diluted = summary["median_times_positions"][summary["model"] == "attention"]
    assert diluted.max() <= 3.0 * diluted.min()
    elman = summary["log10_median"][summary["model"] == "elman"]
    assert elman[0] - elman[1] >= 20.0


def test_exponents_estimated_apart_predict_the_slope_of_the_typical_sequence() -> None:
    draws = census.census_draws(ARTICLE, BIASES, lags=(60, 120, 240), replicas=3, batch=32, seed=SEED)
    table = lyapunov.lyapunov_table(draws, ARTICLE, BIASES, length=600, warmup=60, sequences=8, from_lag=60, seed=SEED)
    np.testing.assert_allclose(table["typical_slope"], table["predicted_slope"], atol=0.01)
    # An average is never below the typical sequence, and falls more slowly where sequences differ.
    assert (table["census_slope"] > table["typical_slope"] - 1e-3).all()


def test_attention_trained_at_lag_60_answers_at_lag_600() -> None:
    family = families(BIASES, 1)[0]
    schedule = training.Schedule(lag=60, steps=600, batch=64, step_size=0.01)
    weights, losses = training.train_family(family, ARTICLE, schedule, [SEED])
    assert losses[-1, 0] < 1e-4 < losses[0, 0]
    accuracy, _ = training.evaluate(
        family.model, weights, draw_sequences(streams([SEED], FRESH), 600, 2000, ARTICLE.noise_symbols)
    )
    assert accuracy == 1.0
