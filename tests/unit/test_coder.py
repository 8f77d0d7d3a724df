"""The coder: texts come back byte for byte, in the size that the models state."""

import numpy as np
import pytest

from attnkernel.corpus.readers import Document
from attnkernel.language import blend, coder, filing_blend, lossless
from attnkernel.language.filing_tables import RAW
from blend_settings import WORD_MODELS

SETTINGS = WORD_MODELS | {
    "pool": None,
}
TRAINING = "The cost of revenue rose. The price of oil fell.\nCosts and prices of oil and gas rose in 2023.\n" * 3
LONG = "The Company’s costs rose; Zyltech’s fell.\nZyltech, like ExxonMobil, sells oil in 2024 — and gas.\n" * 8


@pytest.fixture(scope="module")
def models():
    with pytest.warns(UserWarning, match="falling back"):
        return filing_blend.prepared([Document("a", "a", TRAINING)], RAW, SETTINGS, [], np.random.SeedSequence(0))


def sent(text, models):
    message = list(zip(*lossless.split(text), strict=True))
    return coder.encode(message, models.trained, SETTINGS, models.layouts(), models.spelling())


def received(data, models):
    message = coder.decode(data, models.trained, SETTINGS, models.layouts(), models.spelling())
    return lossless.join([token for token, _ in message], [layout for _, layout in message])


@pytest.mark.parametrize(
    "text",
    ["", "T", "\n", "the cost of revenue", "İstanbul\t ﬁne\u00a0\U0001f600\r\nGAAP  e\u0301", LONG],
    ids=["empty", "letter", "line", "known", "odd", "long"],
)
def test_a_text_comes_back_byte_for_byte(text, models):
    assert received(sent(text, models), models).encode() == text.encode()


def test_the_size_is_what_was_stated(models):
    columns = filing_blend.read(LONG, RAW, models, SETTINGS, steps=False)
    found = filing_blend.coded(LONG, RAW, models, SETTINGS, float(columns["bits blend"].sum()))
    assert found["identical"]
    assert -8 <= found["coded_bits"] - found["stated_bits"] < 16
    assert found["coded_bits"] == 8 * len(sent(LONG, models))


def test_repetition_costs_less_than_the_first_time(models):
    half = filing_blend.read(LONG, RAW, models, SETTINGS, steps=False)["bits blend"]
    assert half[len(half) // 2 :].sum() < half[: len(half) // 2].sum() / 2


def test_the_length_is_stated_in_its_binary_digits():
    assert coder.length_bits(1) == 6.0
    assert coder.length_bits(1000) == 15.0


def test_models_are_left_as_training_left_them(models):
    before = np.array(models.spelling().conditionals("\x02"))
    sent(LONG, models)
    assert np.array_equal(np.array(models.spelling().conditionals("\x02")), before)
    assert isinstance(models.trained, blend.Trained)


def test_a_message_takes_hardly_a_byte_more_than_its_probability():
    generator = np.random.default_rng(0)
    for _ in range(300):
        rows = generator.dirichlet(np.full(9, 0.3), 40) + 1e-6
        symbols = [(row, int(generator.choice(9, p=row))) for row in rows / rows.sum(axis=1, keepdims=True)]
        sender = coder._Sender()
        for probability, symbol in symbols:
            sender.symbol(probability, symbol)
        data = sender.data()
        bits = -sum(np.log2(probability[symbol]) for probability, symbol in symbols)
        assert 8 * len(data) < bits + 9
        receiver = coder._Receiver(data)
        assert [receiver.symbol(probability, 0) for probability, _ in symbols] == [symbol for _, symbol in symbols]
