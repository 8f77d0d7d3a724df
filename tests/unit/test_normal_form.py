import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnkernel.corpus import tokens
from attnkernel.language.speller import Speller
from attnkernel.normal_form import JOINER, LONGEST_RUN, normalised, stream_safe

ACUTE, CEDILLA, SOUND = "\u0301", "\u0327", "\uff9e"
MARKED = st.text(st.sampled_from(["a", "e", " ", "\n", ACUTE, CEDILLA, SOUND, "\u0f73", "\u304b", "é"]), max_size=80)


def longest_run(text):
    longest = run = 0
    for character in unicodedata.normalize("NFKD", text):
        run = run + 1 if unicodedata.combining(character) else 0
        longest = max(longest, run)
    return longest


@given(MARKED)
def test_runs_are_parted_and_nothing_else_is_changed(text):
    safe = stream_safe(text)
    assert safe.replace(JOINER, "") == text
    assert longest_run(safe) <= LONGEST_RUN + 1, "a letter may bring a mark of its own"
    if longest_run(text) <= LONGEST_RUN:
        assert safe == text


@given(st.text())
def test_the_normal_form_of_ordinary_text_is_unicodes(text):
    for form in ("NFC", "NFKC"):
        assert normalised(text, form) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("marks", [ACUTE + CEDILLA, "\u0300\u0345\u0323", SOUND + "\u0323"])
def test_a_line_of_combining_marks_takes_time_that_grows_with_its_length(marks):
    """Without stream safety, these 400,000 marks take two minutes and ten million a day."""
    text, changed = tokens.normalise(f"alpha {marks * (400_000 // len(marks))} omega e{ACUTE}")
    assert changed["run of more than thirty combining marks parted"] > 10_000
    assert tokens.tokenise(text, lowercase=True) == [["alpha", "omega", "é"]]


def test_a_word_of_a_million_characters_is_spelled_in_time_that_grows_with_its_length():
    speller = Speller(["alpha", "beta"], order=3)
    short, long = (speller.log2_probability("x" * length, {"x", "xx"}) for length in (1_000, 100_000))
    assert long == pytest.approx(100 * short, rel=0.01)
