"""The pool: character by character, everything that training and the document know, combined log-linearly.

The experts are counts of what followed the same history, of characters and of words, in the training text and in the
document; and the word models of `blend`, of which each says how its words go on after the letters so far. Networks that
have read documents that the experts were not trained on weigh them. A new word needs no speller: the histories of
characters go on where the words end.
"""

from __future__ import annotations

import bisect
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnkernel.language import blend, gating, histories, recurrent, states
from attnkernel.language.decisions import CODE_POINTS, STOP, Alphabet
from attnkernel.language.kneser_ney import START, UNKNOWN
from attnkernel.language.primer import Group, divided, numbered
from attnkernel.progress import track

Floats = NDArray[np.float64]
Array = NDArray[Any]
Integers = NDArray[np.int64]

# Added to the counts of both sides: in the training text, and in the document.
_PRIOR: Final = (0.2, 0.3)
# Of the logarithms of counts, so that features are of the order of 1.
_COUNT_SCALE: Final = (0.3, 0.5)
_MASS_SCALE: Final = 0.3
_LENGTH_SCALE: Final = 0.2
_LONGEST: Final = 12
# Words before the present one that a history may reach back to: each has a symbol at least.
_WINDOW: Final = 64
_LEAST_MASS: Final = 1e-9
# What is left of the mass of a new word after each letter, for the side that no known word is on.
_SPELLING: Final = 0.15
_GREATEST: Final = 9.0
# Beyond the last symbol of any alphabet.
_TOP: Final = "\uffff"


@dataclass(frozen=True)
class Pool:
    """A trained pool.

    Attributes
    ----------
    trained
        The word models.
    text
        Ids of the tokens that they were trained on.
    alphabet
        Symbols and decisions.
    keys
        Of the training text, one sorted array for each kind of history; see `histories.keys`.
    gate
        A `blend.Gate` that the taught documents have left, pickled.
    networks
        Of `gating`.
    settings
        Of the experts, and `pool`.
    """

    trained: blend.Trained
    text: Integers
    alphabet: Alphabet
    keys: list[histories.Hashes]
    gate: bytes
    networks: list[gating.Parameters]
    settings: Mapping[str, Any]


class Words:
    """The word models along a document, as masses of the words that begin in a given way.

    Parameters
    ----------
    pool
        Its word models and alphabet.
    gate
        Mixes the experts; it learns on.
    """

    def __init__(self, pool: Pool, gate: blend.Gate) -> None:
        self._alphabet, self._gate = pool.alphabet, gate
        self._size = len(pool.trained.vocabulary)
        # The unknown word and the sentence start are never spelled.
        words = sorted(
            (_TOP if number in (UNKNOWN, START) else self._key(word), number)
            for number, word in enumerate(pool.trained.vocabulary)
        )
        self._keys = [key for key, _ in words]
        self._order = np.array([number for _, number in words])
        self._mass = np.zeros((0, 0))
        self.novel = np.zeros(0)

    def look(self, rows: Sequence[Floats], contexts: Sequence[int]) -> None:
        """Take the experts' distributions of the coming token, and what the gate may know."""
        self._rows, self._contexts = rows, contexts
        self._weights = self._gate.weights(contexts, np.array([len(row) > 0 for row in rows]))
        table = np.zeros((len(rows), self._size))
        for line, row in zip(table, rows, strict=True):
            line[: len(row)] = row
        # The last expert foresees new words alone, of which the mixture takes its place.
        table[-1] = self._weights @ table
        self.novel = table[:, UNKNOWN].copy()
        table[:, UNKNOWN] = 0.0
        self._mass = np.zeros((len(table), self._size + 1))
        np.cumsum(table[:, self._order], axis=1, out=self._mass[:, 1:])

    def below(self, begun: str) -> Floats:
        """Mass of the words below each symbol, given the symbols so far, (experts, symbols + 1)."""
        first, last = bisect.bisect_left(self._keys, begun), bisect.bisect_left(self._keys, begun + _TOP)
        places = [bisect.bisect_left(self._keys, begun + chr(n), first, last) for n in range(self._alphabet.size)]
        return self._mass[:, [*places, last]]

    def add(self, token: str, coming: int) -> None:
        """Read the token: as written, and its id or `UNKNOWN`."""
        self._gate.learn(
            self._contexts,
            self._weights,
            np.array([row[coming] if coming < len(row) else 0.0 for row in self._rows]),
        )
        if coming == UNKNOWN:
            place = bisect.bisect_left(self._keys, self._key(token))
            self._keys.insert(place, self._key(token))
            self._order = np.insert(self._order, place, self._size)
            self._size += 1

    def _key(self, token: str) -> str:
        return "".join(map(chr, self._alphabet.symbols([token]).tolist()))


