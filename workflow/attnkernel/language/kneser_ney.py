"""Interpolated Kneser-Ney on integer texts, with the counts of KenLM.

A text is one flat integer array of word ids in which ``</s>`` closes every sentence; ``<s>`` is never in it,
it is implied before each sentence. An n-gram is known by the index of its history (its first n - 1 words, one
level up) and by its last word, which makes one int64 key whatever the order. The n-gram that ends at a token
then follows from the (n-1)-gram that ends one token earlier, so a whole text is counted, or looked up, with
one sort a level.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

UNKNOWN, START, END = 0, 1, 2
RESERVED = ("<unk>", "<s>", "</s>")

Discounting = Literal["modified", "single"] | float

SCORING = ("order", "history", "word", "probability", "backoff")

FALLBACK = (0.5, 1.0, 1.5)
SINGLE_FALLBACK = 0.75


class DiscountWarning(UserWarning):
    """The counts of counts leave an order's discounts undefined, and a fixed rule stands in."""


class Scores(NamedTuple):
    """What a model says about each token of a text, as arrays of the text's length.

    Attributes
    ----------
    probability
        Probability of the token given its history in the sentence.
    matched
        Length of the longest stored n-gram that ends at the token: 1 where no history was of use.
    """

    probability: Floats
    matched: Integers


class Ngrams(NamedTuple):
    """The n-grams of one length in a text, sorted by key.

    Attributes
    ----------
    keys
        As in `Level`.
    suffix
        Index one level down of the n-gram without its first word; 0 for unigrams.
    occurrences
        How often each occurs, if it is of the longest length; below that, for those that begin with ``<s>`` alone, as
        the others are counted by what precedes them.
    """

    keys: Integers
    suffix: Integers
    occurrences: Integers


Counts = tuple[Ngrams, ...]


@dataclass(frozen=True)
class Level:
    """The stored n-grams of one length, sorted by key.

    Attributes
    ----------
    keys
        Index of the history one level up, times the number of types, plus the last word (unigrams: the word).
    probability
        Interpolated probability of the last word given the history.
    backoff
        Weight of the shorter history where this n-gram is the history (gamma of Chen and Goodman 1999); 1
        where it is the history of nothing stored.
    """

    keys: Integers
    probability: Floats
    backoff: Floats


@dataclass(frozen=True)
class Backoff:
    """An n-gram model in back-off form.

    A word has the probability of the longest stored n-gram that ends in it, times the back-off weight of each
    longer history that is stored.

    Attributes
    ----------
    types
        Size of the vocabulary, ``<unk>``, ``<s>`` and ``</s>`` (ids 0, 1, 2) included.
    levels
        One `Level` for each length, from the unigrams (all of them, in order of id) up.
    """

    types: int
    levels: tuple[Level, ...]

    @property
    def order(self) -> int:
        """Length of the longest n-grams."""
        return len(self.levels)

    def score(self, text: Integers) -> Scores:
        """Probability and matched length of every token of a text; see `Scores`.

        Raises
        ------
        ValueError
            `text` is not one-dimensional, or holds an id outside the vocabulary or ``<s>``.
        """
        text = _checked(text, self.types)
        probability = self.levels[0].probability[text]
        matched = np.ones(len(text), dtype=np.int64)
        ids = text
        for n in range(2, self.order + 1):
            below, level = self.levels[n - 2], self.levels[n - 1]
            history = _histories(ids, text, n)
            stored = np.flatnonzero(history >= 0)
            history = history[stored]
            probability[stored] *= below.backoff[history]
            ids = np.full(len(text), -1)
            ids[stored] = find_keys(level.keys, history * self.types + text[stored])
            found = np.flatnonzero(ids >= 0)
            probability[found] = level.probability[ids[found]]
            matched[found] = n
        return Scores(probability, matched)

    def probabilities(self, text: Integers) -> Floats:
        """Probability of every token of a text given its history in the sentence; raises as `score`."""
        return self.score(text).probability

    def conditional(self, history: Integers) -> Floats:
        """Distribution of the next word after `history`, the words of the sentence so far.

        Parameters
        ----------
        history
            Word ids since the sentence's start, which is implied; only the last ``order - 1`` are of use.

        Returns
        -------
        Array (types,) that sums to 1; ``<s>`` has probability 0.

        Raises
        ------
        ValueError
            As `score`, or `history` contains ``</s>``: it belongs to a sentence that is over.
        """
        history = _checked(history, self.types)
        if (history == END).any():
            raise ValueError("the history contains </s>: give only the words since the sentence's start")
        context = np.concatenate(([START], history))[max(0, len(history) + 2 - self.order) :]
        distribution = self.levels[0].probability.copy()
        for n in range(2, min(self.order, len(context) + 1) + 1):
            node = self._node(context[len(context) - n + 1 :])
            if node < 0:
                continue
            distribution *= self.levels[n - 2].backoff[node]
            level = self.levels[n - 1]
            first, last = np.searchsorted(level.keys, [node * self.types, (node + 1) * self.types])
            distribution[level.keys[first:last] - node * self.types] = level.probability[first:last]
        return distribution

    def _node(self, ngram: Integers) -> int:
        """Index of `ngram` in its level, -1 where it is not stored."""
        node = ngram[:1]
        for level, word in zip(self.levels[1:], ngram[1:], strict=False):
            node = find_keys(level.keys, node * self.types + word)
            if node[0] < 0:
                return -1
        return int(node[0])


