"""The language chapter's tables: from the probability of every token to the numbers that the article prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnkernel.corpus.text import UNKNOWN_ID, Text
from attnkernel.corpus.tokens import RESERVED
from attnkernel.language import evaluate
from attnkernel.language.cache import mixture
from attnkernel.language.scored import Scored
from attnkernel.language.speller import Speller

Floats = NDArray[np.float64]
Table = dict[str, NDArray[Any]]

KNESER_NEY: Final = "kn"
MIXTURE: Final = "mixture"
UNIGRAM_CACHE: Final = "unigram cache"
BIGRAM_CACHE: Final = "bigram cache"
LEARNED: Final = "learned"


def grid_table(lambdas: Floats, dev: Scored, heldout: Scored) -> Table:
    """The grid over beta, lambda chosen at each on development; see `evaluate.beta_grid`."""
    return evaluate.beta_grid(
        dev.betas,
        lambdas,
        (dev.kneser_ney, dev.caches, dev.origin.cluster),
        (heldout.kneser_ney, heldout.caches, heldout.origin.cluster),
    )


def chosen(grid: Mapping[str, NDArray[Any]]) -> tuple[int, float]:
    """Row of the grid that development chooses, and its lambda."""
    row = int(np.flatnonzero(grid["chosen"])[0])
    return row, float(grid["lambda"][row])


def starting_point(grid: Mapping[str, NDArray[Any]]) -> tuple[float, float]:
    """The chosen beta and its lambda; if infinity was chosen, the best finite beta, as a smooth kernel is needed."""
    row = int(np.where(np.isfinite(grid["beta"]), grid["dev"], np.inf).argmin())
    return float(grid["beta"][row]), float(grid["lambda"][row])


def model_losses(
    scored: Scored, grid: Mapping[str, NDArray[Any]], epochs: Mapping[str, NDArray[Any]]
) -> dict[str, Floats]:
    """Loss of every token, in nats, under Kneser-Ney and under its mixtures.

    The mixtures are with the chosen cache, with the unigram and the bigram cache if the grid holds them, and with the
    learned kernel, each with the lambda that development chose for it.
    """
    losses = {KNESER_NEY: evaluate.losses(scored.kneser_ney)}
    rows = {MIXTURE: chosen(grid)[0]}
    for name, end in ((UNIGRAM_CACHE, 0.0), (BIGRAM_CACHE, np.inf)):
        at = np.flatnonzero(grid["beta"] == end)
        if at.size:
            rows[name] = int(at[0])
    for name, row in rows.items():
        mixed = mixture(scored.kneser_ney, scored.caches[row], float(grid["lambda"][row]))
        losses[name] = evaluate.losses(mixed)
    if scored.learned is not None:
        weight = float(epochs["lambda"][epochs["chosen"]][0])
        losses[LEARNED] = evaluate.losses(mixture(scored.kneser_ney, scored.learned, weight))
    return losses


class Written(NamedTuple):
    """What tokens cost and are beyond their class in the closed vocabulary.

    Attributes
    ----------
    spelling
        Bits that spell an unknown word; 0 for a known one, (tokens,).
    characters
        As written, one separator a token included, (tokens,).
    """

    spelling: Floats
    characters: Floats


def written_out(text: Text, order: int) -> Written:
    """Spelling and length of the held-out tokens, under a character model of the training types.

    Parameters
    ----------
    text
        The whole corpus.
    order
        Of the character model.
    """
    speller = Speller(text.vocabulary[len(RESERVED) :], order)
    heldout = text.of("heldout")
    unknown = np.unique(heldout.surface[heldout.token == UNKNOWN_ID])
    spelling = np.zeros(len(text.surfaces))
    spelling[unknown] = [-speller.log2_probability(text.surfaces[code]) for code in unknown.tolist()]
    return Written(spelling[heldout.surface], evaluate.characters(text.surfaces)[heldout.surface])


def heldout_table(scored: Scored, losses: Mapping[str, Floats], written: Written) -> Table:
    """Held-out losses and paired gains over Kneser-Ney, for all tokens and where they arise.

    Returns
    -------
    One row a group and model: group (all; repeats and first mentions; in vocabulary and unknown, and their repeats),
    model, tokens, documents, clusters, share, loss, se (nats per token), perplexity, gain, gain_se (nats per token,
    paired against Kneser-Ney; all errors are clustered by document, or by its group), gain_z (gain in standard errors),
    bits_per_character, bits_se (over the open vocabulary: unknown words are spelled), reason (why a number is missing).
    """
    repeat = evaluate.mentions(scored.token, scored.origin.document, scored.sentence).repeat
    groups = {
        "all": np.ones(len(repeat), dtype=np.bool_),
        "repeats": repeat,
        "first mentions": ~repeat,
        "in vocabulary": scored.known,
        "unknown": ~scored.known,
        "repeats in vocabulary": repeat & scored.known,
        "repeats unknown": repeat & ~scored.known,
    }
    columns = evaluate.group_losses(losses, scored.origin, groups)
    gains = [evaluate.paired_gains(losses[KNESER_NEY], loss, scored.origin, groups) for loss in losses.values()]
    for name, source in (("gain", "gain"), ("gain_se", "se"), ("gain_z", "z")):
        # group_losses goes through the models within a group, so the models' columns interleave.
        columns[name] = np.stack([gain[source] for gain in gains], axis=1).ravel()
    nats = {name: loss + np.log(2.0) * written.spelling for name, loss in losses.items()}
    bits = [
        evaluate.bits_per_unit(loss[mask], scored.origin.cluster[mask], written.characters[mask])
        for mask in groups.values()
        for loss in nats.values()
    ]
    columns["bits_per_character"] = np.array([estimate.mean for estimate in bits])
    columns["bits_se"] = np.array([estimate.se for estimate in bits])
    columns["reason"] = columns.pop("reason")
    return columns


def learned_table(
    scored: Scored,
    losses: Mapping[str, Floats],
    grid: Mapping[str, NDArray[Any]],
    epochs: Mapping[str, NDArray[Any]],
) -> Table:
    """The learned kernel beside the fixed one that it started from, on held-out documents.

    Returns
    -------
    One row: epochs, epoch (chosen), lambda, train_start, train_end (training pointer losses), fixed, fixed_se,
    learned, learned_se (held-out pointer losses over the repeats), mixture, mixture_se (nats per token), gain, gain_se
    (paired, over the mixture with the fixed kernel), gain_z.
    """
    row = int(np.flatnonzero(grid["beta"] == starting_point(grid)[0])[0])
    best = int(np.flatnonzero(epochs["chosen"])[0])
    learned = scored.learned if scored.learned is not None else np.full(len(scored.token), np.nan)
    # The cache knows a target exactly where it has occurred before with a previous token.
    seen = scored.caches[row] > 0.0
    pointer = [
        evaluate.ratio_mean(evaluate.losses(p[seen]), scored.origin.cluster[seen])
        for p in (scored.caches[row], learned)
    ]
    mixed = evaluate.ratio_mean(losses[LEARNED], scored.origin.cluster)
    gain = evaluate.ratio_mean(losses[MIXTURE] - losses[LEARNED], scored.origin.cluster)
    values = {
        "epochs": len(epochs["epoch"]) - 1,
        "epoch": int(epochs["epoch"][best]),
        "lambda": float(epochs["lambda"][best]),
        "train_start": float(epochs["train"][0]),
        "train_end": float(epochs["train"][-1]),
        "fixed": pointer[0].mean,
        "fixed_se": pointer[0].se,
        "learned": pointer[1].mean,
        "learned_se": pointer[1].se,
        "mixture": mixed.mean,
        "mixture_se": mixed.se,
        "gain": gain.mean,
        "gain_se": gain.se,
        "gain_z": gain.mean / gain.se if gain.se else np.nan,
    }
    return {name: np.array([value]) for name, value in values.items()}


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
    mentions = evaluate.mentions(scored.token, scored.origin.document, scored.sentence)
    bins = evaluate.distance_groups(mentions.distance, edges)
    scopes = {"all": mentions.repeat, "in vocabulary": mentions.repeat & scored.known}
    cells = {(scope, name): inside & within for scope, inside in scopes.items() for name, within in bins.items()}
    names = list(cells)
    gains = evaluate.paired_gains(
        losses[KNESER_NEY],
        losses[MIXTURE],
        scored.origin,
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
    epochs: Mapping[str, NDArray[Any]],
    learned: Mapping[str, NDArray[Any]],
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
        ("training pointer loss falls at every epoch", *_above(float(-np.diff(epochs["train"]).max()), 0.0)),
        ("learned kernel gains over six standard errors", *_above(float(learned["gain_z"][0]), 6.0)),
    ]
    return {
        "shape": np.array([row[0] for row in rows], dtype=object),
        "holds": np.array([row[1] for row in rows], dtype=np.bool_),
        "value": np.array([row[2] for row in rows], dtype=np.float64),
        "bound": np.array([row[3] for row in rows], dtype=np.float64),
    }


def far_gain_ratio(scored: Scored, losses: Mapping[str, Floats]) -> float:
    """Summed gain on repeats whose previous mention is in an earlier sentence, over the summed gain of all tokens."""
    earlier = evaluate.mentions(scored.token, scored.origin.document, scored.sentence).earlier_sentence
    gain = losses[KNESER_NEY] - losses[MIXTURE]
    total = float(gain.sum())
    return float(gain[earlier].sum()) / total if total else float("nan")


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
