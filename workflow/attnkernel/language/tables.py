"""The language chapter's tables: from the probability of every token to the numbers that the article prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from attnkernel.language import evaluate
from attnkernel.language.cache import mixture
from attnkernel.language.scored import Scored

Floats = NDArray[np.float64]
Table = dict[str, NDArray[Any]]

KNESER_NEY: Final = "kn"
MIXTURE: Final = "mixture"
UNIGRAM_CACHE: Final = "unigram cache"
BIGRAM_CACHE: Final = "bigram cache"


def grid_table(lambdas: Floats, dev: Scored, heldout: Scored) -> Table:
    """The grid over beta, lambda chosen at each on development; see `evaluate.beta_grid`."""
    return evaluate.beta_grid(
        dev.betas,
        lambdas,
        (dev.kneser_ney, dev.caches, dev.document),
        (heldout.kneser_ney, heldout.caches, heldout.document),
    )


def chosen(grid: Mapping[str, NDArray[Any]]) -> tuple[int, float]:
    """Row of the grid that development chooses, and its lambda."""
    row = int(np.flatnonzero(grid["chosen"])[0])
    return row, float(grid["lambda"][row])


def model_losses(scored: Scored, grid: Mapping[str, NDArray[Any]]) -> dict[str, Floats]:
    """Loss of every token under Kneser-Ney and under the mixtures with the chosen, unigram and bigram cache, in nats.

    The two ends of the bandwidth are there if the grid holds them, each with the lambda that development chose for it.
    """
    rows = {MIXTURE: chosen(grid)[0]}
    for name, end in ((UNIGRAM_CACHE, 0.0), (BIGRAM_CACHE, np.inf)):
        at = np.flatnonzero(grid["beta"] == end)
        if at.size:
            rows[name] = int(at[0])
    losses = {KNESER_NEY: evaluate.losses(scored.kneser_ney)}
    for name, row in rows.items():
        mixed = mixture(scored.kneser_ney, scored.caches[row], float(grid["lambda"][row]))
        losses[name] = evaluate.losses(mixed)
    return losses


def heldout_table(scored: Scored, losses: Mapping[str, Floats]) -> Table:
    """Held-out losses and paired gains over Kneser-Ney, for all tokens and where they arise.

    Returns
    -------
    One row a group and model: group (all; repeats and first mentions; in vocabulary and unknown, and their repeats),
    model, tokens, documents, share, loss, se (nats per token), perplexity, gain, gain_se (nats per token, paired
    against Kneser-Ney, clustered by document), gain_z (gain in standard errors), reason (why a number is missing).
    """
    repeat = evaluate.mentions(scored.token, scored.document, scored.sentence).repeat
    groups = {
        "all": np.ones(len(repeat), dtype=np.bool_),
        "repeats": repeat,
        "first mentions": ~repeat,
        "in vocabulary": scored.known,
        "unknown": ~scored.known,
        "repeats in vocabulary": repeat & scored.known,
        "repeats unknown": repeat & ~scored.known,
    }
    columns = evaluate.group_losses(losses, scored.document, groups)
    gains = [evaluate.paired_gains(losses[KNESER_NEY], loss, scored.document, groups) for loss in losses.values()]
    for name, source in (("gain", "gain"), ("gain_se", "se"), ("gain_z", "z")):
        # group_losses goes through the models within a group, so the models' columns interleave.
        columns[name] = np.stack([gain[source] for gain in gains], axis=1).ravel()
    columns["reason"] = columns.pop("reason")
    return columns


def distance_table(scored: Scored, losses: Mapping[str, Floats], edges: Sequence[int]) -> Table:
    """Losses on repeats by the distance back to the previous mention.

    Parameters
    ----------
    scored, losses
        Held-out tokens and their losses.
    edges
        Last distance of each bin but the last, in tokens.

    Returns
    -------
    One row a scope and bin: scope (all; in vocabulary), distance (such as 1-12), tokens, share (of the scope's
    repeats), earlier_sentence (share whose previous mention stands in an earlier sentence), kn, mixture (nats per
    token), gain, gain_se.
    """
    mentions = evaluate.mentions(scored.token, scored.document, scored.sentence)
    bins = evaluate.distance_groups(mentions.distance, edges)
    scopes = {"all": mentions.repeat, "in vocabulary": mentions.repeat & scored.known}
    cells = {(scope, name): inside & within for scope, inside in scopes.items() for name, within in bins.items()}
    names = list(cells)
    gains = evaluate.paired_gains(
        losses[KNESER_NEY],
        losses[MIXTURE],
        scored.document,
        dict(zip(map(str, names), cells.values(), strict=True)),
    )
    sizes = np.array([max(int(scopes[scope].sum()), 1) for scope, _ in names])
    return {
        "scope": np.array([scope for scope, _ in names], dtype=object),
        "distance": np.array([name for _, name in names], dtype=object),
        "tokens": gains["tokens"],
        "share": gains["tokens"] / sizes,
        "earlier_sentence": np.array([_mean(mentions.earlier_sentence[mask]) for mask in cells.values()]),
        "kn": gains["before"],
        "mixture": gains["after"],
        "gain": gains["gain"],
        "gain_se": gains["se"],
    }


def shape_table(
    grid: Mapping[str, NDArray[Any]],
    heldout: Mapping[str, NDArray[Any]],
    distance: Mapping[str, NDArray[Any]],
    far_gain_ratio: float,
) -> Table:
    """What should be true of a kernel cache on any text that repeats itself, and whether it is.

    Returns
    -------
    One row a shape: shape, holds, value (what was measured), bound (what it is held against).
    """
    gain = {key: _cell(heldout, key, MIXTURE, "gain") for key in ("all", "repeats", "first mentions")}
    steps = {scope: np.diff(distance["gain"][distance["scope"] == scope]) for scope in ("all", "in vocabulary")}
    bound = -np.log(chosen(grid)[1])
    rows = [
        ("interior minimum on development", *_interior(grid, "dev")),
        ("interior minimum on held-out text", *_interior(grid, "heldout")),
        ("gain over ten standard errors", *_above(_cell(heldout, "all", MIXTURE, "gain_z"), 10.0)),
        ("repeats gain", *_above(gain["repeats"], 0.0)),
        (
            "first mentions lose at most -ln lambda",
            0.0 <= -gain["first mentions"] <= bound,
            -gain["first mentions"],
            bound,
        ),
        ("gain grows with distance", *_above(float(steps["all"].min()), 0.0)),
        ("gain grows with distance, in vocabulary", *_above(float(steps["in vocabulary"].min()), 0.0)),
        ("gain on repeats from earlier sentences over the net gain", *_above(far_gain_ratio, 1.0)),
    ]
    return {
        "shape": np.array([row[0] for row in rows], dtype=object),
        "holds": np.array([row[1] for row in rows], dtype=np.bool_),
        "value": np.array([row[2] for row in rows], dtype=np.float64),
        "bound": np.array([row[3] for row in rows], dtype=np.float64),
    }


def far_gain_ratio(scored: Scored, losses: Mapping[str, Floats]) -> float:
    """Summed gain on repeats whose previous mention is in an earlier sentence, over the summed gain of all tokens."""
    earlier = evaluate.mentions(scored.token, scored.document, scored.sentence).earlier_sentence
    gain = losses[KNESER_NEY] - losses[MIXTURE]
    return float(gain[earlier].sum() / gain.sum())


def _interior(grid: Mapping[str, NDArray[Any]], split: str) -> tuple[bool, float, float]:
    """Whether the best loss lies below both ends of the grid; that loss, and the better end."""
    loss = grid[split]
    ends = float(min(loss[0], loss[-1]))
    return bool(loss.min() < ends), float(loss.min()), ends


def _above(value: float, bound: float) -> tuple[bool, float, float]:
    return value > bound, value, bound


def _cell(columns: Mapping[str, NDArray[Any]], group: str, model: str, name: str) -> float:
    return float(columns[name][(columns["group"] == group) & (columns["model"] == model)][0])


def _mean(values: NDArray[Any]) -> float:
    return float(np.mean(values)) if values.size else float("nan")
