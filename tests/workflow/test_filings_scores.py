"""The filings' codes in the graph: every number is a query over the table of tokens, and every code is real."""

import re

import numpy as np
import pytest

from attnkernel import table


def published(project, name):
    return table.read(project.folder / f"results/tables/{name}.parquet")


def test_every_code_length_is_the_sum_over_its_tokens(finished):
    filings = published(finished, "filings")
    for match, training in (("cold", "synthetic"), ("primed", "other filings")):
        tokens = table.read(finished.folder / f"results/filings/blend-{match}.parquet")
        rows = np.flatnonzero((filings["model"] == "blend") & (filings["training"] == training))
        for row in rows[filings["document"][rows] != "all"]:
            same = [tokens[name] == filings[name][row] for name in ("document", "excerpt", "text")]
            bits = tokens["bits blend"][np.logical_and.reduce(same)]
            assert np.isclose(filings["bits"][row], bits.sum(), rtol=1e-12)


def test_every_coded_excerpt_comes_back(finished):
    coded = published(finished, "filings_coded")
    assert len(coded["identical"]) == 2 * len(table.read(finished.folder / "results/filings/documents.parquet")["id"])
    assert coded["identical"].all()


def test_the_bayesian_mixture_keeps_its_bound(finished):
    regret = published(finished, "filings_regret")
    assert (regret["regret"] <= regret["bound"]).all()


def test_a_setting_of_the_blend_reruns_the_blend_and_not_the_article_case(project):
    project.edit("config/config.yaml", "  rate: 0.2 # step of the gate", "  rate: 0.3 # step of the gate")
    rules = project.outdated()
    assert "filings_blend" in rules
    assert not {"filings_documents", "filings_article"} & rules


@pytest.mark.parametrize("rule", ["filings_blend", "filings_tables"])
def test_the_text_that_primes_is_an_input_of_whatever_reads_it(project, rule):
    (project.folder / "primer").mkdir()
    (project.folder / "primer" / "text.txt").write_text("The cost of revenue rose.\n", encoding="utf-8")
    project.edit("config/config.yaml", "  primer: null", "  primer: { path: primer }")
    planned = project.snakemake("--dry-run").stdout
    inputs = re.findall(rf"rule {rule}:\n +input: (.+)", planned)
    primed = [line for line in inputs if "primer/text.txt" in line]
    assert len(primed) == 1