@dataclass(frozen=True)
class KneserNey(Backoff):
    """An interpolated Kneser-Ney model: a back-off form and what it was computed from.

    Attributes
    ----------
    counts
        For each level, the adjusted counts of its n-grams: occurrences at the top and for what begins with
        ``<s>``, otherwise the number of distinct words before it.
    discounts
        Array (order, 3): what is taken from adjusted counts of 1, 2, and 3 or more.
    """

    counts: tuple[Integers, ...]
    discounts: Floats


def estimate(
    text: Integers,
    types: int,
    order: int = 3,
    discounting: Discounting = "modified",
) -> KneserNey:
    """Estimate interpolated Kneser-Ney as KenLM does.

    ``p(w | h) = (c(hw) - D(c(hw))) / sum_v c(hv) + gamma(h) p(w | h')``, with ``h'`` the history without its
    first word, down to the uniform distribution over the closed vocabulary: all types but ``<s>`` (Kneser and
    Ney 1995; Chen and Goodman 1999, section 3; Heafield et al. 2013).

    Parameters
    ----------
    text
        Word ids; ``</s>`` (2) closes every sentence, ``<s>`` (1) is implied and must not appear.
    types
        Size of the vocabulary, the three reserved ids included.
    order
        Length of the longest n-grams, at least 1.
    discounting
        ``"modified"``: three discounts a level; ``"single"``: one a level; a number in (0, 1]: that discount
        everywhere. See `discounts`, also for counts that leave them undefined.

    Raises
    ------
    ValueError
        The text is empty, does not end with ``</s>``, or holds an id that is not allowed; or the order or the
        discount is out of range.

    Warns
    -----
    DiscountWarning
        A level's discounts are undefined and the fallback is used.
    """
    text = _checked(text, types)
    if len(text) == 0 or text[-1] != END:
        raise ValueError("a training text must have at least one sentence and end with </s> (id 2)")
    return estimate_from_counts(count_ngrams(text, types, order), discounting)


