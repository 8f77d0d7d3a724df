"""A document over an open vocabulary, predicted by many models whose weights the document itself teaches.

Every expert is a distribution over the known words, the words that the document has brought, and the event that a new
word comes (id 0), which is then spelled. A gate mixes them with weights that depend on the context and move with every
token. Prediction and learning use earlier tokens alone, so that a decoder can follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnkernel.language import vectors
from attnkernel.language.kneser_ney import END, START, UNKNOWN, Backoff, estimate
from attnkernel.language.recurrent import Adapting, Ahead, Pace, Reader, Recurrent
from attnkernel.language.speller import Speller
from attnkernel.language.states import Own, Store

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

KNESER_NEY: Final = "kneser-ney"
LOG_LINEAR: Final = "log-linear"
KERNEL: Final = "kernel"
CONTEXT_KERNEL: Final = "context kernel"
RECENT: Final = "recent"
RECURRENT: Final = "recurrent network"
ADAPTING: Final = "adapting network"
STATES: Final = "states of training"
OWN_STATES: Final = "own states"
NOVEL: Final = "novel"
# What is taken from the counts of skipped pairs.
_DISCOUNT: Final = 0.75


class Skips(NamedTuple):
    """What a word says of the word `distance` tokens later, relative to how frequent that is.

    `ratio(h, w) = (p(w | h) / p(w))^power`: `rest[h]` for the words that never followed, (types,), and relative to it
    `factor` for those that did: words `word[start[h] : start[h + 1]]`.
    """

    distance: int
    rest: Floats
    start: Integers
    word: Integers
    factor: Floats


class Networks(NamedTuple):
    """Recurrent networks that were trained on the text, their states over it, and the pace at which they learn on."""

    members: Sequence[Recurrent]
    states: Store
    pace: Pace


@dataclass(frozen=True)
class Trained:
    """What a training text teaches before the document begins.

    Attributes
    ----------
    vocabulary
        Token of each id, the reserved ones first.
    model
        Kneser-Ney.
    similarity
        Unit vectors of the words, (types, d).
    unigram
        Relative frequency of each word, never 0, (types,).
    skips
        Skipped pairs at several distances.
    networks
        If any were trained.
    """

    vocabulary: list[str]
    model: Backoff
    similarity: Floats
    unigram: Floats
    skips: tuple[Skips, ...]
    networks: Networks | None = None


def train(text: Integers, vocabulary: Sequence[str], settings: Mapping[str, Any]) -> Trained:
    """Train on a text of word ids in which `</s>` closes each sentence.

    Parameters
    ----------
    text
        Ids, (tokens,).
    vocabulary
        Token of each id.
    settings
        `order` of Kneser-Ney; `dimensions` and `window` of the vectors; `skips`, a list of distance and power.
    """
    types = len(vocabulary)
    counts = np.bincount(text, minlength=types)
    unigram = (counts + 0.1) / (counts + 0.1).sum()
    matrix = vectors.ppmi(vectors.cooccurrences(text, types, settings["window"]), 1.0)
    return Trained(
        list(vocabulary),
        estimate(text, types, settings["order"]),
        vectors.svd_vectors(matrix, settings["dimensions"], 0.5),
        unigram,
        tuple(_skips(text, unigram, distance, power) for distance, power in settings["skips"]),
    )


def _skips(text: Integers, unigram: Floats, distance: int, power: float) -> Skips:
    types = len(unigram)
    pairs, counts = np.unique(text[:-distance] * types + text[distance:], return_counts=True)
    before, word = np.divmod(pairs, types)
    total = np.maximum(np.bincount(before, weights=counts, minlength=types), 1.0)
    followers = np.bincount(before, minlength=types)
    rest = np.where(followers > 0, _DISCOUNT * followers / total, 1.0)
    ratio = rest[before] + (counts - _DISCOUNT) / total[before] / unigram[word]
    return Skips(
        distance, rest**power, np.searchsorted(before, np.arange(types + 1)), word, (ratio / rest[before]) ** power
    )


class Walk:
    """The stored n-grams that end at the last token: Kneser-Ney's distribution, token by token."""

    def __init__(self, model: Backoff) -> None:
        self._model = model
        self._nodes = [START]

    @property
    def length(self) -> int:
        """Words of the longest history that the model has stored; the sentence's start is one."""
        return min(len(self._nodes), self._model.order - 1)

    def distribution(self) -> Floats:
        """Probability of each word, (types,), as `Backoff.conditional`."""
        levels, types = self._model.levels, self._model.types
        row = levels[0].probability.copy()
        for n, node in enumerate(self._nodes[: self._model.order - 1]):
            row *= levels[n].backoff[node]
            level = levels[n + 1]
            first, last = np.searchsorted(level.keys, (node * types, (node + 1) * types))
            row[level.keys[first:last] - node * types] = level.probability[first:last]
        return row

    def step(self, word: int) -> None:
        """Move on to the next token."""
        if word == END:
            self._nodes = [START]
            return
        nodes = [word]
        for n, history in enumerate(self._nodes[: self._model.order - 1], start=1):
            keys, key = self._model.levels[n].keys, history * self._model.types + word
            place = int(np.searchsorted(keys, key))
            if place == len(keys) or keys[place] != key:
                break
            nodes.append(place)
        self._nodes = nodes


