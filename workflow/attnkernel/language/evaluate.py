"""Losses of language models: ratio estimates with clustered errors, paired gains, and where the gains arise.

Every function takes flat arrays, one entry a token, the documents one after another. A mean is a ratio of
sums over clusters, because clusters are what was sampled: the documents, or groups of documents that resemble each
other, such as the reports of one company. Its standard error follows from the clusters' own residuals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attnkernel.language.cache import mixture
from attnkernel.normal_form import normalised

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
Table = dict[str, NDArray[Any]]


class Estimate(NamedTuple):
    """A ratio of sums over clusters, and its standard error.

    Attributes
    ----------
    mean, se
        In the unit of the values. NaN where undefined.
    tokens, clusters
        What they rest on; clusters without a token do not count.
    reason
        Why a number is undefined; empty when both are defined.
    """

    mean: float
    se: float
    tokens: int
    clusters: int
    reason: str


class Sums(NamedTuple):
    """Losses of mixtures summed over each document: what a shard can say of its own documents.

    Attributes
    ----------
    losses
        Nats, (documents, caches, lambdas).
    tokens
        (documents,).
    cluster
        Name of what each document's error is clustered by, (documents,), where there are to be errors.
    """

    losses: Floats
    tokens: Floats
    cluster: NDArray[np.object_] | None = None

    def means(self) -> Floats:
        """Mean loss of each mixture, nats per token, (caches, lambdas)."""
        return np.asarray(self.losses.sum(axis=0) / self.tokens.sum())

    def columns(self) -> Table:
        """As a table, a row a document; `gathered` reads it back."""
        named = {} if self.cluster is None else {"cluster": self.cluster}
        documents, caches, lambdas = self.losses.shape
        return {"tokens": self.tokens, "losses": self.losses.reshape(documents, caches * lambdas), **named}

    @classmethod
    def gathered(cls, tables: Iterable[Mapping[str, NDArray[Any]]], lambdas: int) -> Sums:
        """Those of all shards, from the table of each in their order; there are so many lambdas."""
        parts = list(tables)
        losses = np.concatenate([part["losses"] for part in parts])
        cluster = np.concatenate([part["cluster"] for part in parts]) if "cluster" in parts[0] else None
        tokens = np.concatenate([part["tokens"] for part in parts])
        documents, mixtures = losses.shape
        return cls(losses.reshape(documents, mixtures // lambdas, lambdas), tokens, cluster)

    def clustered(self) -> Sums:
        """The sums over each cluster instead, in the order in which clusters appear."""
        names = np.arange(len(self.tokens)).tolist() if self.cluster is None else self.cluster.tolist()
        number = {name: code for code, name in enumerate(dict.fromkeys(names))}
        code = np.array([number[name] for name in names], dtype=np.int64)
        losses, tokens = np.zeros((len(number), *self.losses.shape[1:])), np.zeros(len(number))
        np.add.at(losses, code, self.losses)
        np.add.at(tokens, code, self.tokens)
        return Sums(losses, tokens)


def ratio_mean(values: Floats, cluster: Integers, units: Floats | None = None) -> Estimate:
    """Estimate the sum of values over the sum of units, with its clustered standard error.

    `se^2 = G/(G-1) sum_g (Y_g - R N_g)^2 / N^2`, the linearised variance of a ratio estimator (Cochran 1977,
    section 6) over G clusters with sums `Y_g` and `N_g`.

    Parameters
    ----------
    values
        One a token, such as nats, (tokens,).
    cluster
        The document of each token, or the group that its document belongs to, non-negative integers, (tokens,).
    units
        What the mean is taken per, (tokens,); one a token by default, characters for bits per character.
    """
    _, code = np.unique(cluster, return_inverse=True)
    units = np.ones(len(values)) if units is None else units
    sums, sizes = (np.bincount(code, weights=each).astype(np.float64, copy=False) for each in (values, units))
    return ratio_of_sums(sums, sizes, len(values))


def ratio_of_sums(sums: Floats, sizes: Floats, tokens: int) -> Estimate:
    """`ratio_mean` from the values and the units that each cluster sums to, (clusters,) each."""
    clusters, size = len(sums), float(sizes.sum())
    if size == 0.0:
        return Estimate(np.nan, np.nan, tokens, clusters, "nothing to average")
    mean = float(sums.sum()) / size
    if clusters == 1:
        return Estimate(mean, np.nan, tokens, 1, "one document or group: its standard error is undefined")
    residuals = sums - mean * sizes
    variance = clusters / (clusters - 1) * float(np.sum(residuals**2)) / size**2
    return Estimate(mean, variance**0.5, tokens, clusters, "")


def losses(probabilities: Floats) -> Floats:
    """Surprise of each token in nats; an impossible token costs infinity, without a warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(probabilities), dtype=np.float64)


