"""The filings' codes in the graph: every number is a query over the table of tokens, and every code is real."""

import itertools
import json
import re

import numpy as np
import pytest

from attnkernel import table
from blend_settings import POOL


def published(project, name):
    return table.read(project.folder / f"results/tables/{name}.parquet")


def test_every_code_length_is_the_sum_over_its_tokens(finished):
    filings = published(finished, "filings")
    for match, training in (("cold", "synthetic"), ("primed", "other filings")):
        rows = np.flatnonzero((filings["model"] == "blend") & (filings["training"] == training))
        for row in rows[filings["document"][rows] != "all"]:
            tokens = table.read(finished.folder / f"results/filings/blend-{match}-{filings['text'][row]}.parquet")
            same = [tokens[name] == filings[name][row] for name in ("document", "excerpt", "text")]
            bits = tokens["bits blend"][np.logical_and.reduce(same)]
            assert np.isclose(filings["bits"][row], bits.sum(), rtol=1e-12)


def test_every_coded_excerpt_comes_back(finished):
    coded = published(finished, "filings_coded")
    documents = table.read(finished.folder / "results/filings/documents.parquet")["id"]
    sent = set(zip(coded["training"], coded["document"], coded["text"], strict=True))
    assert sent == set(itertools.product(["synthetic", "other filings"], documents, ["normalised", "raw"]))
    assert len(coded["identical"]) == len(sent)
    assert coded["identical"].all()


def test_the_bayesian_mixture_keeps_its_bound(finished):
    regret = published(finished, "filings_regret")
    assert (regret["regret"] <= regret["bound"]).all()


def test_a_setting_of_the_blend_reruns_the_blend_and_not_the_article_case(project):
    project.edit("config/config.yaml", "  rate: 0.2 # step of the gate", "  rate: 0.3 # step of the gate")
    rules = project.outdated()
    assert "filings_blend" in rules
    assert not {"filings_documents", "filings_article"} & rules


@pytest.fixture
def primed(project):
    """The project with texts of its own that prime models and compressors."""
    (project.folder / "primer").mkdir()
    for number, text in enumerate(("The cost of revenue rose.\n", "The price of gas fell in 2023.\n")):
        (project.folder / "primer" / f"text{number}.txt").write_text(text * 20, encoding="utf-8")
    project.edit("config/config.yaml", "  primer: null", "  primer: { path: primer }")
    return project


@pytest.mark.parametrize(("rule", "jobs"), [("filings_blend", 2), ("filings_tables", 1)])
def test_the_texts_that_prime_are_inputs_of_whatever_reads_them(primed, rule, jobs):
    inputs = re.findall(rf"rule {rule}:\n +input: (.+)", primed.snakemake("--dry-run").stdout)
    assert sum("primer/text0.txt, primer/text1.txt" in line for line in inputs) == jobs


def test_a_pool_has_networks_of_its_own_and_a_code_that_gives_every_text_back(primed):
    primed.edit("config/config.yaml", "  pool: null", f"  pool: {json.dumps(POOL)}")
    primed.snakemake("--", "results/tables/filings.parquet")
    one, two = (
        table.read(primed.folder / f"results/filings/network-{member}-cell.parquet")["weight"] for member in (1, 2)
    )
    assert one.shape == two.shape == (2 * 6 + 1, 4 * 6)
    assert not np.allclose(one, two)
    coded = published(primed, "filings_coded")
    assert (coded["training"] == "primer").sum() == (coded["training"] == "synthetic").sum() > 0
    assert coded["identical"].all()
