"""The pool: a distribution at every symbol, the same for who codes and who decodes, and a real code."""

import numpy as np
import pytest

from attnkernel.corpus.readers import Document
from attnkernel.errors import InputError
from attnkernel.language import filing_blend, pool, primer
from attnkernel.language.filing_tables import NORMALISED, RAW
from blend_settings import POOL, WORD_MODELS

SETTINGS = WORD_MODELS | {"pool": POOL}
TEXTS = [
    "The cost of revenue rose. The price of oil fell.\nCosts and prices of oil and gas rose in 2023.\n" * 3,
    "Prices of gas fell in Europe.\nThe Company sells gas, and the costs of gas fell.\n" * 3,
    "Revenue of the Company rose in 2023.\nThe cost of sales fell in Europe.\n" * 2,
]
PRIMERS = [Document(str(n), f"group {n}", text) for n, text in enumerate(TEXTS)]
LONG = "The Company’s costs rose; Zyltech’s fell.\nZyltech, like ExxonMobil, sells oil in 2024 — and gas.\n"
pytestmark = pytest.mark.filterwarnings("ignore::attnkernel.language.kneser_ney.DiscountWarning")


@pytest.fixture(scope="module")
def networks():
    seeds = np.random.SeedSequence(5).spawn(2)
    return [primer.network(PRIMERS, 2, POOL["recurrent"], seed) for seed in seeds]


@pytest.fixture(scope="module")
def models(networks):
    return filing_blend.prepared(PRIMERS, NORMALISED, SETTINGS, networks, np.random.SeedSequence(4))


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


def test_the_recurrent_network_what_its_states_say_and_its_learning_on_are_steps(models):
    read = filing_blend.read(LONG, NORMALISED, models, SETTINGS, steps=True)
    steps = [name for name in read if name.startswith("bits ")]
    networks = ["recurrent network", "kernels over its states", "network that learns on"]
    assert steps[-4:-1] == [f"bits {name}" for name in networks]


def test_a_document_that_repeats_itself_gets_cheaper(models):
    bits = filing_blend.read(LONG * 4, NORMALISED, models, SETTINGS, steps=False)["bits blend"]
    quarter = len(bits) // 4
    assert bits[-quarter:].sum() < bits[:quarter].sum() / 2


def test_the_text_as_filed_has_a_pool_on_the_same_networks_and_a_code_that_gives_it_back(networks):
    made = filing_blend.prepared(PRIMERS, RAW, SETTINGS, networks, np.random.SeedSequence(4))
    for text in ("T", "\n", "İstanbul\t ﬁne\u00a0\U0001f600\r\ne\u0301", LONG):
        stated = filing_blend.read(text, RAW, made, SETTINGS, steps=False)["bits blend"].sum()
        found = filing_blend.coded(text, RAW, made, SETTINGS, stated)
        assert found["identical"]
        assert -8 <= found["coded_bits"] - stated < 64


def test_one_group_of_primers_is_too_few(networks):
    with pytest.raises(InputError, match="two or more"):
        filing_blend.prepared(PRIMERS[:1], NORMALISED, SETTINGS, networks, np.random.SeedSequence(4))
