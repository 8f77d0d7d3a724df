"""The table of gradients: all hold, and one that is wrong would not."""

import numpy as np
import pytest

from attnkernel import denoiser
from attnkernel.gradient_checks import gradients_table

SEED = np.random.SeedSequence(5)


def test_every_hand_written_gradient_holds_both_ways():
    table = gradients_table(SEED)
    assert set(table["model"]) == {
        "circle layer", "population risk", "learned kernel", "attention", "Elman", "LSTM",
        "pool of experts", "recurrent network", "all",
    }  # fmt: skip
    assert table["holds"].all()
    assert table["complex_step"].max() <= 1e-10
    assert table["central_difference"].max() <= 1e-6


@pytest.mark.parametrize("error", [1e-5, 1e-9])
def test_a_wrong_gradient_does_not_hold(monkeypatch, error):
    right = denoiser.loss_and_gradient

    def wrong(*arguments):
        loss, gradient = right(*arguments)
        return loss, gradient * (1.0 + error)

    monkeypatch.setattr(denoiser, "loss_and_gradient", wrong)
    table = gradients_table(SEED)
    assert table["model"][~table["holds"]].tolist() == ["circle layer", "all"]
