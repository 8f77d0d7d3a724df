"""The laboratory's data: what the page shows, built from the tables by pure functions.

Probabilities go into the page as the tables hold them, so that every number it computes from them is the table's.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnkernel.corpus.text import UNKNOWN_ID, Text
from attnkernel.corpus.tokens import ABBREVIATIONS, RESERVED, SENTENCE_END
from attnkernel.language import open_vocabulary
from attnkernel.language.cache import cache_probabilities, mixture
from attnkernel.language.evaluate import characters
from attnkernel.language.kneser_ney import Backoff
from attnkernel.language.scored import cache_column
from attnkernel.language.speller import Speller

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Columns = Mapping[str, NDArray[Any]]
Table = dict[str, NDArray[Any]]
Json = dict[str, Any]

KNESER_NEY: Final = "kn"
UNIGRAM: Final = "unigram"
CHOSEN: Final = "chosen"
BIGRAM: Final = "bigram"
LEARNED: Final = "learned"

_CENSUS: Final = "lag.census"


class Model(NamedTuple):
    """A model that a document is shown under: a kernel, and Kneser-Ney's weight beside it.

    Attributes
    ----------
    key, label
        Its name in the data and on the page.
    column
        Of the table of scores: probabilities of its cache, or of Kneser-Ney alone.
    beta
        Inverse bandwidth; NaN for the learned kernel and for Kneser-Ney, which has none.
    weight
        Lambda; 1 for Kneser-Ney.
    """

    key: str
    label: str
    column: str
    beta: float
    weight: float


@dataclass(frozen=True)
class Document:
    """One scored document.

    Attributes
    ----------
    collection, name, title
        The corpus that it is of, its id there, and what the page calls it.
    token
        As written, (tokens,).
    code
        Equal for what the cache takes for one word, (tokens,): rows of `kernels`.
    known
        Whether training holds the token, (tokens,).
    spelling
        Bits that spell an unknown word beyond its class, (tokens,).
    characters
        As written, a separator a token included, (tokens,).
    models
        Kneser-Ney first.
    probability
        By the model's column, (tokens,) each; NaN where nothing precedes.
    kernels
        By the model's key: queries and keys of every code, (codes, d) each.
    """

    collection: str
    name: str
    title: str
    token: Sequence[str]
    code: Integers
    known: NDArray[np.bool_]
    spelling: Floats
    characters: Floats
    models: Sequence[Model]
    probability: Mapping[str, Floats]
    kernels: Mapping[str, tuple[Floats, Floats]]

    def bits(self, model: Model) -> Floats:
        """Bits that each token costs under a model, its spelling included, (tokens,)."""
        kneser_ney = self.probability[KNESER_NEY]
        mixed = mixture(kneser_ney, self.probability[model.column], model.weight)
        return np.asarray(self.spelling - np.log2(mixed))

    def bits_per_character(self, model: Model) -> float:
        """Of the whole document, over the open vocabulary."""
        return float(self.bits(model).sum() / self.characters.sum())


def models(grid: Columns, epochs: Columns) -> list[Model]:
    """Kneser-Ney, the ends of the grid, the choice of development between them, and the learned kernel."""
    row = int(np.flatnonzero(grid["chosen"])[0])
    found = [Model(KNESER_NEY, "Kneser–Ney alone", KNESER_NEY, math.nan, 1.0)]
    for key, label, at in (
        (UNIGRAM, "unigram cache", np.flatnonzero(grid["beta"] == 0.0)),
        (CHOSEN, "the dev choice", np.array([row])),
        (BIGRAM, "exact context", np.flatnonzero(np.isinf(grid["beta"]))),
    ):
        if len(at) and (key == CHOSEN or at[0] != row):
            beta, weight = float(grid["beta"][at[0]]), float(grid["lambda"][at[0]])
            found.append(Model(key, f"β = {_named(beta)}: {label}", cache_column(beta), beta, weight))
    weight = float(epochs["lambda"][epochs["chosen"]][0])
    return [*found, Model(LEARNED, "learned kernel", LEARNED, math.nan, weight)]


def corpus_document(
    corpus: str,
    text: Text,
    scores: Columns,
    kinds: Sequence[Model],
    vectors: Floats,
    kernel: Columns,
    *,
    speller_order: int,
    quantile: float,
) -> Document:
    """The held-out document of a corpus that stands at a quantile of their lengths.

    Parameters
    ----------
    text
        The whole corpus.
    scores
        Probabilities of its held-out tokens, in the order of the text.
    kinds
        From `models`.
    vectors, kernel
        Of every type, (types, d), and the matrices A and B of the learned kernel.
    speller_order, quantile
        Of the character model that spells unknown words, and of the lengths.
    """
    heldout = text.of("heldout")
    present, lengths = np.unique(heldout.document, return_counts=True)
    code = present[at_quantile(lengths, [heldout.documents[index] for index in present.tolist()], quantile)]
    here = heldout.document == code
    token = heldout.written()[here].tolist()
    known = heldout.token[here] != UNKNOWN_ID
    speller = Speller(text.vocabulary[len(RESERVED) :], speller_order)
    spelling = [0.0 if k else -speller.log2_probability(word) for word, k in zip(token, known.tolist(), strict=True)]
    return Document(
        collection=corpus,
        name=heldout.documents[code],
        title=f"{corpus}: held-out document {heldout.documents[code]}",
        token=token,
        code=heldout.token[here],
        known=known,
        spelling=np.array(spelling),
        characters=characters(token),
        models=kinds,
        probability={kind.column: scores[kind.column][here] for kind in kinds},
        kernels=_kernels(kinds, vectors, kernel),
    )


def filing_documents(
    filings: Columns,
    characters_each: int | None,
    vocabulary: Sequence[str],
    kneser_ney: Backoff,
    kinds: Sequence[Model],
    vectors: Floats,
    kernel: Columns,
    *,
    speller_order: int,
) -> list[Document]:
    """The start of each filing under the models of a corpus; the cache copies its words as written.

    Parameters
    ----------
    filings
        Columns id, company, form, year and text.
    characters_each
        As in `open_vocabulary.excerpt`.
    vocabulary, kneser_ney, kinds, vectors, kernel, speller_order
        Of the corpus, as for `corpus_document`.

    Returns
    -------
    Documents whose probability under Kneser-Ney has that of an unknown word's spelling in it.
    """
    speller = Speller(vocabulary[len(RESERVED) :], speller_order)
    documents = []
    for name, company, form, year, text in zip(
        *(filings[column].tolist() for column in ("id", "company", "form", "year", "text")), strict=True
    ):
        read = open_vocabulary.read(open_vocabulary.excerpt(text, characters_each), vocabulary)
        extended = open_vocabulary.surface_vectors(vectors, len(read.new))
        kernels = _kernels(kinds, extended, kernel)
        probability = {
            kind.column: cache_probabilities(
                [read.surface], *kernels[kind.key], 1.0 if math.isnan(kind.beta) else kind.beta
            )[0][0]
            for kind in kinds[1:]
        }
        spelling = open_vocabulary.spelling_bits(read, speller, vocabulary)
        probability[KNESER_NEY] = kneser_ney.probabilities(read.token) * 2.0**-spelling
        documents.append(
            Document(
                collection="filings",
                name=name,
                title=" ".join(filter(None, (f"filing: {company}", form, year))),
                token=read.written,
                code=read.surface,
                known=read.token != UNKNOWN_ID,
                spelling=np.zeros(len(spelling)),
                characters=characters(read.written),
                models=kinds,
                probability=probability,
                kernels=kernels,
            )
        )
    return documents


def at_quantile(lengths: Integers, names: Sequence[str], quantile: float) -> int:
    """The document at a quantile of the lengths; among equally long ones the names decide."""
    order = sorted(range(len(names)), key=lambda index: (int(lengths[index]), names[index]))
    return order[round(quantile * (len(order) - 1))]


def kernel_weights(document: Integers, position: int, queries: Floats, keys: Floats, beta: float) -> Floats:
    """Weights of Definition 3 or 4 on the earlier positions that have a previous token.

    Parameters
    ----------
    document
        Codes, rows of `queries` and `keys`, (tokens,).
    position
        From 2 on.
    beta
        Inverse bandwidth in [0, inf]; NaN where it is in the vectors.

    Returns
    -------
    Weights of the positions 1 to `position` - 1, (position - 1,), which sum to 1.
    """
    scores = keys[document[: position - 1]] @ queries[document[position - 1]]
    gaps = scores - scores.max()
    # Those of identical vectors differ by rounding alone.
    weights = gaps >= -1e-9 if np.isinf(beta) else np.exp((1.0 if np.isnan(beta) else beta) * gaps)
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def heaviest(weights: Floats, count: int) -> tuple[list[int], list[float]]:
    """The positions of greatest weight, the nearer first among equals, and their weights to six decimals."""
    order = np.lexsort((-np.arange(len(weights)), -weights.round(12)))[:count]
    order = order[weights[order] > 0.0]
    return (order + 1).tolist(), weights[order].round(6).tolist()


def selected(document: Document, shown: int) -> int:
    """The shown token that the development-chosen model saves most on, of the known words that occurred before.

    Returns
    -------
    Its position; -1 if no known word repeats.
    """
    before, after = document.models[0], _chosen(document)
    saving = document.bits(before) - document.bits(after)
    # What the cache copies has a previous token: the first position does not count.
    first = np.unique(document.code[1:], return_index=True)[1]
    repeats = np.ones(len(saving), dtype=np.bool_)
    repeats[[0, *(first + 1).tolist()]] = False
    word = repeats & document.known & (np.array(document.token, dtype=object) != SENTENCE_END)
    word[shown:] = False
    return int(np.where(word, saving, -np.inf).argmax()) if word.any() else -1


def laboratory_table(documents: Sequence[Document], shown: int) -> Table:
    """Table `laboratory`: each document, and the selected token of each, under every model.

    Columns: corpus, document, tokens, model, bits_per_character (of the whole document), position and token (the
    selected one, see `selected`), token_bits, token_cache (its probability under the cache alone; NaN for Kneser-Ney).
    """
    rows = []
    for document in documents:
        position = selected(document, shown)
        for model in document.models:
            token, bits, cache = "", math.nan, math.nan
            if position >= 0:
                token, bits = document.token[position], float(document.bits(model)[position])
                cache = float(document.probability[model.column][position])
            rows.append(
                (
                    document.collection,
                    document.name,
                    len(document.token),
                    model.key,
                    document.bits_per_character(model),
                    position,
                    token,
                    bits,
                    math.nan if model.key == KNESER_NEY else cache,
                )
            )
    names = ("corpus", "document", "tokens", "model", "bits_per_character", "position", "token", "token_bits")
    columns = zip(*rows, strict=True)
    table = {name: np.array(values) for name, values in zip((*names, "token_cache"), columns, strict=True)}
    return {name: values.astype(object) if values.dtype.kind == "U" else values for name, values in table.items()}


def build(
    *,
    circle: Mapping[str, Columns],
    spectra: Mapping[str, Sequence[float]],
    sigma: float,
    census: Columns,
    published: Sequence[Mapping[str, str]],
    documents: Sequence[Document],
    losses: Mapping[str, Columns],
    text: Json,
    shown: int,
    count: int,
) -> Json:
    """The laboratory's data, as plain JSON.

    Parameters
    ----------
    circle
        Tables `risk_curve`, `optimum`, `denoiser` and `smoother` of the circle.
    spectra, sigma
        As in the config.
    census
        Table `longlag_census_summary`.
    published
        Rows of the published numbers, of which those of the census are taken.
    documents
        In the order that the page offers them.
    losses
        Tables `grid` and `heldout` of all corpora.
    text
        From `text_entry`.
    shown, count
        Tokens shown of a document, and heaviest positions of each token.
    """
    return {
        "circle": circle_entries(circle, spectra, sigma),
        "documents": [document_entry(document, shown, count) for document in documents],
        "heldout": {name: loss_entries(losses, name) for name in dict.fromkeys(losses["grid"]["corpus"].tolist())},
        "census": census_entries(census, published),
        "text": text,
    }


def circle_entries(tables: Mapping[str, Columns], spectra: Mapping[str, Sequence[float]], sigma: float) -> list[Json]:
    """One entry a setting: the risk curve, the optimum, the trained layer, and the drawn function with its noise."""
    curve, optimum, denoiser, smoother = (tables[name] for name in ("risk_curve", "optimum", "denoiser", "smoother"))
    entries = []
    for spectrum, n in dict.fromkeys(zip(curve["spectrum"].tolist(), curve["n"].tolist(), strict=True)):
        here = {name: _rows(table, spectrum=spectrum, n=n) for name, table in tables.items()}
        risk = {name: curve[name][here["risk_curve"]].tolist() for name in ("c", "risk", "bias2", "variance", "gain1")}
        drawn = {
            series: smoother["value"][here["smoother"] & (smoother["series"] == series)].tolist()
            for series in ("true", "noisy")
        }
        entries.append(
            {
                "spectrum": spectrum,
                "n": n,
                "variances": list(spectra[spectrum]),
                "sigma": sigma,
                **risk,
                "nearest": int(np.flatnonzero(curve["nearest"][here["risk_curve"]])[0]),
                "c_star": float(optimum["c_star"][here["optimum"]][0]),
                "risk_star": float(optimum["risk"][here["optimum"]][0]),
                "trained": float(denoiser["learned_c"][here["denoiser"]][0]),
                **drawn,
            }
        )
    return entries


def document_entry(document: Document, shown: int, count: int) -> Json:
    """A document as the page shows it: its first tokens, their probabilities, and where each kernel looks."""
    length = min(shown, len(document.token))
    entry: Json = {
        "collection": document.collection,
        "name": document.name,
        "title": document.title,
        "tokens": len(document.token),
        "token": list(document.token[:length]),
        "code": np.unique(document.code[:length], return_inverse=True)[1].tolist(),
        "known": document.known[:length].astype(int).tolist(),
        "spelling": document.spelling[:length].tolist(),
        "selected": selected(document, length),
        "kn": document.probability[KNESER_NEY][:length].tolist(),
        "models": [],
    }
    for model in document.models:
        described: Json = {
            "key": model.key,
            "label": model.label,
            "lambda": model.weight,
            "bits_per_character": document.bits_per_character(model),
        }
        if model.key in document.kernels:
            queries, keys = document.kernels[model.key]
            looks = [
                heaviest(kernel_weights(document.code, position, queries, keys, model.beta), count)
                for position in range(2, length)
            ]
            described["cache"] = [_number(value) for value in document.probability[model.column][:length].tolist()]
            described["positions"] = [[], [], *(positions for positions, _ in looks)][:length]
            described["weights"] = [[], [], *(weights for _, weights in looks)][:length]
        entry["models"].append(described)
    return entry


def loss_entries(losses: Mapping[str, Columns], corpus: str) -> Json:
    """Held-out losses of a corpus at the ends of the grid and at the choice between them, and the gain."""
    grid, heldout = losses["grid"], losses["heldout"]
    keep = (grid["corpus"] == corpus) & ((grid["beta"] == 0.0) | np.isinf(grid["beta"]) | grid["chosen"])
    gain = _rows(heldout, corpus=corpus, group="all", model="mixture")
    rows = [
        {"beta": _named(beta), "lambda": weight, "dev": dev, "heldout": loss, "chosen": chosen}
        for beta, weight, dev, loss, chosen in zip(
            *(grid[name][keep].tolist() for name in ("beta", "lambda", "dev", "heldout", "chosen")), strict=True
        )
    ]
    return {
        "grid": rows,
        "gain": _number(float(heldout["gain"][gain][0])),
        "gain_se": _number(float(heldout["gain_se"][gain][0])),
    }


def census_entries(census: Columns, published: Sequence[Mapping[str, str]]) -> list[Json]:
    """One entry a model and lag: log10 of the median gradient here and as published (null where it is not)."""
    printed = {row["id"]: float(row["published"]) for row in published if row["id"].startswith(_CENSUS)}
    columns = (census[name].tolist() for name in ("model", "lag", "log10_median"))
    entries = []
    for model, lag, ours in zip(*columns, strict=True):
        theirs = printed.get(f"{_CENSUS}.{model}.L{lag}")
        entries.append(
            {"model": model, "lag": lag, "ours": ours, "published": None if theirs is None else math.log10(theirs)}
        )
    return entries


def text_entry(
    corpus: str,
    lowercase: bool,
    vocabulary: Sequence[str],
    kneser_ney: Backoff,
    kinds: Sequence[Model],
    vectors: Floats,
) -> Json:
    """What the page needs to run the caches on a pasted document.

    Parameters
    ----------
    corpus, lowercase
        Whose vectors they are, and whether its tokens are in lower case.
    vocabulary
        The reserved tokens first, (types,).
    kneser_ney
        Of which the lowest level is taken.
    kinds
        Models of that corpus; those with a beta are taken.
    vectors
        Unit vectors, (types, d); a zero row stays zero.

    Returns
    -------
    Vectors as 16-bit integers in base 64, little-endian, each distinct vector once: words of identical vectors share
    a row, so that they tie in the page as they do here.
    """
    rounded = rounded_vectors(vectors)
    unigram = kneser_ney.levels[0].probability
    distinct, row = np.unique(rounded, axis=0, return_inverse=True)
    return {
        "corpus": corpus,
        "lowercase": lowercase,
        "reserved": list(RESERVED),
        "abbreviations": sorted(ABBREVIATIONS),
        "words": list(vocabulary),
        "row": row.ravel().tolist(),
        "dimensions": int(vectors.shape[1]),
        "vectors": base64.b64encode(distinct.astype("<i2").tobytes()).decode("ascii"),
        "bits": (-np.log2(np.maximum(unigram, np.finfo(np.float64).tiny))).round(4).tolist(),
        "models": [
            {"key": kind.key, "label": kind.label, "beta": _named(kind.beta), "lambda": kind.weight}
            for kind in kinds
            if not math.isnan(kind.beta)
        ],
    }


def rounded_vectors(vectors: Floats) -> Integers:
    """Components in units of 1/32767: an inner product of two unit vectors moves by about 1e-5."""
    return np.asarray(np.round(vectors * 32767.0), dtype=np.int64)


def to_text(payload: Json) -> str:
    """The payload as one line of JSON; the same payload gives the same bytes."""
    return json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _kernels(kinds: Sequence[Model], vectors: Floats, kernel: Columns) -> dict[str, tuple[Floats, Floats]]:
    """Queries and keys of every model that has a kernel, by its key."""
    fixed = {kind.key: (vectors, vectors) for kind in kinds if not math.isnan(kind.beta)}
    return {**fixed, LEARNED: (vectors @ kernel["A"].T, vectors @ kernel["B"].T)}


def _chosen(document: Document) -> Model:
    return next(model for model in document.models if model.key == CHOSEN)


def _rows(table: Columns, **where: Any) -> NDArray[np.bool_]:
    keep = np.ones(len(next(iter(table.values()))), dtype=np.bool_)
    for name, value in where.items():
        keep &= table[name] == value
    return keep


def _named(beta: float) -> str:
    return "∞" if math.isinf(beta) else f"{beta:g}"


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