class Experts:
    """Distributions of the next token, each from the training text, the document so far, or both.

    * `kneser-ney`: the training text;
    * `log-linear`: Kneser-Ney times the rescaled unigram of the document (Kneser, Peters and Klakow 1997) and times
      the skipped pairs of the training text (log-linear interpolation, Klakow 1998);
    * `kernel`: the cache of Definition 3, `exp(beta <u(x_{t-1}), u(x_{j-1})>)`;
    * `context kernel`: the same over the last words, their similarities weighted;
    * `recent`: a unigram cache that forgets;
    * `document N`: what has followed the last N words in the document;
    * `recurrent network`: see `recurrent`, where any were trained, the mean of them; with it,
    * `states of training`, `own states`: what followed similar states of them in training and in the document,
    * `adapting network`: the mean of the same networks as they learn on along the document;
    * `novel`: a new word.

    Parameters
    ----------
    trained
        From `train`.
    settings
        `beta`; `context`, the weights of the last words; `memory` of the recent unigram, in tokens; `document`, the
        greatest N; `rescaling`, its strength in tokens and its power.
    closed
        Whether the unknown words are one class, so that none of them is new.
    ahead
        The document's tokens, if they are there already: it is then read more quickly, the same but for rounding.
    """

    def __init__(
        self,
        trained: Trained,
        settings: Mapping[str, Any],
        *,
        closed: bool = False,
        ahead: Integers | None = None,
    ) -> None:
        self._trained, self._settings, self._closed = trained, settings, closed
        self._types = len(trained.vocabulary)
        self._walk = Walk(trained.model)
        self._classes: list[int] = []
        self._ids: list[int] = []
        self._size = self._types
        self._strength, self._power = settings["rescaling"]
        self._rescaling = np.ones(self._types)
        self._seen = np.zeros(self._types)
        self._recent: Floats = np.zeros(self._types)
        self._forget = 1.0 - 1.0 / settings["memory"]
        self._followers: list[dict[tuple[int, ...], dict[int, float]]] = [{} for _ in range(settings["document"] + 1)]
        self._memory = _Memory(trained.similarity, len(settings["context"]))
        self._networked = _Networked(trained.networks, ahead) if trained.networks else None

    @property
    def names(self) -> list[str]:
        """Names of the experts, in the order of their distributions."""
        orders = range(1, self._settings["document"] + 1)
        return [
            KNESER_NEY,
            LOG_LINEAR,
            KERNEL,
            CONTEXT_KERNEL,
            RECENT,
            *(f"document {n}" for n in orders),
            *([RECURRENT, STATES, OWN_STATES, ADAPTING] if self._networked else []),
            NOVEL,
        ]

    @property
    def size(self) -> int:
        """Number of ids: of the known words, and of those that the document has brought."""
        return self._size

    def rows(self) -> list[Floats]:
        """Distribution of each expert over the ids: 0 where a row has ended, and no row where nothing is known."""
        kneser_ney = self._walk.distribution()
        single, context = self._memory.rows(self._settings["beta"], self._settings["context"], self._size)
        return [
            kneser_ney,
            self._log_linear(kneser_ney),
            single,
            context,
            self._recent / self._recent.sum() if self._ids else np.zeros(0),
            *(self._document(n) for n in range(1, self._settings["document"] + 1)),
            *(self._networked.rows(self._size) if self._networked else []),
            np.ones(1),
        ]

    def contexts(self) -> tuple[int, ...]:
        """What the gate may know: nothing; the document's match; Kneser-Ney's history; how common the last word is."""
        order, followers = 0, {}
        for n in range(self._settings["document"], 0, -1):
            followers = self._followers[n].get(self._last(n), {})
            if followers:
                order = n
                break
        match = 16 * order + 4 * min(len(followers), 3) + _scale(sum(followers.values()), 3)
        last = sum(self._followers[1].get(self._last(1), {}).values()) if self._ids else 0.0
        return 0, match, self._walk.length, _scale(last, 6)

    def add(self, token: int) -> int:
        """Read the next token: an id, or `UNKNOWN` for a new word.

        Returns
        -------
        The id that the token has from now on.
        """
        kind = token if token < self._types else UNKNOWN
        identity = token
        if token == UNKNOWN and not self._closed:
            identity, self._size = self._size, self._size + 1
            self._recent = np.append(self._recent, 0.0)
        self._recent *= self._forget
        self._recent[identity] += 1.0
        if token < self._types:  # the rescaling of `UNKNOWN` counts new words, not their repetitions
            self._seen[kind] += 1.0
            prior = self._strength * self._trained.unigram[kind]
            self._rescaling[kind] = (1.0 + self._seen[kind] / prior) ** self._power
        for n in range(1, min(self._settings["document"], len(self._ids)) + 1):
            followers = self._followers[n].setdefault(self._last(n), {})
            followers[identity] = followers.get(identity, 0.0) + 1.0
        self._memory.add(identity, kind)
        self._ids.append(identity)
        self._classes.append(kind)
        self._walk.step(kind)
        if self._networked:
            self._networked.add(identity, kind)
        return identity

    def _last(self, n: int) -> tuple[int, ...]:
        return tuple(self._ids[len(self._ids) - n :]) if n <= len(self._ids) else ()

    def _log_linear(self, kneser_ney: Floats) -> Floats:
        row = kneser_ney * self._rescaling
        for skips in self._trained.skips:
            if skips.distance <= len(self._classes):
                before = self._classes[-skips.distance]
                here = slice(skips.start[before], skips.start[before + 1])
                row[skips.word[here]] *= skips.factor[here]
        return np.asarray(row / row.sum())

    def _document(self, n: int) -> Floats:
        followers = self._followers[n].get(self._last(n))
        if not followers:
            return np.zeros(0)
        row = np.zeros(self._size)
        row[list(followers)] = list(followers.values())
        return np.asarray(row / row.sum())