def estimate_from_counts(ngrams: Counts, discounting: Discounting = "modified") -> KneserNey:
    """Estimate the model of a text, or of its shards together, from counts alone; see `estimate`, `merge_counts`."""
    types, order = len(ngrams[0].keys), len(ngrams)
    counts = [
        *(
            # What nothing precedes begins with <s>: no continuation to count, so it keeps its occurrences.
            np.bincount(longer.suffix, minlength=len(level.keys)) + level.occurrences
            for level, longer in pairwise(ngrams)
        ),
        ngrams[-1].occurrences,
    ]
    amounts = np.array([discounts(counts_of_counts(count), discounting, n) for n, count in enumerate(counts, start=1)])
    uniform = np.full(types, 1.0 / (types - 1))
    uniform[START] = 0.0
    kept, gamma = _discounted(np.zeros(types, dtype=np.int64), counts[0], amounts[0], 1)
    probabilities, backoffs = [kept + gamma * uniform], []
    for n in range(1, order):
        history = ngrams[n].keys // types
        kept, gamma = _discounted(history, counts[n], amounts[n], len(ngrams[n - 1].keys))
        probabilities.append(kept + gamma[history] * probabilities[-1][ngrams[n].suffix])
        backoffs.append(gamma)
    backoffs.append(np.ones(len(ngrams[-1].keys)))
    levels = tuple(
        Level(level.keys, probability, backoff)
        for level, probability, backoff in zip(ngrams, probabilities, backoffs, strict=True)
    )
    return KneserNey(types, levels, tuple(counts), amounts)


def count_ngrams(text: Integers, types: int, order: int) -> Counts:
    """Count the n-grams of a text, which may be one shard of many; see `Ngrams`, one for each length from 1.

    Raises
    ------
    ValueError
        The text holds an id that is not allowed, or the order is below 1.
    """
    text = _checked(text, types)
    if order < 1:
        raise ValueError(f"the order must be at least 1, not {order}")
    keys, suffix, ids = np.arange(types), np.zeros(types, dtype=np.int64), text
    levels = []
    for n in range(2, order + 1):
        history = _histories(ids, text, n)
        begins = ids[(history < 0) & (ids >= 0)]
        levels.append(Ngrams(keys, suffix, np.bincount(begins, minlength=len(keys))))
        inside = np.flatnonzero(history >= 0)
        keys, first, inverse = np.unique(history[inside] * types + text[inside], return_index=True, return_inverse=True)
        suffix = ids[inside[first]]
        ids = np.full(len(text), -1)
        ids[inside] = inverse
    return (*levels, Ngrams(keys, suffix, np.bincount(ids[ids >= 0], minlength=len(keys))))


def merge_counts(shards: Iterable[Counts]) -> Counts:
    """Counts of several texts together, from those of each: what `count_ngrams` says of the texts in one.

    At most a few partial sums are held at once, and each n-gram is merged as often as the logarithm of the number of
    shards. All shards must be counted over one vocabulary, to one order.

    Raises
    ------
    ValueError
        There is no shard.
    """
    sums: list[Counts] = []
    for shard in shards:
        sums.append(shard)
        # As in a merge sort: sums of like size are merged, so a large one is not copied for every small one.
        while len(sums) > 1 and len(sums[-2][-1].keys) <= 2 * len(sums[-1][-1].keys):
            sums.append(_merged(sums.pop(-2), sums.pop()))
    if not sums:
        raise ValueError("there is no shard to merge")
    return reduce(lambda shorter, longer: _merged(longer, shorter), reversed(sums))


def counts_of_counts(counts: Integers) -> Integers:
    """How many n-grams have an adjusted count of 1, 2, 3 and 4: an array (4,)."""
    return np.bincount(np.minimum(counts, 5), minlength=6)[1:5].astype(np.int64)


