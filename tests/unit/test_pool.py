"""The pool: a distribution at every symbol, the same for who codes and who decodes, and a real code."""

import numpy as np
import pytest

from attnkernel.corpus.readers import Document
from attnkernel.errors import InputError
from attnkernel.language import filing_blend, pool
from attnkernel.language.filing_tables import NORMALISED, RAW
from blend_settings import WORD_MODELS

SETTINGS = WORD_MODELS | {
    "pool": {
        "taught": {"every": 2, "tokens": 400},
        "histories": {"characters": [1, 2, 3, 5], "words": [[], [1], [1, 2]]},
        "recurrent": {
            "width": 6, "epochs": 3, "step": 0.01, "lanes": 4, "window": 8, "noise": 20, "dropout": 0.2, "min_count": 2,
        },
        "states": {"dimensions": 3, "bandwidth": 0.05, "own": 0.1},
        "network": {"members": 2, "width": 6, "epochs": 20, "step": 0.01, "batch": 256},
    },
}  # fmt: skip
TEXTS = [
    "The cost of revenue rose. The price of oil fell.\nCosts and prices of oil and gas rose in 2023.\n" * 3,
    "Prices of gas fell in Europe.\nThe Company sells gas, and the costs of gas fell.\n" * 3,
    "Revenue of the Company rose in 2023.\nThe cost of sales fell in Europe.\n" * 2,
]
PRIMERS = [Document(str(n), f"group {n}", text) for n, text in enumerate(TEXTS)]
LONG = "The Company’s costs rose; Zyltech’s fell.\nZyltech, like ExxonMobil, sells oil in 2024 — and gas.\n"
pytestmark = pytest.mark.filterwarnings("ignore::attnkernel.language.kneser_ney.DiscountWarning")


@pytest.fixture(scope="module")
def models():
    return filing_blend.prepared(PRIMERS, NORMALISED, SETTINGS, np.random.SeedSequence(4))


def test_the_decoder_s_view_is_the_one_that_was_scored(models):
    text = "the company sells oil in zyltéch , and zyltéch rose </s> costs of oil rose </s>"
    tokens = text.split()
    reader, alphabet = pool.Reader(models.pool), models.pool.alphabet
    costs = []
    for token in tokens:
        symbols, cost = alphabet.symbols([token]).tolist(), 0.0
        for n, symbol in enumerate(symbols):
            distribution = reader.distribution()
            assert distribution.sum() == pytest.approx(1.0)
            cost -= np.log2(distribution[symbol])
            cost += np.log2(pool.CODE_POINTS) * (symbol == alphabet.other)
            reader.step(symbol, token if n == len(symbols) - 1 else None)
        costs.append(cost)
    assert pool.bits(tokens, models.pool) == pytest.approx(costs, rel=1e-5)


def test_a_prediction_depends_on_earlier_tokens_alone(models):
    tokens = LONG.lower().split()
    assert pool.bits(tokens, models.pool)[:5] == pytest.approx(pool.bits(tokens[:5], models.pool), rel=1e-6)


@pytest.mark.parametrize("text", ["T", "İstanbul\t ﬁne\u00a0\U0001f600\r\ne\u0301", LONG])
def test_a_text_comes_back_in_the_size_that_was_stated(models, text):
    stated = filing_blend.read(text, NORMALISED, models, SETTINGS, steps=False)["bits blend"].sum()
    found = filing_blend.coded(text, NORMALISED, models, SETTINGS, stated)
    assert found["identical"]
    assert -8 <= found["coded_bits"] - stated < 64


def test_the_recurrent_network_and_the_kernels_over_its_states_are_steps(models):
    read = filing_blend.read(LONG, NORMALISED, models, SETTINGS, steps=True)
    steps = [name for name in read if name.startswith("bits ")]
    assert steps[-3:] == ["bits recurrent network", "bits kernels over its states", "bits weights by context"]


def test_a_document_that_repeats_itself_gets_cheaper(models):
    bits = filing_blend.read(LONG * 4, NORMALISED, models, SETTINGS, steps=False)["bits blend"]
    quarter = len(bits) // 4
    assert bits[-quarter:].sum() < bits[:quarter].sum() / 2


def test_the_text_as_filed_has_a_pool_that_shares_the_network_and_a_code_that_gives_it_back(models):
    made = filing_blend.prepared(PRIMERS, RAW, SETTINGS, np.random.SeedSequence(4), models.pool.network)
    ours, theirs = (each.trained.recurrent.parameters["weight"] for each in (made.pool, models.pool))
    assert ours is theirs
    for text in ("T", "\n", "İstanbul\t ﬁne\u00a0\U0001f600\r\ne\u0301", LONG):
        stated = filing_blend.read(text, RAW, made, SETTINGS, steps=False)["bits blend"].sum()
        found = filing_blend.coded(text, RAW, made, SETTINGS, stated)
        assert found["identical"]
        assert -8 <= found["coded_bits"] - stated < 64


def test_one_group_of_primers_is_too_few():
    with pytest.raises(InputError, match="two or more"):
        filing_blend.prepared(PRIMERS[:1], NORMALISED, SETTINGS, np.random.SeedSequence(4))
