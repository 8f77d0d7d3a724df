"""The ten faults that others met, each with its input and the right value, through the functions that the run calls."""

import re
import warnings

import numpy as np
import pytest

from attnkernel import circle, smoother
from attnkernel.corpus import readers, tokens
from attnkernel.errors import InputError
from attnkernel.figures import style
from attnkernel.filings import prose, sources
from attnkernel.language import evaluate, kneser_ney, pointer
from attnkernel.language.cache import cache_distribution, cache_probabilities, mixture


def model_of(lines, discounting="modified", order=2):
    words = sorted({word for line in lines for word in line.split()})
    number = {word: index for index, word in enumerate([*kneser_ney.RESERVED, *words])}
    text = np.array([number[word] for line in lines for word in (*line.split(), "</s>")])
    return number, kneser_ney.estimate(text, len(number), order, discounting)


def test_1_undefined_discounts_fall_back_loudly_and_every_conditional_sums_to_one():
    with pytest.warns(kneser_ney.DiscountWarning, match=r"order 2.*n1 to n4 = 4, 2, 5, 1"):
        found = kneser_ney.discounts(np.array([4, 2, 5, 1]), "modified", order=2)
    assert found.tolist() == [0.5, 1.0, 1.5]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _, model = model_of(["a b"] * 3, order=3)
    assert {w.category for w in caught} == {kneser_ney.DiscountWarning}
    assert sorted(re.search(r"order (\d)", str(w.message)).group(1) for w in caught) == ["1", "2", "3"]
    for history in ([], [3], [4], [3, 4], [0], [4, 3]):
        conditional = model.conditional(np.array(history, dtype=np.int64))
        assert (conditional >= 0.0).all()
        assert conditional.sum() == pytest.approx(1.0, abs=1e-12)


def test_2_an_unknown_word_has_a_probability_and_continuations_count():
    number, model = model_of(["san francisco"] * 5 + ["blue glasses", "red glasses"], 0.75)
    assert len(number) == 8  # the seven types of the case, and <s>, which is never predicted
    known = model.conditional(np.array([number["san"]]))
    unseen = model.conditional(np.array([number["<unk>"]]))
    assert known[number["<unk>"]] == pytest.approx(0.0120535714, abs=1e-10)
    assert unseen[number["<unk>"]] == pytest.approx(0.0803571429, abs=1e-10)
    assert unseen[number["francisco"]] == pytest.approx(0.1116071429, abs=1e-10)
    assert unseen[number["glasses"]] == pytest.approx(0.2366071429, abs=1e-10)
    assert np.isfinite(evaluate.losses(known[[number["<unk>"]]])).all()


def test_3_where_nothing_precedes_the_model_stands_alone_and_an_empty_document_breaks_nothing():
    vectors = np.eye(3)
    alone, empty = cache_probabilities(
        [np.array([1]), np.array([], dtype=np.int64)], vectors, vectors, [0.0, 2.0, np.inf]
    )
    assert empty.shape == (3, 0)
    loss = evaluate.losses(mixture(np.array([0.05]), alone, 0.8))
    np.testing.assert_allclose(loss, 2.9957322736, atol=1e-10)
    assert pointer.pointer_blocks(np.array([1])) == []
    assert pointer.pointer_blocks(np.array([], dtype=np.int64)) == []
    assert np.isnan(pointer.pointer_loss([], vectors, vectors, vectors))


def test_4_the_limits_of_temperature():
    tied = np.array([2.0, 1.0, 2.0])
    assert smoother.attention_weights(tied, 0.0).tolist() == [0.5, 0.0, 0.5]
    sharp = smoother.attention_weights(np.array([1.0, 0.999]), 1.0 / 1000.0)
    np.testing.assert_allclose(sharp, [0.7310585786, 0.2689414214], atol=1e-10)
    with pytest.raises(ValueError, match=r"-inf|nothing"):
        smoother.attention_weights(np.full(3, -np.inf))
    # The same three in the cache: two contexts that tie, then close ones at a large beta.
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    document = np.array([0, 2, 1, 3, 4])
    with np.errstate(all="raise"):
        shared = cache_distribution(document, vectors, vectors, np.inf)
    assert shared[[2, 3]].tolist() == [0.5, 0.5]
    angle = np.arccos(0.999)
    close = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)], [0.0, 0.0], [0.0, 0.0]])
    near = cache_distribution(np.array([0, 2, 1, 3, 0]), close, close, 1000.0)
    np.testing.assert_allclose(near[[2, 3]] / near[[2, 3]].sum(), [0.7310585786, 0.2689414214], atol=1e-9)