def train(
    documents: Sequence[Group],
    networks: Sequence[recurrent.Saved],
    settings: Mapping[str, Any],
    seed: np.random.SeedSequence,
) -> Pool:
    """Train the experts on most documents, what weighs them on the others, and the experts that are counts on all.

    Parameters
    ----------
    documents
        Group and tokens of each; those of one group are not split.
    networks
        From `primer.network`, of the same documents, be it in another form.
    settings
        Of the word models (see `blend`), and `pool`: `histories` and `states`, of the modules of these names; `pace`,
        see `recurrent.Pace`; `network`, of `gating`, with `members`, how many; `taught`, every how many groups is held
        out for the networks, and `tokens` of each document that they read.
    seed
        Of everything that is drawn.

    Raises
    ------
    InputError
        As `primer.divided`.
    """
    taught = settings["pool"]["taught"]
    most, held = divided(documents, taught["every"])
    # The held out documents show the networks how often a character comes that is new.
    alphabet = Alphabet(token for tokens in most for token in tokens)
    teaching = [tokens[: taught["tokens"]] for tokens in held if tokens]
    gate, lesson = _lesson(teaching, _experts(most, networks, settings, alphabet))
    weighing = settings["pool"]["network"]
    weighers = [
        gating.train(*lesson[:4], len(alphabet.cut), weighing, each) for each in seed.spawn(weighing["members"])
    ]
    every = _experts([tokens for _, tokens in documents], networks, settings, alphabet)
    return replace(every, gate=pickle.dumps(gate), networks=weighers)


def _lesson(documents: Sequence[Sequence[str]], pool: Pool) -> tuple[blend.Gate, Decisions]:
    """Decisions of documents that the pool's experts have not been trained on, and a gate that has read them."""
    gate = blend.Gate(*gate_shape(pool), pool.settings["rate"])
    read = [decisions(tokens, pool, gate) for tokens in track(documents, "weighing the models on documents held out")]
    return gate, Decisions(*(np.concatenate(column) for column in zip(*read, strict=True)))


def _experts(
    documents: Sequence[Sequence[str]],
    networks: Sequence[recurrent.Saved],
    settings: Mapping[str, Any],
    alphabet: Alphabet,
) -> Pool:
    """A pool whose gate and networks have still to be trained."""
    vocabulary, text = numbered(documents)
    members = [recurrent.restored(tables, vocabulary) for tables in networks]
    store = states.store(*recurrent.states(members, text), len(vocabulary), settings["pool"]["states"])
    pace = recurrent.Pace(**settings["pool"]["pace"])
    trained = replace(blend.train(text, vocabulary, settings), networks=blend.Networks(members, store, pace))
    symbols = alphabet.symbols(token for document in documents for token in document)
    hashes = histories.contexts(symbols, settings["pool"]["histories"])
    keys = [histories.keys(kind, symbols) for kind in hashes]
    return Pool(trained, text, alphabet, keys, b"", [], settings)


def gate_shape(pool: Pool) -> tuple[int, int]:
    """Number of experts and of contexts of a gate over the word models."""
    experts = blend.Experts(pool.trained, pool.settings)
    return len(experts.names), len(experts.contexts())


