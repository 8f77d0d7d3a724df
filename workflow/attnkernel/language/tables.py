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
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
Table = dict[str, NDArray[Any]]

KNESER_NEY: Final = "kn"
MIXTURE: Final = "mixture"
UNIGRAM_CACHE: Final = "unigram cache"
BIGRAM_CACHE: Final = "bigram cache"
LEARNED: Final = "learned"


def grid_sums(text: Text, scored: Scored, lambdas: Floats) -> evaluate.Sums:
    """Summed losses of the mixtures with each cache, document by document of a text, and the cluster of each."""
    sums = evaluate.mixture_sums(scored.kneser_ney, scored.caches, lambdas, text.document)
    return sums._replace(cluster=text.cluster_names()[text.position == 0])


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


class Measured(NamedTuple):
    """What the chapter's tables need to know of each held-out token, a few numbers.

    Attributes
    ----------
    token, known, sentence, origin
        As in `Scored`.
    clusters
        Name of each code of `origin.cluster`.
    fixed, learned
        Probabilities of the fixed kernel that the learned one started from, and of the learned one, (tokens,).
    spelling
        Bits that spell an unknown word; 0 for a known one, (tokens,).
    characters
        As written, one separator a token included, (tokens,).
    losses
        Nats under each model, as `model_losses` gives them.
    """

    token: Integers
    known: Mask
    sentence: Integers
    origin: evaluate.Origin
    clusters: Sequence[str]
    fixed: Floats
    learned: Floats
    spelling: Floats
    characters: Floats
    losses: dict[str, Floats]


def measure(
    text: Text,
    scored: Scored,
    grid: Mapping[str, NDArray[Any]],
    epochs: Mapping[str, NDArray[Any]],
    speller: Speller,
) -> Measured:
    """Measure held-out tokens, those of a shard or all.

    Parameters
    ----------
    text, scored
        The tokens, and their probabilities.
    grid, epochs
        What development chose.
    speller
        From `speller_of`.
    """
    row = int(np.flatnonzero(grid["beta"] == starting_point(grid)[0])[0])
    unknown = np.unique(text.surface[text.token == UNKNOWN_ID])
    spelling = np.zeros(len(text.surfaces))
    spelling[unknown] = [-speller.log2_probability(text.surfaces[code]) for code in unknown.tolist()]
    return Measured(
        scored.token,
        scored.known,
        scored.sentence,
        scored.origin,
        text.clusters,
        fixed=scored.caches[row].copy(),  # a view would keep all caches in memory
        learned=scored.learned if scored.learned is not None else np.full(len(scored.token), np.nan),
        spelling=spelling[text.surface],
        characters=evaluate.characters(text.surfaces)[text.surface],
        losses=model_losses(scored, grid, epochs),
    )


def stack(parts: Sequence[Measured]) -> Measured:
    """The tokens of all shards, one after another: no document is in two of them, but a cluster may be."""
    number: dict[str, int] = {}
    documents, document, cluster = 0, [], []
    for part in parts:
        document.append(part.origin.document + documents)
        documents += part.origin.document.max(initial=-1) + 1
        codes, code = np.unique(part.origin.cluster, return_inverse=True)
        names = [part.clusters[code] for code in codes.tolist()]
        cluster.append(np.array([number.setdefault(name, len(number)) for name in names], dtype=np.int64)[code])
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("token", "known", "sentence", "fixed", "learned", "spelling", "characters")
    }
    return Measured(
        **columns,
        origin=evaluate.Origin(np.concatenate(document), np.concatenate(cluster)),
        clusters=list(number),
        losses={name: np.concatenate([part.losses[name] for part in parts]) for name in parts[0].losses},
    )


def speller_of(text: Text, order: int) -> Speller:
    """The character model of so high an order of the words that training knows."""
    return Speller(text.vocabulary[len(RESERVED) :], order)


