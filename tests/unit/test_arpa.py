import numpy as np
import pytest

from attnkernel.language.arpa import ArpaError, read_arpa, write_arpa
from attnkernel.language.kneser_ney import estimate

TOKENS = ["<unk>", "<s>", "</s>", *(f"w{i}" for i in range(37))]

# A model by hand, rows in no order: p(a | b) is stored, p(b | a) backs off.
SMALL = r"""
\data\
ngram 1=5
ngram 2=2

\1-grams:
-0.5	a	-0.25
-99	<s>	-0.5
-1	</s>
-0.75	b	0
-1.5	<unk>

\2-grams:
-0.1	b a
-0.2	<s> b

\end\
"""


def random_text(seed, sentences=300):
    rng = np.random.default_rng(seed)
    parts = [[*(3 + rng.zipf(1.4, size=rng.integers(0, 9)) % 37), 2] for _ in range(sentences)]
    return np.array([word for part in parts for word in part])


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_model_read_back_from_its_arpa_scores_alike(order):
    model = estimate(random_text(1), len(TOKENS), order, 0.7)
    tokens, again = read_arpa(write_arpa(model, TOKENS))
    text = random_text(2)
    assert tokens == TOKENS
    np.testing.assert_allclose(
        np.log10(again.probabilities(text)), np.log10(model.probabilities(text)), rtol=0, atol=1e-6
    )
    np.testing.assert_array_equal(again.score(text).matched, model.score(text).matched)
    assert again.conditional(text[:1]).sum() == pytest.approx(1.0, abs=1e-6)


def test_the_lines_do_not_depend_on_anything_but_the_model():
    model = estimate(random_text(1), len(TOKENS), 3, 0.7)
    assert list(write_arpa(model, TOKENS)) == list(write_arpa(model, TOKENS))


def test_an_arpa_in_any_order_is_scored_by_backing_off():
    tokens, model = read_arpa(SMALL.split("\n"))
    assert tokens == ["<unk>", "<s>", "</s>", "a", "b"]
    # <s> b a b </s> <s> </s>: stored, stored, backed off from a, backed off from b, backed off from <s>.
    log10 = np.log10(model.probabilities(np.array([4, 3, 4, 2, 2])))
    np.testing.assert_allclose(log10, [-0.2, -0.1, -0.25 - 0.75, 0.0 - 1.0, -0.5 - 1.0], atol=1e-12)
    assert model.conditional(np.array([3]))[1] == 0.0


def test_spaces_and_carriage_returns_are_as_good_as_tabs():
    _, plain = read_arpa(SMALL.split("\n"))
    _, other = read_arpa(line.replace("\t", "  ") + "\r\n" for line in SMALL.split("\n"))
    np.testing.assert_array_equal(other.probabilities(np.array([4, 3, 2])), plain.probabilities(np.array([4, 3, 2])))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\\data\\", "data", r"line 2: the text does not begin with \\data\\"),
        ("ngram 1=5\nngram 2=2\n", "", "line 4: the header has no counts"),
        ("ngram 2=2", "ngram 3=2", "line 4: found 'ngram 3=2'; write 'ngram 2='"),
        ("ngram 2=2", "ngram 2=3", "line 17: 2 2-grams, but the header says 3"),
        ("ngram 2=2\n", "", r"line 12: found '\\\\2-grams:' instead of \\end\\"),
        ("\\2-grams:", "\\3-grams:", "line 13: found .* instead of .*; write the sections in order"),
        ("-1\t</s>", "-1", "line 9: 1 fields where a 1-gram has 2 or 3"),
        ("-0.1\tb a", "-0.1\tb a b a", "line 14: 5 fields where a 2-gram has 3 or 4"),
        ("-0.1\tb a", "x\tb a", "line 14: 'x' is not a number"),
        ("-0.1\tb a", "0.1\tb a", "line 14: '0.1' is out of range; a log10 here is at most 0"),
        ("-0.1\tb a", "nan\tb a", "line 14: 'nan' is out of range"),
        ("-0.1\tb a", "-0.1\tb c", "line 14: the n-gram 'b c': it has a word that is not among the 1-grams"),
        ("-0.1\tb a", "-0.1\t<s> b", "line 15: the n-gram '<s> b': it was given before"),
        ("-1.5\t<unk>", "-1.5\tunk", "line 17: the 1-grams lack <unk>; export"),
        ("\n\\end\\", "", "line 15: the text ends within the 2-grams; the file is cut short"),
    ],
)
def test_a_malformed_arpa_is_refused_with_its_line_and_a_remedy(old, new, message):
    assert SMALL.count(old) == 1
    with pytest.raises(ArpaError, match=message):
        read_arpa(SMALL.replace(old, new).split("\n"))


def test_a_history_that_is_not_stored_is_refused():
    text = SMALL.replace("ngram 2=2", "ngram 2=2\nngram 3=1").replace("\\end\\", "\\3-grams:\n-1\ta b a\n\\end\\")
    with pytest.raises(ArpaError, match="line 19: the n-gram 'a b a': its first 2 words are not among the 2-grams"):
        read_arpa(text.split("\n"))


@pytest.mark.parametrize("text", ["", "\\data\\", "\\data\\\nngram 1=1"])
def test_a_text_that_ends_in_its_header_is_refused(text):
    with pytest.raises(ArpaError, match=r"line [12]: "):
        read_arpa(text.split("\n"))


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (TOKENS[:-1], "39 tokens for 40 types"),
        (["<s>", "<unk>", *TOKENS[2:]], "the first three tokens must be"),
        ([*TOKENS[:-1], "w0"], "the same token"),
        ([*TOKENS[:-1], "new york"], "'new york' is empty or has white space"),
        ([*TOKENS[:-1], ""], "'' is empty"),
    ],
)
def test_tokens_that_arpa_cannot_hold_are_refused(tokens, message):
    with pytest.raises(ValueError, match=message):
        list(write_arpa(estimate(random_text(1), 40, 2, 0.7), tokens))