def discounts(of_counts: Integers, discounting: Discounting = "modified", order: int = 1) -> Floats:
    """Discounts of one level from its counts of counts n1 to n4 (Chen and Goodman 1999, equations 17, 26).

    Modified: ``D_k = k - (k + 1) Y n_(k+1) / n_k``, ``Y = n1 / (n1 + 2 n2)``. They are undefined where n1, n2
    or n3 is zero, and useless where one leaves (0, k]: below it mass is negative, at 0 a history may keep
    everything and leave an unseen word nothing. All three then fall back on 0.5, 1 and 1.5: KenLM's rule, but
    that KenLM lets a 0 pass. Single: ``Y``, and 0.75 where n1 or n2 is zero.

    Parameters
    ----------
    of_counts
        Array (4,), from `counts_of_counts`.
    discounting
        As in `estimate`.
    order
        Length of the level's n-grams, for the warning.

    Returns
    -------
    Array (3,): what is taken from counts of 1, 2, and 3 or more.

    Raises
    ------
    ValueError
        `discounting` is neither a rule's name nor a number in (0, 1].

    Warns
    -----
    DiscountWarning
        The counts leave the discounts undefined; it names the order and the counts.
    """
    if not isinstance(discounting, str):
        if not 0.0 < discounting <= 1.0:
            raise ValueError(f"a discount must lie in (0, 1], not {discounting}")
        return np.full(3, float(discounting))
    if discounting not in ("modified", "single"):
        raise ValueError(f"discounting must be 'modified', 'single' or a number in (0, 1], not {discounting!r}")
    n = np.asarray(of_counts, dtype=np.float64)
    needed = 3 if discounting == "modified" else 2
    why = "a count of counts is zero"
    if (n[:needed] > 0).all():
        y = n[0] / (n[0] + 2.0 * n[1])
        if discounting == "single":
            return np.full(3, y)
        k = np.array([1.0, 2.0, 3.0])
        raw: Floats = k - (k + 1.0) * y * n[1:] / n[:-1]
        if ((raw > 0.0) & (raw <= k)).all():
            return raw
        why = f"the discounts {', '.join(f'{d:.4g}' for d in raw)} leave (0, k]"
    fallback = FALLBACK if discounting == "modified" else (SINGLE_FALLBACK,)
    warnings.warn(
        f"Kneser-Ney order {order}: {why} (n1 to n4 = {', '.join(f'{c:.0f}' for c in n)}); "
        f"falling back on {', '.join(f'{d:g}' for d in fallback)}",
        DiscountWarning,
        stacklevel=2,
    )
    return np.broadcast_to(np.array(fallback), 3).copy()


def to_columns(model: KneserNey) -> dict[str, NDArray[Any]]:
    """Lay a model out as one plain table, a row an n-gram; `from_columns` reads it back to the bit.

    Columns: order; history (index, among the rows of the order below, of the n-gram without its last word; 0
    for unigrams); word; count (adjusted); probability; backoff; discount_1 to discount_3 (of its order).
    """
    pieces = list(column_pieces(model, max(len(level.keys) for level in model.levels)))
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}


def column_pieces(model: KneserNey, rows: int = 2**20) -> Iterator[dict[str, NDArray[Any]]]:
    """The table of `to_columns` in pieces of at most so many rows, each of one order."""
    for order, (level, counts) in enumerate(zip(model.levels, model.counts, strict=True), start=1):
        amounts = {f"discount_{k}": amount for k, amount in enumerate(model.discounts[order - 1], start=1)}
        for start in range(0, len(level.keys), rows):
            part = slice(start, start + rows)
            keys = level.keys[part]
            yield {
                "order": np.full(len(keys), order),
                "history": keys // model.types,
                "word": keys % model.types,
                "count": counts[part],
                "probability": level.probability[part],
                "backoff": level.backoff[part],
                **{name: np.full(len(keys), amount) for name, amount in amounts.items()},
            }


def counts_to_columns(ngrams: Counts) -> dict[str, NDArray[Any]]:
    """Lay counts out as one plain table, a row an n-gram; `counts_from_columns` reads it back.

    Columns: order, history and word as `to_columns` has them; suffix and occurrences as in `Ngrams`.
    """
    types = len(ngrams[0].keys)
    keys = np.concatenate([level.keys for level in ngrams])
    return {
        "order": np.repeat(np.arange(1, len(ngrams) + 1), [len(level.keys) for level in ngrams]),
        "history": keys // types,
        "word": keys % types,
        "suffix": np.concatenate([level.suffix for level in ngrams]),
        "occurrences": np.concatenate([level.occurrences for level in ngrams]),
    }


def counts_from_columns(columns: Mapping[str, NDArray[Any]], order: int) -> Counts:
    """Rebuild counts up to `order` from the table of `counts_to_columns`, rows in the order that it gave them."""
    sizes = np.bincount(columns["order"], minlength=order + 1)[1:]
    keys = columns["history"] * sizes[0] + columns["word"]
    bounds = np.cumsum(sizes)[:-1]
    parts = (np.split(values, bounds) for values in (keys, columns["suffix"], columns["occurrences"]))
    return tuple(Ngrams(*level) for level in zip(*parts, strict=True))


