"""Kneser-Ney against KenLM 0.3.0 on real text.

The reference values are remade by ``python tests/verification/test_kenlm.py <folder of lmplz and query>``
(``bench/build_kenlm.sh`` builds the two); the header of each golden file gives the commands that made it.
"""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from gensim.test.utils import datapath

from attnkernel.language.arpa import write_arpa
from attnkernel.language.kneser_ney import RESERVED, DiscountWarning, KneserNey, estimate

GOLDEN = Path(__file__).parent / "golden"
ESTIMATE = "lmplz --discount_fallback --order {order} --text {text} --arpa {arpa}"
QUERY = "query -v word {arpa}"


def sentences(name):
    """Training and held-out sentences, lists of words, of a reference text made from the Lee corpus.

    `documents`: each document is one sentence, every 20th is held out. `short`: the first five documents cut at
    full stops, the last is held out; so small a text leaves discounts undefined.
    """
    lines = Path(datapath("lee_background.cor")).read_text(encoding="utf-8").lower().splitlines()
    if name == "short":
        cut = [[re.findall(r"\w+", part) for part in line.split(". ")] for line in lines[:5]]
        return [s for document in cut[:4] for s in document], cut[4]
    documents = [re.findall(r"\w+", line) for line in lines]
    return [d for i, d in enumerate(documents) if i % 20], documents[::20]


def encode(training, heldout):
    tokens = [*RESERVED, *dict.fromkeys(word for sentence in training for word in sentence)]
    ids = {token: i for i, token in enumerate(tokens)}
    texts = (
        np.array([ids.get(word, 0) for sentence in part for word in [*sentence, "</s>"]])
        for part in (training, heldout)
    )
    return tokens, *texts


def model_of(name, order):
    tokens, training, heldout = encode(*sentences(name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscountWarning)
        return tokens, estimate(training, len(tokens), order), heldout


def parse_query(output):
    """Length of the matched n-gram and log10 probability of every token, from what `query -v word` prints."""
    return np.array([cell.split()[1:] for cell in output.replace("\n", "\t").split("\t") if "=" in cell], float)


@pytest.mark.parametrize(("name", "order"), [("documents", 3), ("short", 2), ("short", 3), ("short", 4)])
def test_every_heldout_token_has_kenlms_probability_and_matched_length(name, order):
    _, model, heldout = model_of(name, order)
    matched, log10 = np.loadtxt(GOLDEN / f"kenlm_{name}_{order}.txt").T
    scores = model.score(heldout)
    np.testing.assert_array_equal(scores.matched, matched)
    np.testing.assert_allclose(np.log10(scores.probability), log10, rtol=0, atol=1e-5)


@pytest.mark.skipif("KENLM_BIN" not in os.environ, reason="KENLM_BIN does not name the folder of KenLM's query")
def test_kenlm_reads_the_exported_arpa_and_scores_it_alike(tmp_path):
    tokens, model, heldout = model_of("documents", 3)
    assert isinstance(model, KneserNey)
    arpa = tmp_path / "model.arpa"
    arpa.write_text("".join(write_arpa(model, tokens)), encoding="utf-8")
    text = "".join(" ".join(sentence) + "\n" for sentence in sentences("documents")[1])
    _, log10 = parse_query(run(os.environ["KENLM_BIN"], QUERY.format(arpa=arpa), text)).T
    np.testing.assert_allclose(np.log10(model.probabilities(heldout)), log10, rtol=0, atol=1e-5)


def run(folder, command, text=""):
    return subprocess.run(
        command.split(),
        executable=Path(folder) / command.split()[0],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def remake(folder, scratch):
    for name, order in [("documents", 3), ("short", 2), ("short", 3), ("short", 4)]:
        training, heldout = ("".join(" ".join(s) + "\n" for s in part) for part in sentences(name))
        (scratch / "training.txt").write_text(training, encoding="utf-8")
        arpa = scratch / "model.arpa"
        run(folder, ESTIMATE.format(order=order, text=scratch / "training.txt", arpa=arpa))
        rows = parse_query(run(folder, QUERY.format(arpa=arpa), heldout))
        commands = [
            f"KenLM 0.3.0 on sentences({name!r}) of test_kenlm.py, a sentence a line:",
            ESTIMATE.format(order=order, text="training.txt", arpa="model.arpa"),
            QUERY.format(arpa="model.arpa") + " < heldout.txt",
            "A row a token, </s> included: length of the matched n-gram, log10 probability",
        ]
        np.savetxt(GOLDEN / f"kenlm_{name}_{order}.txt", rows, fmt=["%d", "%.7g"], header="\n".join(commands))


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        remake(sys.argv[1], Path(folder))
