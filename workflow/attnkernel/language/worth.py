"""What is a cache worth? One row a corpus, whatever text it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnkernel.language.tables import BIGRAM_CACHE, KNESER_NEY, LEARNED, MIXTURE, UNIGRAM_CACHE, chosen

Columns = Mapping[str, NDArray[Any]]
Table = dict[str, NDArray[Any]]

# Columns of the table by the models of a corpus's held-out table.
MODELS: Final = {"unigram": UNIGRAM_CACHE, "kernel": MIXTURE, "bigram": BIGRAM_CACHE, "learned": LEARNED}
# Groups of held-out tokens, by the beginning of their columns' names.
GROUPS: Final = {"": "all", "known_": "in vocabulary"}


class Measured(NamedTuple):
    """A corpus's card, its grid over beta, and its held-out losses and gains."""

    card: Columns
    grid: Columns
    heldout: Columns


def worth_table(corpora: Mapping[str, Measured]) -> Table:
    """What each cache adds to Kneser-Ney on each corpus, the most valuable kernel first.

    Returns
    -------
    One row a corpus: corpus; documents, tokens (of all splits); heldout_documents, heldout_clusters (what errors are
    clustered by: documents, or groups of them), heldout_tokens; repeat_share, unknown_rate (of the held-out split);
    beta, lambda (chosen on development); kn (nats per token); then for unigram, kernel, bigram and learned the loss of
    the mixture under that name, and its gain and gain_se (nats per token, paired over Kneser-Ney, clustered); all of
    these again for the tokens that training knows (known_...). A model that the grid leaves out is NaN.
    """
    rows = [{"corpus": name, **_row(measured)} for name, measured in corpora.items()]
    rows.sort(key=lambda row: -row["kernel_gain"])
    return {name: np.array([row[name] for row in rows], dtype=object if name == "corpus" else None) for name in rows[0]}


def _row(measured: Measured) -> dict[str, Any]:
    card, grid, heldout = measured
    last = {name: column[card["split"] == "heldout"][0] for name, column in card.items()}
    at, weight = chosen(grid)
    row: dict[str, Any] = {
        "documents": int(card["documents"].sum()),
        "tokens": int(card["tokens"].sum()),
        "heldout_documents": int(last["documents"]),
        "heldout_clusters": int(_cell(heldout, GROUPS[""], KNESER_NEY, "clusters")),
        "heldout_tokens": int(last["tokens"]),
        "repeat_share": float(last["repeat_share"]),
        "unknown_rate": float(last["unknown_rate"]),
        "beta": float(grid["beta"][at]),
        "lambda": weight,
    }
    for prefix, group in GROUPS.items():
        row[f"{prefix}kn"] = _cell(heldout, group, KNESER_NEY, "loss")
        for name, model in MODELS.items():
            row[prefix + name] = _cell(heldout, group, model, "loss")
            row[f"{prefix}{name}_gain"] = _cell(heldout, group, model, "gain")
            row[f"{prefix}{name}_gain_se"] = _cell(heldout, group, model, "gain_se")
    return row


def _cell(heldout: Columns, group: str, model: str, name: str) -> float:
    found = heldout[name][(heldout["group"] == group) & (heldout["model"] == model)]
    return float(found[0]) if found.size else float("nan")


def markdown(worth: Columns) -> str:
    """The table for a README, in nats per token."""
    head = (
        "| corpus | documents (held out) | tokens | repeats | Kneser–Ney | unigram cache | kernel cache | "
        "bigram cache | learned kernel | gain of the kernel | of the learned | of the kernel, known words |"
    )
    lines = [head, "| --- |" + " ---: |" * (head.count("|") - 2)]
    for row in range(len(worth["corpus"])):
        at = {name: column[row] for name, column in worth.items()}
        cells = [
            str(at["corpus"]),
            f"{at['documents']:,} ({_held_out(at)})",
            f"{at['tokens']:,}",
            f"{at['repeat_share']:.0%}",
            *(_digits(at[name]) for name in ("kn", "unigram", "kernel", "bigram", "learned")),
            *(
                f"{_digits(at[f'{name}_gain'])} ± {_digits(at[f'{name}_gain_se'])}"
                for name in ("kernel", "learned", "known_kernel")
            ),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _held_out(at: Mapping[str, Any]) -> str:
    documents, clusters = at["heldout_documents"], at["heldout_clusters"]
    return f"{documents:,}" if documents == clusters else f"{documents:,} in {clusters:,} groups"


def _digits(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"