def lambda_grid(start: float, stop: float, step: float) -> Floats:
    """Mixture weights from `start` to `stop`, both included, each the nearest number to its decimal."""
    count = round((stop - start) / step)
    return np.round(start + step * np.arange(count + 1), 12)


def mixture_sums(kneser_ney: Floats, caches: Floats, lambdas: Floats, document: Integers) -> Sums:
    """Sum the loss of each mixture over each document.

    Parameters
    ----------
    kneser_ney
        Probabilities, (tokens,).
    caches
        Probabilities of each cache, (caches, tokens), NaN where nothing precedes.
    lambdas
        Weights of Kneser-Ney, (lambdas,).
    document
        The document of each token, non-negative integers that rise, (tokens,).
    """
    _, cluster = np.unique(document, return_inverse=True)
    tokens = np.bincount(cluster).astype(np.float64)
    # A shard may have no document of a split.
    sums = np.zeros((len(tokens), len(caches), len(lambdas)))
    for row, cache in enumerate(caches):
        for column, weight in enumerate(lambdas):
            loss = losses(mixture(kneser_ney, cache, weight))
            sums[:, row, column] = np.bincount(cluster, weights=loss, minlength=len(tokens))
    return Sums(sums, tokens)


def beta_grid(betas: ArrayLike, lambdas: Floats, dev: Sums, heldout: Sums) -> Table:
    """Choose lambda at each beta, and beta, on development documents; and score both splits.

    Parameters
    ----------
    betas, lambdas
        The grid, (B,) and (L,).
    dev, heldout
        Sums of the mixtures with the cache at each beta.

    Returns
    -------
    One row a beta: beta, lambda, dev, dev_se, heldout, heldout_se (nats per token), chosen (the best on
    development).
    """
    best = dev.means().argmin(axis=1)
    columns: Table = {"beta": np.asarray(betas, dtype=np.float64), "lambda": lambdas[best]}
    for split, sums in {"dev": dev, "heldout": heldout}.items():
        over = sums.clustered()
        tokens = int(sums.tokens.sum())
        estimates = [
            ratio_of_sums(np.ascontiguousarray(over.losses[:, row, column]), over.tokens, tokens)
            for row, column in enumerate(best)
        ]
        columns[split] = np.array([estimate.mean for estimate in estimates])
        columns[f"{split}_se"] = np.array([estimate.se for estimate in estimates])
    columns["chosen"] = np.arange(len(best)) == columns["dev"].argmin()
    return columns


class Mentions(NamedTuple):
    """Where each token's word was mentioned before in its document.

    Attributes
    ----------
    distance
        Tokens back to the previous mention, (tokens,); 0 for a first mention.
    earlier_sentence
        Whether that mention stands in an earlier sentence, (tokens,); False for a first mention.
    """

    distance: Integers
    earlier_sentence: Mask

    @property
    def repeat(self) -> Mask:
        """Whether the word occurred before in the document, (tokens,)."""
        return self.distance > 0


def mentions(token: Integers, document: Integers, sentence: Integers) -> Mentions:
    """Find each token's previous mention.

    Parameters
    ----------
    token
        Ids of the words as they are compared: equal ids are mentions of one word, (tokens,).
    document, sentence
        Of each token, (tokens,); sentences are numbered within the document or throughout.
    """
    order = np.lexsort((np.arange(len(token)), token, document))
    same = (token[order][1:] == token[order][:-1]) & (document[order][1:] == document[order][:-1])
    here, before = order[1:][same], order[:-1][same]
    distance = np.zeros(len(token), dtype=np.int64)
    distance[here] = here - before
    earlier = np.zeros(len(token), dtype=np.bool_)
    earlier[here] = sentence[here] != sentence[before]
    return Mentions(distance, earlier)


