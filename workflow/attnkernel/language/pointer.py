"""The learned kernel (Definition 4): a pointer loss asks the cache to put its weight where the target is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnkernel.language.cache import cache_columns, lay_out
from attnkernel.language.evaluate import Sums, mixture_sums
from attnkernel.optimize import Adam
from attnkernel.progress import track

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Positions taken at once: their attention over context types is one matrix.
_BLOCK: Final = 512
# Tokens of training whose blocks stay in memory, about a gibibyte; those of more are made anew for each step.
_HELD: Final = 2**20


@dataclass(frozen=True)
class PointerBlock:
    """Positions of one document whose target can be copied, and what precedes them; nothing here is learned.

    Attributes
    ----------
    query
        Type of each position's context, (positions,).
    key
        Types of the distinct contexts before the last position, (K,).
    before
        Earlier pairs with each context before the first position, (K,).
    row, column
        For each pair from there on: the first position that may read it, and its context among the keys.
    match_row, match_column
        Each position, in ascending order, beside each earlier pair of its target: that pair's context among the keys.
    """

    query: Integers
    key: Integers
    before: Floats
    row: Integers
    column: Integers
    match_row: Integers
    match_column: Integers

    @cached_property
    def match_start(self) -> Integers:
        """Where each position's matches begin, (positions,)."""
        return np.flatnonzero(np.diff(self.match_row, prepend=-1))

    @property
    def counts(self) -> Floats:
        """Earlier pairs with each context, (positions, K); made anew, for they would fill the memory."""
        rows, keys = len(self.query), len(self.key)
        steps = np.bincount(self.row * keys + self.column, minlength=rows * keys).reshape(rows, keys)
        return np.asarray(self.before + np.cumsum(steps, axis=0))


class Gradient(NamedTuple):
    """Summed pointer loss in nats, the positions it sums over, and its derivatives, (d, d) each."""

    loss: float
    positions: int
    A: Floats
    B: Floats


class History(NamedTuple):
    """Training, epoch by epoch; entry 0 is the start.

    Attributes
    ----------
    A, B
        The learned maps at the end of each epoch, (epochs + 1, d, d).
    """

    A: Floats
    B: Floats

    def columns(self) -> dict[str, NDArray[Any]]:
        """As a table, a row a row of the maps, epoch after epoch; `from_columns` reads it back."""
        return {name: maps.reshape(-1, maps.shape[-1]) for name, maps in self._asdict().items()}

    @classmethod
    def from_columns(cls, columns: Mapping[str, NDArray[Any]]) -> History:
        """Read back what `columns` laid out."""
        d = columns["A"].shape[1]
        return cls(*(columns[name].reshape(-1, d, d) for name in cls._fields))


class Losses(NamedTuple):
    """Pointer losses summed over each piece of some documents: what a shard can say of its own.

    Attributes
    ----------
    losses
        Nats, (pieces, epochs + 1).
    positions
        That the sums are over, (pieces,).
    """

    losses: Floats
    positions: Floats

    def means(self) -> Floats:
        """Mean pointer loss at each epoch, nats, (epochs + 1,); NaN if there is no position."""
        positions = self.positions.sum()
        return np.asarray(self.losses.sum(axis=0) / (positions if positions else np.nan))

    def columns(self) -> dict[str, NDArray[Any]]:
        """As a table, a row a piece; `gathered` reads it back."""
        return {"positions": self.positions, "losses": self.losses}

    @classmethod
    def gathered(cls, tables: Iterable[Mapping[str, NDArray[Any]]]) -> Losses:
        """Those of all shards, from the table of each in their order."""
        losses, positions = zip(*((table["losses"], table["positions"]) for table in tables), strict=True)
        return cls(np.concatenate(losses), np.concatenate(positions))


def pieces(documents: Sequence[Integers], window: int | None) -> Sequence[Integers]:
    """Cut documents of more than `window` tokens: their pairs of equal words grow with the square of the length."""
    if window is None:
        return documents
    return [document[start : start + window] for document in documents for start in range(0, len(document), window)]