class _Networked:
    """The experts that recurrent networks make."""

    def __init__(self, networks: Networks, ahead: Integers | None) -> None:
        members, store, pace = networks
        self._reader = Reader(members, store) if ahead is None else Ahead(members, ahead, store)
        self._own = Own(store)
        self._adapting = [Adapting(member, pace, ahead) for member in members]

    def rows(self, size: int) -> list[Floats]:
        """Distributions of the next token, of as many ids."""
        own = self._own.row(self._reader.state, size)
        adapting = np.mean([member.distribution() for member in self._adapting], axis=0)
        return [*self._reader.distributions(), own, adapting]

    def add(self, token: int, kind: int) -> None:
        """Read the next token: its id in the document, and in the vocabulary."""
        self._own.add(self._reader.state, token)
        self._reader.step(kind)
        for member in self._adapting:
            member.step(kind)


class _Memory:
    """The document's pairs of context and token, and the similarities of the words in it."""

    def __init__(self, similarity: Floats, reach: int) -> None:
        self._similarity = similarity
        self._reach = reach
        self._number: dict[int, int] = {}
        self._vectors = np.zeros((64, similarity.shape[1]))
        self._gram = np.zeros((64, 64))
        # Local numbers of the tokens, behind as many places that resemble nothing (number 0).
        self._local = np.zeros(64 + reach, dtype=np.int64)
        self._token = np.zeros(64, dtype=np.int64)
        self._size = 0

    def rows(self, beta: float, weights: Sequence[float], size: int) -> tuple[Floats, Floats]:
        """Distributions of the cache with one word of context, and with several, (size,) each."""
        if self._size < 2:
            return np.zeros(0), np.zeros(0)
        reach, last = self._reach, self._size - 1
        tokens = self._token[1 : self._size]
        scores = self._gram[self._local[reach + last]][self._local[reach : reach + last]]
        single = _cache_row(tokens, scores, beta, size)
        scores = weights[0] * scores
        for back, weight in enumerate(weights[1:], start=1):
            query = self._gram[self._local[reach + last - back]]
            scores += weight * query[self._local[reach - back : reach + last - back]]
        return single, _cache_row(tokens, scores, beta, size)

    def add(self, token: int, kind: int) -> None:
        """Remember a token: its id, and the id of its vector."""
        if self._size == len(self._token):
            self._token = np.concatenate([self._token, np.zeros_like(self._token)])
            self._local = np.concatenate([self._local, np.zeros_like(self._local)])
        self._token[self._size] = token
        self._local[self._reach + self._size] = self._number.get(token) or self._new(token, kind)
        self._size += 1

    def _new(self, token: int, kind: int) -> int:
        number = self._number[token] = len(self._number) + 1
        if number == len(self._gram):
            wider = np.zeros((2 * number, 2 * number))
            wider[:number, :number] = self._gram
            self._gram = wider
            self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
        self._vectors[number] = self._similarity[kind]
        products = self._vectors[: number + 1] @ self._similarity[kind]
        self._gram[number, : number + 1] = self._gram[: number + 1, number] = products
        # A word without a vector resembles itself.
        self._gram[number, number] = 1.0
        return number