def from_columns(columns: Mapping[str, NDArray[Any]]) -> KneserNey:
    """Rebuild a model from the table of `to_columns`, rows in the order that it gave them."""
    plain = backoff_from_columns(columns)
    first = np.cumsum([0, *(len(level.keys) for level in plain.levels)])
    counts = tuple(np.split(columns["count"].astype(np.int64), first[1:-1]))
    amounts = np.stack([columns[f"discount_{k}"][first[:-1]] for k in (1, 2, 3)], axis=1)
    return KneserNey(plain.types, plain.levels, counts, amounts)


def backoff_from_columns(columns: Mapping[str, NDArray[Any]]) -> Backoff:
    """Rebuild what scores a text: of the table of `to_columns`, the columns `SCORING` suffice."""
    sizes = np.bincount(columns["order"])[1:]
    types = int(sizes[0])
    bounds = np.cumsum(sizes)[:-1]
    keys = columns["history"] * types + columns["word"]
    parts = (np.split(values, bounds) for values in (keys, columns["probability"], columns["backoff"]))
    return Backoff(types, tuple(Level(*arrays) for arrays in zip(*parts, strict=True)))


def backoff_for_texts(pieces: Iterable[Mapping[str, NDArray[Any]]], texts: Sequence[Integers]) -> Backoff:
    """Rebuild of a model what scores some texts: all words, and those longer n-grams that occur in one of them.

    To the bit, these texts have the probabilities that they have under the whole model, whose size the memory does not
    grow with.

    Parameters
    ----------
    pieces
        The columns `SCORING` of the table of `to_columns`, in pieces cut anywhere.
    texts
        Of word ids; `</s>` closes every sentence.
    """
    # Each is closed once more, so that none runs into the next.
    text = np.concatenate([np.append(text, END) for text in texts])
    levels: list[Level] = []
    for order, parts in groupby(_by_order(pieces), key=itemgetter(0)):
        columns = (part for _, part in parts)
        if order == 1:
            words = [(part["word"], part["probability"], part["backoff"]) for part in columns]
            levels.append(Level(*map(np.concatenate, zip(*words, strict=True))))
            types, ids, kept = len(levels[0].keys), text, levels[0].keys
            continue
        history = _histories(ids, text, order)
        stored = np.flatnonzero(history >= 0)
        wanted = history[stored] * types + text[stored]
        rows, level = _wanted(columns, np.unique(wanted), types)
        at = find_keys(level.keys, wanted)
        ids = np.full(len(text), -1)
        ids[stored[at >= 0]] = rows[at[at >= 0]]
        # Histories by their place among those kept, which stand in the same order.
        keys = np.searchsorted(kept, level.keys // types) * types + level.keys % types
        levels.append(Level(keys, level.probability, level.backoff))
        kept = rows
    return Backoff(types, tuple(levels))


def _by_order(pieces: Iterable[Mapping[str, NDArray[Any]]]) -> Iterator[tuple[int, dict[str, NDArray[Any]]]]:
    """Cut pieces of a model's table between orders too."""
    for piece in pieces:
        for order in np.unique(piece["order"]).tolist():
            start, stop = np.searchsorted(piece["order"], [order, order + 1])
            yield order, {name: column[start:stop] for name, column in piece.items()}


def _wanted(pieces: Iterable[Mapping[str, NDArray[Any]]], wanted: Integers, types: int) -> tuple[Integers, Level]:
    """Of a level in pieces, the n-grams of the wanted keys, and their places in the level."""
    found, begin = [], 0
    for piece in pieces:
        keys = piece["history"] * types + piece["word"]
        near = wanted[slice(*np.searchsorted(wanted, [keys[0], keys[-1] + 1]))]
        at = np.searchsorted(keys, near)
        at = at[keys[at] == near]
        found.append((begin + at, keys[at], piece["probability"][at], piece["backoff"][at]))
        begin += len(keys)
    rows, *level = map(np.concatenate, zip(*found, strict=True))
    return rows, Level(*level)


def find_keys(keys: Integers, wanted: Integers) -> Integers:
    """Index of each wanted key among the sorted `keys`, -1 where it is absent."""
    if len(keys) == 0:
        return np.full_like(wanted, -1)
    # In sorted order the binary searches walk through memory once, which is what makes them fast.
    order = _ascending(wanted)
    ordered = wanted[order]
    at = np.searchsorted(keys, ordered)
    at[at == len(keys)] = 0
    found = np.empty_like(wanted)
    found[order] = np.where(keys[at] == ordered, at, -1)
    return found


def _ascending(keys: Integers) -> Integers:
    """Order that sorts keys, none negative, 16 bits at a time: numpy's stable sort of so few is a radix sort."""
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    for shift in range(16, int(keys.max(initial=0)).bit_length(), 16):
        order = order[np.argsort((keys >> shift).astype(np.uint16)[order], kind="stable")]
    return order


def _merged(one: Counts, other: Counts) -> Counts:
    """Counts of two texts together. Indices move but keep their order, so that keys stay sorted from level to level."""
    types = len(one[0].keys)
    merged = [one[0]._replace(occurrences=one[0].occurrences + other[0].occurrences)]
    places = (one[0].keys, other[0].keys)
    for level in zip(one[1:], other[1:], strict=True):
        moved = [
            place[each.keys // types] * types + each.keys % types for place, each in zip(places, level, strict=True)
        ]
        keys, *here = _union(*moved)
        suffix, occurrences = np.zeros((2, len(keys)), dtype=np.int64)
        for place, each, target in zip(places, level, here, strict=True):
            suffix[target] = place[each.suffix]
            occurrences[target] += each.occurrences
        merged.append(Ngrams(keys, suffix, occurrences))
        places = (here[0], here[1])
    return tuple(merged)


def _union(one: Integers, other: Integers) -> tuple[Integers, Integers, Integers]:
    """Sorted union of two sorted sets, and where the members of each stand in it; linear but for one search."""
    at = np.searchsorted(one, other)
    new = np.ones(len(other), dtype=bool)
    inside = at < len(one)
    new[inside] = one[at[inside]] != other[inside]
    in_front = np.cumsum(np.bincount(at[new], minlength=len(one) + 1))
    of_one, of_other = np.arange(len(one)) + in_front[:-1], at + np.cumsum(new) - new
    union = np.empty(len(one) + np.count_nonzero(new), dtype=np.int64)
    union[of_one], union[of_other] = one, other
    return union, of_one, of_other


def _histories(ids: Integers, text: Integers, n: int) -> Integers:
    """Index of the n - 1 words before each token, from the (n-1)-grams that end at each token; -1: none."""
    history = np.empty_like(ids)
    history[1:] = ids[:-1]
    # A sentence opens with <s> as its whole history.
    opening = START if n == 2 else -1
    history[:1] = opening
    history[1:][text[:-1] == END] = opening
    return history


def _discounted(history: Integers, count: Integers, amounts: Floats, size: int) -> tuple[Floats, Floats]:
    """Discounted relative frequency of each n-gram; gamma of each of the `size` histories, 1 where unused."""
    grade = np.minimum(count, 3)
    total = np.bincount(history, weights=count, minlength=size)
    taken = sum(amount * np.bincount(history[grade == k], minlength=size) for k, amount in enumerate(amounts, start=1))
    used = total > 0
    gamma = np.divide(taken, total, out=np.ones(size), where=used)
    kept = (count - np.concatenate(([0.0], amounts))[grade]) / total[history]
    return kept, gamma


def _checked(text: Integers, types: int) -> Integers:
    text = np.asarray(text)
    if text.ndim != 1 or (text.size and text.dtype.kind not in "iu"):
        raise ValueError("a text is a one-dimensional array of integer word ids")
    if text.size and (text.min() < 0 or text.max() >= types):
        raise ValueError(f"word ids must lie in [0, {types}): found {text.min()} to {text.max()}")
    if (text == START).any():
        raise ValueError("the text contains <s> (id 1): it is implied before every sentence, leave it out")
    return text.astype(np.int64)