def pointer_blocks(document: Integers) -> list[PointerBlock]:
    """Positions of a document whose target has occurred before with a previous token, in blocks."""
    if len(document) < 3:
        return []
    layout = lay_out(document, most=len(document))
    order = np.argsort(layout.position, kind="stable")
    match_pair = layout.position[order]
    pairs = np.unique(match_pair)
    blocks = []
    for start in range(0, len(pairs), _BLOCK):
        mine = pairs[start : start + _BLOCK]
        first, last = mine[0], mine[-1]
        keys = layout.known[last]
        here = order[np.searchsorted(match_pair, first) : np.searchsorted(match_pair, last, side="right")]
        blocks.append(
            PointerBlock(
                query=layout.types[layout.contexts[mine]],
                key=layout.types[:keys],
                before=np.bincount(layout.contexts[:first], minlength=keys).astype(np.float64),
                row=np.searchsorted(mine, np.arange(first, last), side="right"),
                column=layout.contexts[first:last],
                match_row=np.searchsorted(mine, layout.position[here]),
                match_column=layout.contexts[layout.earlier[here]],
            )
        )
    return blocks


def pointer_loss(blocks: Sequence[PointerBlock], vectors: Floats, A: Floats, B: Floats) -> float:
    """Mean pointer loss `-log sum_{j<t: x_j = x_t} alpha_tj` over the positions of `blocks`, in nats.

    Parameters
    ----------
    blocks
        From `pointer_blocks`, of one document or of many.
    vectors
        Word vectors u, (types, d).
    A, B
        `alpha_tj ~ exp(<A u(x_{t-1}), B u(x_{j-1})>)`, (d, d) each.

    Returns
    -------
    NaN if there is no position.
    """
    positions = sum(len(block.query) for block in blocks)
    total = sum(_attend(block, vectors, A, B).loss for block in blocks)
    return total / positions if positions else float("nan")


def pointer_gradient(blocks: Sequence[PointerBlock], vectors: Floats, A: Floats, B: Floats) -> Gradient:
    """Summed pointer loss and its gradient; arguments as `pointer_loss`.

    With the attention alpha of a position over contexts, and its share beta on the contexts that preceded
    the target, the score of a context has the derivative `alpha - beta`.
    """
    loss, positions = 0.0, 0
    gradient_A, gradient_B = np.zeros_like(A), np.zeros_like(B)
    for block in blocks:
        read = _attend(block, vectors, A, B)
        loss += read.loss
        positions += len(block.query)
        difference = read.attention
        np.subtract.at(difference, (block.match_row, block.match_column), read.share)
        gradient_A += (difference @ read.keys).T @ vectors[block.query]
        gradient_B += (difference.T @ read.queries).T @ vectors[block.key]
    return Gradient(loss, positions, gradient_A, gradient_B)


def train(
    documents: Sequence[Integers],
    vectors: Floats,
    beta: float,
    *,
    epochs: int,
    step: float,
    batch: int,
    generator: np.random.Generator,
    window: int | None = None,
) -> History:
    """Train the kernel by Adam on the pointer loss, from the fixed kernel `A = B = sqrt(beta) I`.

    Parameters
    ----------
    documents
        Training documents, token ids each.
    vectors
        Word vectors, (types, d); they stay as they are.
    beta
        Concentration of the fixed kernel.
    epochs, step, batch
        Passes over the documents, step size, documents a step.
    generator
        Shuffles the documents before each pass.
    window
        Tokens at which documents are cut; None leaves them whole.
    """
    # A piece in which no target comes back has no position to learn from.
    cut = [piece for piece in pieces(documents, window) if len(np.unique(piece[1:])) < len(piece) - 1]

    def blocks(index: int) -> list[PointerBlock]:
        return pointer_blocks(cut[index])

    if sum(map(len, cut)) <= _HELD:
        blocks = cache(blocks)
    maps = {name: np.sqrt(beta) * np.eye(vectors.shape[1]) for name in ("A", "B")}
    adam = Adam(maps, step)
    snapshots = [{name: value.copy() for name, value in maps.items()}]
    for _ in track(range(epochs), "training the kernel"):
        order = generator.permutation(len(cut)).tolist()
        for start in range(0, len(order), batch):
            chosen = [block for index in order[start : start + batch] for block in blocks(index)]
            gradient = pointer_gradient(chosen, vectors, **maps)
            adam.update({"A": gradient.A / gradient.positions, "B": gradient.B / gradient.positions})
        snapshots.append({name: value.copy() for name, value in maps.items()})
    stacked = {name: np.stack([snapshot[name] for snapshot in snapshots]) for name in maps}
    return History(stacked["A"], stacked["B"])