def _cache_row(tokens: Integers, scores: Floats, beta: float, size: int) -> Floats:
    weights = np.exp(beta * (scores - scores.max()))
    return np.asarray(np.bincount(tokens, weights=weights, minlength=size) / weights.sum())


def _scale(count: float, greatest: int) -> int:
    """A count's power of two: 0, 1, 2, 3-4, 5-8, ... are 0, 1, 2, 3, 4, ..., up to `greatest`."""
    return min(greatest, int(np.ceil(np.log2(count + 1.0))))


class Gate:
    """Mixture weights of experts, one table of logits for each kind of context, added up and moved by the gradient.

    The mixture is `sum_i w_i p_i(x)`, w the softmax of the logits; after each token the logits of the current
    contexts move by `rate (r - w)`, where r are the responsibilities `w_i p_i / p`: the gradient of the log likelihood.
    Experts without mass take no part.

    Parameters
    ----------
    experts
        How many.
    contexts
        How many kinds of context.
    rate
        Step of the logits.
    """

    def __init__(self, experts: int, contexts: int, rate: float) -> None:
        self._logits: list[dict[int, Floats]] = [{} for _ in range(contexts)]
        self._experts, self._rate = experts, rate

    def weights(self, contexts: Sequence[int], active: NDArray[np.bool_]) -> Floats:
        """Weights of the experts in these contexts, (experts,): 0 for those that are not active."""
        logits = sum((self._of(kind, context) for kind, context in enumerate(contexts)), np.zeros(self._experts))
        weights = np.where(active, np.exp(logits - logits.max()), 0.0)
        return np.asarray(weights / weights.sum())

    def learn(self, contexts: Sequence[int], weights: Floats, probabilities: Floats) -> None:
        """Move the weights that were used towards the experts that foresaw the token."""
        shares = weights * probabilities
        step = self._rate * (shares / shares.sum() - weights)
        for kind, context in enumerate(contexts):
            self._of(kind, context)[:] += step

    def _of(self, kind: int, context: int) -> Floats:
        return self._logits[kind].setdefault(context, np.zeros(self._experts))


class Trace(NamedTuple):
    """What the experts said of a document, token by token.

    Attributes
    ----------
    names
        Of the experts.
    probability
        What each gave to the token that came, (experts, tokens).
    active
        Whether it had anything to go by, (experts, tokens).
    contexts
        Of the gate, (tokens, kinds).
    """

    names: list[str]
    probability: Floats
    active: NDArray[np.bool_]
    contexts: Integers


def walk(
    trained: Trained, tokens: Sequence[str], settings: Mapping[str, Any], *, closed: bool = False
) -> Iterator[tuple[list[Floats], tuple[int, ...], str, int]]:
    """Let the experts read a document: their distributions and the gate's contexts, the token, and its id.

    Parameters
    ----------
    trained, settings, closed
        Of `Experts`.
    tokens
        As written.

    Yields
    ------
    See `Experts.rows` and `Experts.contexts`; the id of a new word is `UNKNOWN`.
    """
    number = {word: index for index, word in enumerate(trained.vocabulary)}
    classes = np.array([number.get(token, UNKNOWN) for token in tokens], dtype=np.int64)
    experts = Experts(trained, settings, closed=closed, ahead=classes)
    for token in tokens:
        coming = number.get(token, UNKNOWN)
        yield experts.rows(), experts.contexts(), token, coming
        known = experts.add(coming)
        if not closed:
            number[token] = known