def heldout_table(heldout: Measured) -> Table:
    """Held-out losses and paired gains over Kneser-Ney, for all tokens and where they arise.

    Returns
    -------
    One row a group and model: group (all; repeats and first mentions; in vocabulary and unknown, and their repeats),
    model, tokens, documents, clusters, share, loss, se (nats per token), perplexity, gain, gain_se (nats per token,
    paired against Kneser-Ney; all errors are clustered by document, or by its group), gain_z (gain in standard errors),
    bits_per_character, bits_se (over the open vocabulary: unknown words are spelled), reason (why a number is missing).
    """
    repeat = evaluate.mentions(heldout.token, heldout.origin.document, heldout.sentence).repeat
    groups = {
        "all": np.ones(len(repeat), dtype=np.bool_),
        "repeats": repeat,
        "first mentions": ~repeat,
        "in vocabulary": heldout.known,
        "unknown": ~heldout.known,
        "repeats in vocabulary": repeat & heldout.known,
        "repeats unknown": repeat & ~heldout.known,
    }
    columns = evaluate.group_losses(heldout.losses, heldout.origin, groups)
    gains = [
        evaluate.paired_gains(heldout.losses[KNESER_NEY], loss, heldout.origin, groups)
        for loss in heldout.losses.values()
    ]
    for name, source in (("gain", "gain"), ("gain_se", "se"), ("gain_z", "z")):
        # group_losses goes through the models within a group, so the models' columns interleave.
        columns[name] = np.stack([gain[source] for gain in gains], axis=1).ravel()
    nats = {name: loss + np.log(2.0) * heldout.spelling for name, loss in heldout.losses.items()}
    bits = [
        evaluate.bits_per_unit(loss[mask], heldout.origin.cluster[mask], heldout.characters[mask])
        for mask in groups.values()
        for loss in nats.values()
    ]
    columns["bits_per_character"] = np.array([estimate.mean for estimate in bits])
    columns["bits_se"] = np.array([estimate.se for estimate in bits])
    columns["reason"] = columns.pop("reason")
    return columns


def learned_table(heldout: Measured, grid: Mapping[str, NDArray[Any]], epochs: Mapping[str, NDArray[Any]]) -> Table:
    """The learned kernel beside the fixed one that it started from, on held-out documents.

    Returns
    -------
    One row: epochs, epoch (chosen), lambda, train_start, train_end (training pointer losses), fixed, fixed_se,
    learned, learned_se (held-out pointer losses over the repeats), mixture, mixture_se (nats per token), gain, gain_se
    (paired, over the mixture with the fixed kernel), gain_z.
    """
    best = int(np.flatnonzero(epochs["chosen"])[0])
    # The cache knows a target exactly where it has occurred before with a previous token.
    seen = heldout.fixed > 0.0
    pointer = [
        evaluate.ratio_mean(evaluate.losses(p[seen]), heldout.origin.cluster[seen])
        for p in (heldout.fixed, heldout.learned)
    ]
    mixed = evaluate.ratio_mean(heldout.losses[LEARNED], heldout.origin.cluster)
    gain = evaluate.ratio_mean(heldout.losses[MIXTURE] - heldout.losses[LEARNED], heldout.origin.cluster)
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


def distance_table(heldout: Measured, edges: Sequence[int]) -> Table:
    """Losses on repeats by the distance back to the previous mention.

    Parameters
    ----------
    heldout
        Held-out tokens.
    edges
        Last distance of each bin but the last, in tokens.

    Returns
    -------
    One row a scope and bin: scope (all; in vocabulary), distance (such as 1-12), tokens, share (of the scope's
    repeats), earlier_sentence (share whose previous mention stands in an earlier sentence), kn, mixture (nats per
    token), gain, gain_se.
    """
    mentions = evaluate.mentions(heldout.token, heldout.origin.document, heldout.sentence)
    bins = evaluate.distance_groups(mentions.distance, edges)
    scopes = {"all": mentions.repeat, "in vocabulary": mentions.repeat & heldout.known}
    cells = {(scope, name): inside & within for scope, inside in scopes.items() for name, within in bins.items()}
    names = list(cells)
    gains = evaluate.paired_gains(
        heldout.losses[KNESER_NEY],
        heldout.losses[MIXTURE],
        heldout.origin,
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


def far_gain_ratio(heldout: Measured) -> float:
    """Summed gain on repeats whose previous mention is in an earlier sentence, over the summed gain of all tokens."""
    earlier = evaluate.mentions(heldout.token, heldout.origin.document, heldout.sentence).earlier_sentence
    gain = heldout.losses[KNESER_NEY] - heldout.losses[MIXTURE]
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