class Decisions(NamedTuple):
    """The decisions that spell a document, a row each: see `gating.loss`; and the token of each."""

    inputs: Array
    known: Array
    node: Integers
    outcome: Array
    token: Integers


def decisions(tokens: Sequence[str], pool: Pool, gate: blend.Gate) -> Decisions:
    """Let the experts read a document; `gate` learns on."""
    alphabet = pool.alphabet
    symbols = alphabet.symbols(tokens)
    place, node, outcome = alphabet.decisions(symbols)
    hashes = histories.contexts(symbols, pool.settings["pool"]["histories"])
    seen, own = [], []
    for kind, keys in zip(hashes, pool.keys, strict=True):
        seen.append(_training_counts(keys, kind[place], alphabet, node))
        own.append(histories.earlier(kind, place, node, outcome))
    sides, novel = _word_sides(tokens, pool, gate, node)
    inputs, known = rows(np.array(seen), np.array(own), sides, novel, _lengths(symbols)[place])
    token = np.cumsum(np.append(True, symbols[:-1] == STOP)[: len(symbols)]) - 1
    return Decisions(inputs, known, node, outcome.astype(np.float32), token[place])


def bits(tokens: Sequence[str], pool: Pool) -> Floats:
    """Bits of each token of a document, (tokens,)."""
    if not tokens:
        return np.zeros(0)
    read = decisions(tokens, pool, pickle.loads(pool.gate))
    odds = gating.log_odds(pool.networks, read.inputs, read.known, read.node).astype(np.float64)
    cost = np.logaddexp(0.0, (1.0 - 2.0 * read.outcome) * odds) / np.log(2.0)
    others = [sum(symbol == pool.alphabet.other for symbol in pool.alphabet.symbols([token])) for token in tokens]
    cost_of_others = np.log2(CODE_POINTS) * np.array(others)
    return np.asarray(np.bincount(read.token, weights=cost, minlength=len(tokens)) + cost_of_others)