def trace(trained: Trained, tokens: Sequence[str], settings: Mapping[str, Any], *, closed: bool = False) -> Trace:
    """What the experts say of a document; arguments as `walk`."""
    experts = Experts(trained, settings, closed=closed)
    size = len(experts.names)
    probability, active, contexts = np.zeros((size, len(tokens))), np.zeros((size, len(tokens)), dtype=np.bool_), []
    for t, (rows, context, _, coming) in enumerate(walk(trained, tokens, settings, closed=closed)):
        probability[:, t] = [row[coming] if coming < len(row) else 0.0 for row in rows]
        active[:, t] = [len(row) > 0 for row in rows]
        contexts.append(context)
    return Trace(
        experts.names, probability, active, np.array(contexts, dtype=np.int64).reshape(-1, len(experts.contexts()))
    )


def gated(
    read: Trace,
    rate: float,
    names: Sequence[str] | None = None,
    kinds: int | None = None,
    gate: Gate | None = None,
) -> Floats:
    """Probability that the gate gives each token, (tokens,).

    Parameters
    ----------
    read
        From `trace`.
    rate
        Of the gate.
    names, kinds
        Experts to use, and how many kinds of context; all by default. Among the experts must be `kneser-ney`, `recent`
        and `novel`: one of the three foresees whatever comes.
    gate
        One that other documents have taught, which learns on; by default one that knows nothing.
    """
    use = [read.names.index(name) for name in (read.names if names is None else names)]
    contexts = read.contexts[:, :kinds].tolist()
    gate = gate or Gate(len(use), len(contexts[0]) if contexts else 0, rate)
    result = np.empty(read.probability.shape[1])
    for t, context in enumerate(contexts):
        said, active = read.probability[use, t], read.active[use, t]
        weights = gate.weights(context, active)
        result[t] = weights @ said
        gate.learn(context, weights, said)
    return result


def spelling_bits(tokens: Sequence[str], vocabulary: Sequence[str], speller: Speller) -> Floats:
    """Bits that spell each new word where it first occurs, (tokens,); the speller learns each as it comes."""
    numbered = set(vocabulary)
    bits = np.zeros(len(tokens))
    for t, token in enumerate(tokens):
        if token not in numbered:
            bits[t] = -speller.log2_probability(token, numbered)
            numbered.add(token)
            speller.add(token)
    return bits


def context_caches(tokens: Integers, similarity: Floats, weights: Sequence[float], betas: Sequence[float]) -> Floats:
    """Probability that the cache over several words of context gives each token, (betas, tokens).

    `K = exp(beta sum_k weights[k] <u(x_{t-k}), u(x_{j-k})>)`, over all pairs of positions at once: for short texts.
    NaN where nothing precedes, as in `cache.cache_probabilities`.

    Parameters
    ----------
    tokens
        Ids, (tokens,).
    similarity
        Vector of each id, (ids, d).
    weights
        Of the words before, the last one first.
    betas
        Concentrations, finite.
    """
    size = len(tokens)
    gram = similarity[tokens] @ similarity[tokens].T
    np.copyto(gram, 1.0, where=tokens[:, None] == tokens)
    scores = np.zeros((size, size))
    for back, weight in enumerate(weights, start=1):
        scores[back:, back:] += weight * gram[: size - back, : size - back]
    earlier = np.tri(size, k=-1, dtype=np.bool_)
    earlier[:, :1] = False
    reads = earlier.any(axis=1)
    scores -= np.where(earlier, scores, -np.inf).max(axis=1, initial=-1e300, keepdims=True)
    same = tokens[:, None] == tokens
    result = np.full((len(betas), size), np.nan)
    for row, beta in zip(result, betas, strict=True):
        mass = np.exp(beta * np.where(earlier, scores, 0.0)) * earlier
        np.divide((mass * same).sum(axis=1), mass.sum(axis=1), out=row, where=reads)
    return result


def bayes_mixture(probabilities: Floats) -> Floats:
    """Bits of each token, (tokens,), under the Bayesian mixture of experts with equal prior weights.

    `p_t = sum_i pi_{t,i} p_i(x_t)`, `pi_{t+1,i} ~ pi_{t,i} p_i(x_t)`. Whatever the text, the mixture takes at most
    `log2 N` bits more than the best of its N experts, for its total probability is their mean.

    Parameters
    ----------
    probabilities
        What each expert gives each token, positive, (experts, tokens).
    """
    from scipy.special import logsumexp

    logs = np.log(probabilities)
    total = logsumexp(np.cumsum(logs, axis=1), axis=0) - np.log(len(logs))
    return np.asarray(-np.diff(total, prepend=0.0) / np.log(2.0))
