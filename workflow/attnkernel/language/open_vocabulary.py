"""A document over an open vocabulary: the article's mixture, which copies words as written and spells the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnkernel.corpus import tokens
from attnkernel.corpus.text import UNKNOWN_ID
from attnkernel.language.cache import cache_probabilities, mixture
from attnkernel.language.kneser_ney import Backoff
from attnkernel.language.scored import cache_column
from attnkernel.language.speller import Speller

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

ROUTES: Final = ("known", "copied", "spelled")


class OpenText(NamedTuple):
    """A document whose words may be new.

    Attributes
    ----------
    token
        Id of each token in the closed vocabulary, (tokens,); a new word is `UNKNOWN_ID`.
    surface
        Id of each token as written, (tokens,): new words are numbered after the vocabulary, by first appearance.
    written
        Each token as written, (tokens,).
    new
        The new words in the order of their ids.
    """

    token: Integers
    surface: Integers
    written: list[str]
    new: list[str]

    @property
    def first(self) -> Mask:
        """Whether the token's word is new to the document, (tokens,)."""
        seen = np.zeros(len(self.surface), dtype=np.bool_)
        seen[np.unique(self.surface, return_index=True)[1]] = True
        return seen

    @property
    def route(self) -> Integers:
        """How the token can be coded, (tokens,), into `ROUTES`: training holds it, the document does, nothing does."""
        return np.where(self.token != UNKNOWN_ID, 0, 1 + self.first)


def excerpt(text: str, characters: int | None) -> str:
    """The first whole words of a text within so many characters; all of it where there are no more, or for None."""
    if characters is None or len(text) <= characters:
        return text
    within = text[: characters + 1]
    end = max((place for place, character in enumerate(within) if character.isspace()), default=characters)
    return text[:end]


def words(text: str) -> list[str]:
    """Tokens of a text as every corpus of running text has them: words in lower case, sentence ends."""
    normal, _ = tokens.normalise(text)
    return [token for line in tokens.tokenise(normal, lowercase=True) for token in (*line, tokens.SENTENCE_END)]


def normal_form(text: str) -> str:
    r"""The text that its tokens stand for: a space after each word, `\n` at each sentence end."""
    return joined(words(text))


def joined(written: Sequence[str]) -> str:
    """The normal form of a text with these tokens."""
    return "".join("\n" if token == tokens.SENTENCE_END else f"{token} " for token in written)


def read(text: str, vocabulary: Sequence[str]) -> OpenText:
    """Tokenise a text and number its words; `vocabulary` is the token of each id, the reserved ones first."""
    written = words(text)
    number = {word: index for index, word in enumerate(vocabulary)}
    new: list[str] = []
    for word in written:
        if word not in number:
            number[word] = len(number)
            new.append(word)
    surface = np.array([number[word] for word in written], dtype=np.int64)
    return OpenText(np.where(surface < len(vocabulary), surface, UNKNOWN_ID), surface, written, new)


def surface_vectors(vectors: Floats, new: int) -> Floats:
    """Vectors of all words of a document: each new word has that of the unknown class."""
    return np.concatenate([vectors, np.repeat(vectors[[UNKNOWN_ID]], new, axis=0)])


def spelling_bits(text: OpenText, speller: Speller, vocabulary: Sequence[str]) -> Floats:
    """Bits that spell each token, (tokens,): 0 for a word that training holds."""
    numbered = frozenset(vocabulary)
    bits = np.zeros(len(vocabulary) + len(text.new))
    bits[len(vocabulary) :] = [-speller.log2_probability(word, numbered) for word in text.new]
    return bits[text.surface]


def open_mixture(kneser_ney: Floats, spelling: Floats, cache: Floats, weight: float) -> Floats:
    """Probability of each token, (tokens,), under a mixture that may copy any word that the document holds.

    `p(w) = weight p_KN(class of w) p_spell(w if unknown) + (1 - weight) p_cache(w as written)`.

    Parameters
    ----------
    kneser_ney
        Probability of each token's class, (tokens,).
    spelling
        From `spelling_bits`, (tokens,).
    cache
        Probability of each token as written, (tokens,), NaN where nothing precedes.
    weight
        Lambda.
    """
    return mixture(kneser_ney * 2.0**-spelling, cache, weight)


class Kernel(NamedTuple):
    """A kernel cache with what development chose for it.

    Attributes
    ----------
    name
        Of its column.
    queries, keys
        Vectors of the vocabulary, (types, d) each.
    beta, weight
        Concentration, and Kneser-Ney's share of the mixture.
    """

    name: str
    queries: Floats
    keys: Floats
    beta: float
    weight: float


def article_kernels(
    vectors: Floats,
    grid: Mapping[str, NDArray[Any]],
    maps: Mapping[str, Floats],
    epochs: Mapping[str, NDArray[Any]],
) -> list[Kernel]:
    """The cache at each beta of the grid, the one that development chose as `mixture`, and the learned kernel.

    Parameters
    ----------
    vectors
        Of the vocabulary, (types, d).
    grid, epochs
        Tables of the training corpus: `evaluate.beta_grid`, `pointer.epoch_table`.
    maps
        A and B of the learned kernel.
    """
    pairs = list(zip(grid["beta"].tolist(), grid["lambda"].tolist(), strict=True))
    names = [cache_column(beta) for beta, _ in pairs]
    row = int(np.flatnonzero(grid["chosen"])[0])
    weight = float(epochs["lambda"][epochs["chosen"]][0])
    return [
        *(Kernel(name, vectors, vectors, *pair) for name, pair in zip(names, pairs, strict=True)),
        Kernel("mixture", vectors, vectors, *pairs[row]),
        Kernel("learned", vectors @ maps["A"].T, vectors @ maps["B"].T, 1.0, weight),
    ]


def article_bits(
    text: OpenText, model: Backoff, speller: Speller, vocabulary: Sequence[str], kernels: Sequence[Kernel]
) -> dict[str, Floats]:
    """Bits of each token, (tokens,), under Kneser-Ney alone (`kn`) and under its mixture with each cache.

    Parameters
    ----------
    text
        The document.
    model
        Kneser-Ney over the vocabulary.
    speller
        Of the training types.
    vocabulary
        Token of each id.
    kernels
        The caches.
    """
    kneser_ney = model.probabilities(text.token)
    spelling = spelling_bits(text, speller, vocabulary)
    bits = {"kn": spelling - np.log2(kneser_ney)}
    for kernel in kernels:
        queries, keys = (surface_vectors(vectors, len(text.new)) for vectors in (kernel.queries, kernel.keys))
        cache = cache_probabilities([text.surface], queries, keys, kernel.beta)[0][0]
        bits[kernel.name] = -np.log2(open_mixture(kneser_ney, spelling, cache, kernel.weight))
    return bits