def test_5_bessel_ratios_do_not_overflow():
    # With more keys than the aliases reach, the gains are the ratios themselves.
    ratios = circle.gains_bessel([1, 5], 1e6, 1000.0)
    np.testing.assert_allclose(ratios, [0.9994998748748, 0.9875716472496], atol=1e-13)
    assert np.isfinite(circle.gains_bessel([1, 5], 64, 1e5)).all()
    assert np.isfinite(circle.risk_slope({1: 1.0, 2: 0.25}, 0.5, 1e8, 1e5))


def test_6_bits_divide_by_what_they_name_after_the_normal_form():
    nats, one = np.array([13.8629436]), np.zeros(1, dtype=np.int64)
    for written in ("naïve café", "nai\u0308ve cafe\u0301"):
        characters = evaluate.characters([written]) - 1.0  # without the separator after it
        assert characters.tolist() == [10.0]
        assert evaluate.bits_per_unit(nats, one, characters).mean == pytest.approx(2.0, abs=1e-7)
    as_bytes = np.array([float(len("naïve café".encode()))])
    assert evaluate.bits_per_unit(nats, one, as_bytes).mean == pytest.approx(1.6667, abs=5e-5)


def test_7_standard_errors_are_clustered_and_one_document_has_none():
    nats = np.array([0.5, 0.5, 2.0, 2.0, 2.0, 0.8, 0.8, 0.8, 0.8, 0.8])
    document = np.repeat([0, 1, 2], [2, 3, 5])
    estimate = evaluate.ratio_mean(nats, document)
    assert estimate.mean == pytest.approx(1.1)
    assert estimate.se == pytest.approx(0.4058324778, abs=1e-10)
    lone = evaluate.ratio_mean(nats[:2], document[:2])
    assert np.isnan(lone.se)
    assert "undefined" in lone.reason


def test_8_invisible_characters_vanish_and_the_reader_says_so(tmp_path):
    path = tmp_path / "filing.txt"
    path.write_bytes("\ufeffthe net\u00a0income\r\nof the\u200b ﬁnancial\u2028year\n".encode())
    settings = {"path": str(path), "documents": "files", "tokens": "words", "lowercase": True}
    settings |= {"heading": "^ = [^=]", "group_pattern": None, "reserved": "refuse"}
    (document,) = readers.read_documents(settings, [path])
    found, changed = readers.tokenise_document(document, settings)
    assert found == [["the", "net", "income"], ["of", "the", "financial", "year"]]
    assert changed["byte-order mark"] == changed["zero-width space"] == changed["carriage return"] == 1
    assert changed["compatibility form"] >= 1
    assert tokens.normalise("a\u2028b")[0] == "a b"


REFUSAL = "<html><head><title>SEC.gov | Your Request Originates from an Undeclared Automated Tool</title></head></html>"


def test_9_a_refusal_is_no_filing_and_the_hidden_header_is_no_text():
    assert prose.refusal(REFUSAL)
    with pytest.raises(InputError, match="name"):
        sources.identity({})
    hidden = "<ix:header>" + "<ix:hidden>noise</ix:hidden>" * 500 + "</ix:header>"
    page = f"<html><body><div style='display:none'>{hidden}</div><p>Net sales grew in all segments.</p></body></html>"
    assert not prose.refusal(page)
    assert prose.paragraphs(page) == ["Net sales grew in all segments."]


def test_10_the_same_figure_twice_gives_the_same_bytes(tmp_path):
    def drawn(name):
        drawing = style.figure()
        axes = drawing.subplots()
        axes.plot([0, 1], [1, 0], label="β")
        axes.legend()
        paths = [tmp_path / f"{name}.{kind}" for kind in ("svg", "png", "pdf")]
        style.save(drawing, *paths)
        return [path.read_bytes() for path in paths]

    first = drawn("first")
    assert first == drawn("second")
    assert not any(b"CreationDate" in data or b"<dc:date>" in data for data in first)