def distance_groups(distance: Integers, edges: Sequence[int]) -> dict[str, Mask]:
    """Group repeats by the distance of their previous mention: edges (12, 50) give 1-12, 13-50 and 51+."""
    groups = {}
    lowest = 1
    for edge in edges:
        groups[f"{lowest}-{edge}"] = (distance >= lowest) & (distance <= edge)
        lowest = edge + 1
    groups[f"{lowest}+"] = distance >= lowest
    return groups


class Origin(NamedTuple):
    """Where tokens come from.

    Attributes
    ----------
    document
        Document of each token, (tokens,).
    cluster
        What standard errors are clustered by: the document, or its group, (tokens,).
    """

    document: Integers
    cluster: Integers


def group_losses(models: Mapping[str, Floats], origin: Origin, groups: Mapping[str, Mask]) -> Table:
    """Mean loss of each model over each group of tokens.

    Parameters
    ----------
    models
        Loss of each token under each model, nats, (tokens,) each.
    origin
        Documents and clusters.
    groups
        Which tokens belong to each group, (tokens,) each.

    Returns
    -------
    One row a group and model: group, model, tokens, documents, clusters, share (of all tokens), loss, se (nats per
    token), perplexity, reason (why a number is missing).
    """
    cells = [
        (group, model, ratio_mean(values[mask], origin.cluster[mask]))
        for group, mask in groups.items()
        for model, values in models.items()
    ]
    estimates = [estimate for _, _, estimate in cells]
    loss = np.array([estimate.mean for estimate in estimates])
    return {
        "group": np.array([group for group, _, _ in cells], dtype=object),
        "model": np.array([model for _, model, _ in cells], dtype=object),
        **_counts(np.repeat([*groups.values()], len(models), axis=0), origin),
        "loss": loss,
        "se": np.array([estimate.se for estimate in estimates]),
        "perplexity": np.exp(loss),
        "reason": np.array([estimate.reason for estimate in estimates], dtype=object),
    }


def paired_gains(before: Floats, after: Floats, origin: Origin, groups: Mapping[str, Mask]) -> Table:
    """Mean paired gain `before - after` over each group of tokens.

    Returns
    -------
    One row a group: group, tokens, documents, clusters, share (of all tokens), before, after, gain, se (nats per
    token), z (gain in standard errors), part (the group's summed gain over that of all tokens), reason.
    """
    difference = before - after
    estimates = [ratio_mean(difference[mask], origin.cluster[mask]) for mask in groups.values()]
    gain, se = np.array([e.mean for e in estimates]), np.array([e.se for e in estimates])
    with np.errstate(divide="ignore", invalid="ignore"):
        z = gain / se
        part = np.array([difference[mask].sum() for mask in groups.values()]) / difference.sum()
    return {
        "group": np.array(list(groups), dtype=object),
        **_counts(np.array([*groups.values()]), origin),
        "before": np.array([ratio_mean(before[mask], origin.cluster[mask]).mean for mask in groups.values()]),
        "after": np.array([ratio_mean(after[mask], origin.cluster[mask]).mean for mask in groups.values()]),
        "gain": gain,
        "se": se,
        "z": z,
        "part": part,
        "reason": np.array([estimate.reason for estimate in estimates], dtype=object),
    }


def characters(tokens: Sequence[str], silent: str = "</s>") -> Floats:
    """Count each token's characters as written, plus one separator, (tokens,).

    Characters are code points in Unicode normal form C, so that a decomposed accent is not a second
    character. The sentence end `silent` is written as its separator alone.
    """
    return np.array([1.0 if token == silent else len(normalised(token, "NFC")) + 1.0 for token in tokens])


def bits_per_unit(nats: Floats, cluster: Integers, units: Floats) -> Estimate:
    """Bits per character, byte or whatever `units` counts: never compare across different counts."""
    return ratio_mean(nats / np.log(2.0), cluster, units)


def _counts(masks: Mask, origin: Origin) -> Table:
    """How many tokens, documents and clusters each row of masks, (rows, tokens), holds, and its share of the tokens."""
    tokens = masks.sum(axis=1, dtype=np.int64)
    return {
        "tokens": tokens,
        "documents": np.array([len(np.unique(origin.document[mask])) for mask in masks], dtype=np.int64),
        "clusters": np.array([len(np.unique(origin.cluster[mask])) for mask in masks], dtype=np.int64),
        "share": tokens / max(masks.shape[1], 1),
    }