def epoch_losses(history: History, vectors: Floats, documents: Sequence[Integers], window: int | None = None) -> Losses:
    """Pointer losses of documents at the end of each epoch; arguments as `train`."""
    cut = pieces(documents, window)
    losses, positions = np.zeros((len(cut), len(history.A))), np.zeros(len(cut))
    for index, piece in enumerate(track(cut, "the pointer loss at each epoch")):
        blocks = pointer_blocks(piece)
        positions[index] = sum(len(block.query) for block in blocks)
        for epoch, (A, B) in enumerate(zip(*history, strict=True)):
            losses[index, epoch] = sum(_attend(block, vectors, A, B).loss for block in blocks)
    return Losses(losses, positions)


def epoch_mixtures(
    history: History, vectors: Floats, documents: Sequence[Integers], kneser_ney: Floats, lambdas: Floats
) -> Sums:
    """Summed losses of the mixtures with the kernel of each epoch, document by document.

    Parameters
    ----------
    history, vectors
        As `epoch_losses`.
    documents
        Token ids each; they are read whole.
    kneser_ney
        Probability of each of their tokens, one document after another, (tokens,).
    lambdas
        Mixture weights to choose from.
    """
    caches = [
        cache_columns(documents, vectors @ A.T, vectors @ B.T, [1.0])
        for A, B in track(list(zip(*history, strict=True)), "scoring each epoch")
    ]
    code = np.repeat(np.arange(len(documents)), [len(document) for document in documents])
    return mixture_sums(kneser_ney, np.concatenate(caches), lambdas, code)


def epoch_table(train: Losses, dev: Losses, mixtures: Sums, lambdas: Floats) -> dict[str, NDArray[Any]]:
    """Choose the epoch, and its lambda, on development documents.

    Parameters
    ----------
    train, dev
        From `epoch_losses`.
    mixtures
        From `epoch_mixtures`, on development documents.
    lambdas
        Mixture weights to choose from.

    Returns
    -------
    One row an epoch, 0 the fixed kernel: epoch, train and dev (pointer losses, nats), lambda (the best at this epoch),
    dev_mixture (nats per token), chosen (the trained epoch whose mixture is best).
    """
    grid = mixtures.means()
    mixed = grid.min(axis=1)
    epochs = np.arange(len(mixed))
    return {
        "epoch": epochs,
        "train": train.means(),
        "dev": dev.means(),
        "lambda": lambdas[grid.argmin(axis=1)],
        "dev_mixture": mixed,
        "chosen": epochs == 1 + mixed[1:].argmin(),
    }


class _Reading(NamedTuple):
    """Attention of a block over its contexts, (positions, K), the share of each match, and the mapped vectors."""

    loss: float
    attention: Floats
    share: Floats
    queries: Floats
    keys: Floats


def _attend(block: PointerBlock, vectors: Floats, A: Floats, B: Floats) -> _Reading:
    queries, keys = vectors[block.query] @ A.T, vectors[block.key] @ B.T
    scores = queries @ keys.T
    counts = block.counts
    # Each sum relative to its own largest term: a match far below the best context must not underflow.
    attention = np.where(counts > 0.0, scores, -np.inf)
    top = attention.max(axis=1)
    attention -= top[:, None]
    np.exp(attention, out=attention)
    attention *= counts
    total = attention.sum(axis=1)
    attention /= total[:, None]

    start = block.match_start
    matching = scores[block.match_row, block.match_column]
    best = np.maximum.reduceat(matching, start)
    share = np.exp(matching - best[block.match_row])
    matched = np.add.reduceat(share, start)
    share /= matched[block.match_row]
    loss = float(np.sum(top + np.log(total) - best - np.log(matched)))
    return _Reading(loss, attention, share, queries, keys)