class Reader:
    """A document under the pool, symbol by symbol: what a decoder knows.

    Parameters
    ----------
    pool
        Trained.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._gate: blend.Gate = pickle.loads(pool.gate)
        self._words = Words(pool, self._gate)
        self._experts = blend.Experts(pool.trained, pool.settings)
        self._number = {word: index for index, word in enumerate(pool.trained.vocabulary)}
        self._own: list[dict[int, Integers]] = [{} for _ in pool.keys]
        self._recent: list[Integers] = []
        self._begun: list[int] = []
        self._look()

    def distribution(self) -> Floats:
        """Probability of each symbol of the alphabet, (symbols,)."""
        pool, alphabet = self._pool, self._pool.alphabet
        node = np.arange(len(alphabet.cut))
        self._hashes = self._history()
        seen, own = [], []
        for kind, keys, counts in zip(self._hashes, pool.keys, self._own, strict=True):
            seen.append(_training_counts(keys, np.full(len(node), kind), alphabet, node))
            below = np.cumsum(np.append(0, counts.get(int(kind), np.zeros(alphabet.size, dtype=np.int64))))
            own.append(_sides(below[None], alphabet, node)[:, 0])
        sides = _sides(self._words.below("".join(map(chr, self._begun))), alphabet, node)
        novel = np.repeat(self._words.novel[:, None], len(node), axis=1)
        inputs, known = rows(np.array(seen), np.array(own), sides, novel, np.full(len(node), len(self._begun)))
        odds = gating.log_odds(pool.networks, inputs, known, node).astype(np.float64)
        return alphabet.distribution(1.0 / (1.0 + np.exp(-odds)))

    def step(self, symbol: int, token: str | None) -> None:
        """Read the symbol whose distribution was given last; with a stop, the token that it ends."""
        for kind, counts in zip(self._hashes.tolist(), self._own, strict=True):
            counts.setdefault(kind, np.zeros(self._pool.alphabet.size, dtype=np.int64))[symbol] += 1
        self._begun.append(symbol)
        if token is None:
            return
        self._recent = [*self._recent[1 - _WINDOW :], np.array(self._begun)]
        self._begun = []
        coming = self._number.get(token, UNKNOWN)
        self._words.add(token, coming)
        self._number[token] = self._experts.add(coming)
        self._look()

    def _look(self) -> None:
        self._words.look(self._experts.rows(), self._experts.contexts())

    def _history(self) -> histories.Hashes:
        symbols = np.concatenate([*self._recent, np.array(self._begun, dtype=np.int64)])
        return histories.contexts(symbols, self._pool.settings["pool"]["histories"])[:, -1]


def _training_counts(
    keys: histories.Hashes, hashes: histories.Hashes, alphabet: Alphabet, node: Integers
) -> tuple[Integers, Integers]:
    low, cut, high = alphabet.low[node], alphabet.cut[node], alphabet.high[node]
    return histories.counts(keys, hashes, low, cut), histories.counts(keys, hashes, cut, high)


def _lengths(symbols: Integers) -> Integers:
    """How many symbols of its word precede each, (symbols,)."""
    first = np.append(True, symbols[:-1] == STOP) if len(symbols) else np.zeros(0, dtype=np.bool_)
    index = np.arange(len(symbols))
    return np.asarray(index - np.maximum.accumulate(np.where(first, index, 0)))


def _word_sides(tokens: Sequence[str], pool: Pool, gate: blend.Gate, node: Integers) -> tuple[Floats, Floats]:
    """Masses of the lower and the upper side, (2, experts, decisions), and of a new word, (experts, decisions)."""
    words, alphabet = Words(pool, gate), pool.alphabet
    sides: list[Floats] = []
    novel: list[Floats] = []
    done = 0
    for rows_, contexts, token, coming in blend.walk(pool.trained, tokens, pool.settings):
        words.look(rows_, contexts)
        symbols = alphabet.symbols([token])
        spelled_ = "".join(map(chr, symbols.tolist()))
        place, here, _ = alphabet.decisions(symbols)
        for number in range(len(symbols)):
            below = words.below(spelled_[:number])
            nodes = here[place == number]
            sides.append(_sides(below, alphabet, nodes))
        novel.append(np.repeat(words.novel[:, None], len(here), axis=1))
        done += len(here)
        words.add(token, coming)
    return np.concatenate(sides, axis=2), np.concatenate(novel, axis=1)


def _sides(below: Floats, alphabet: Alphabet, node: Integers) -> Floats:
    cut = below[:, alphabet.cut[node]]
    return np.stack([cut - below[:, alphabet.low[node]], below[:, alphabet.high[node]] - cut])


def rows(
    seen: Array, own: Array, sides: Floats, novel: Floats, length: Integers
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What the experts say of decisions, and what is known of the places, a row each.

    Parameters
    ----------
    seen, own
        Counts of the lower and the upper side in training and in the document, (kinds, 2, rows) each.
    sides, novel
        Masses of the words on the lower and the upper side, (2, experts, rows), and of new words, (experts, rows).
    length
        Symbols of the word so far, (rows,).
    """
    said, known = [], []
    for counts, prior, scale in zip((seen, own), _PRIOR, _COUNT_SCALE, strict=True):
        said.append(np.log((counts[:, 1] + prior) / (counts[:, 0] + prior)))
        known.append(scale * np.log1p(counts.sum(axis=1)))
    rest = np.maximum(novel * _SPELLING ** (length + 1.0), _LEAST_MASS**2)
    said.append(np.clip(np.log((sides[1] + rest) / (sides[0] + rest)), -_GREATEST, _GREATEST))
    known.append(-_MASS_SCALE * np.log10(sides[:, -1:].sum(axis=0) + _LEAST_MASS))
    known.append(_LENGTH_SCALE * np.minimum(length, _LONGEST)[None])
    return np.concatenate(said).T.astype(np.float32), np.concatenate(known).T.astype(np.float32)
