"""What a filing's text costs: tables of bits per character, byte and token under models and compressors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from attnkernel.language.compressors import COMPRESSORS, code_bits, growth
from attnkernel.language.evaluate import characters
from attnkernel.language.open_vocabulary import ROUTES, OpenText, excerpt, normal_form, words

Floats = NDArray[np.float64]
Table = dict[str, NDArray[Any]]
Columns = Mapping[str, NDArray[Any]]
Row = dict[str, Any]

# UTF-8 as filed, or words in lower case: lengths of one are never held against lengths of the other.
RAW: Final = "raw"
NORMALISED: Final = "normalised"
# The documents' costs added up, and the documents as one text.
ALL: Final = "all"
JOINED: Final = "joined"
BLEND: Final = "blend"
_TEXTS: Final = {NORMALISED: "words", RAW: "as filed"}
# What a compressor that was given no text first was trained on.
NOTHING: Final = "nothing"

_FORMS: Final[Mapping[str, Callable[[str], str]]] = {RAW: str, NORMALISED: normal_form}
_BITS: Final = "bits "
_KEYS: Final = ("document", "training", "excerpt", "text", "model")
_SIZES: Final = ("tokens", "characters", "bytes", "bits")
_SPLITS: Final = tuple(f"{what}_{route}" for what in ("tokens", "bits") for route in ROUTES)


def excerpts(documents: Columns, lengths: Sequence[int | None]) -> Iterator[tuple[str, str, str]]:
    """Name, excerpt and text: each document at each length (None: whole), and at each length all documents joined.

    Parameters
    ----------
    documents
        Columns id and text.
    lengths
        In characters; see `open_vocabulary.excerpt`.

    Yields
    ------
    An empty text comes first, so that without a document the tables made of these still have their columns.
    """
    yield "", "", ""
    for length in lengths if len(documents["id"]) else []:
        name = excerpt_name(length)
        texts = [excerpt(text, length) for text in documents["text"].tolist()]
        for document, text in zip((*documents["id"].tolist(), JOINED), (*texts, "\n".join(texts)), strict=True):
            yield document, name, text


def excerpt_name(length: int | None) -> str:
    """What an excerpt of so many characters is called in a table."""
    return "whole" if length is None else str(length)


def token_columns(document: str, excerpt: str, text: OpenText, bits: Mapping[str, Floats]) -> Table:
    """Words of a text and what each costs: document, excerpt, text, position, token, route, and `bits NAME` a model."""
    size = len(text.token)
    return {
        "document": np.full(size, document, dtype=object),
        "excerpt": np.full(size, excerpt, dtype=object),
        "text": np.full(size, NORMALISED, dtype=object),
        "position": np.arange(size),
        "token": np.array(text.written, dtype=object),
        "route": np.array(ROUTES, dtype=object)[text.route],
        **{_BITS + name: values for name, values in bits.items()},
    }


def model_rows(columns: Columns, training: str, sizes: Mapping[tuple[str, str, str], tuple[int, int]]) -> list[Row]:
    """Code lengths of the models of a table of tokens, one row a document, excerpt, text and model; see `code_table`.

    Parameters
    ----------
    columns
        document, excerpt, text, route, and a column `bits NAME` for each model, missing where a text was not scored.
    training
        What the models were trained on.
    sizes
        Characters and bytes of each text, by document, excerpt and kind.
    """
    rows = []
    keys = list(zip(*(columns[name].tolist() for name in ("document", "excerpt", "text")), strict=True))
    number = {key: index for index, key in enumerate(dict.fromkeys(keys))}
    member = np.array([number[key] for key in keys], dtype=np.int64)
    for (document, part, kind), index in number.items():
        here = member == index
        routes = {route: here & (columns["route"] == route) for route in ROUTES}
        for name in (name for name in columns if name.startswith(_BITS)):
            bits = columns[name]
            if np.isnan(bits[here]).any():
                continue
            key = (document, training, part, kind, name.removeprefix(_BITS))
            lengths = (here.sum(), *sizes[document, part, kind], bits[here].sum())
            splits = {f"tokens_{route}": mask.sum() for route, mask in routes.items()}
            splits |= {f"bits_{route}": bits[mask].sum() for route, mask in routes.items()}
            rows.append(dict(zip(_KEYS, key, strict=True)) | dict(zip(_SIZES, lengths, strict=True)) | splits)
    return rows


def text_sizes(documents: Columns, lengths: Sequence[int | None]) -> dict[tuple[str, str, str], tuple[int, int]]:
    """Characters and UTF-8 bytes of each excerpt, as it is and normalised, by document, excerpt and kind."""
    return {
        (document, name, kind): (len(form(text)), len(form(text).encode()))
        for document, name, text in excerpts(documents, lengths)
        for kind, form in _FORMS.items()
    }


def compressor_rows(
    document: str,
    excerpt: str,
    text: str,
    *,
    training: str = NOTHING,
    prior: str = "",
    names: Sequence[str] = tuple(COMPRESSORS),
) -> list[Row]:
    """Code lengths of a text as it is and normalised, under each compressor; see `code_table`.

    Parameters
    ----------
    document, excerpt
        Names.
    text
        What is coded.
    training, prior
        What the compressors are given first: its name, and its text.
    names
        Of compressors.
    """
    rows = []
    for kind, form in _FORMS.items():
        this, before = form(text), form(prior)
        for name in names if this else ():
            sizes = (np.nan, len(this), len(this.encode()), code_bits(name, this, before))
            key = (document, training, excerpt, kind, name)
            rows.append(Row(zip((*_KEYS, *_SIZES), (*key, *sizes), strict=True)) | dict.fromkeys(_SPLITS, np.nan))
    return rows


def code_table(rows: Sequence[Row]) -> Table:
    """Table of code lengths, the sums over the documents under `all`.

    Returns
    -------
    One row a document, training, excerpt, text and model; tokens, characters, bytes, bits (of the whole text), each
    over the text that is coded; bits_per_character, bits_per_byte, bits_per_token; and for the words that training
    holds, those copied from the document and those spelled: share_ROUTE (of the tokens) and bits_ROUTE.
    """
    rows = [*rows, *_totals([row for row in rows if row["document"] != JOINED])]
    size = {name: np.array([row[name] for row in rows], dtype=np.float64) for name in (*_SIZES, *_SPLITS)}
    whole = {name: size[name].astype(np.int64) for name in ("characters", "bytes")}
    tokens = np.ma.masked_array(np.nan_to_num(size["tokens"]).astype(np.int64), np.isnan(size["tokens"]))
    return {
        **{key: np.array([row[key] for row in rows], dtype=object) for key in _KEYS},
        "tokens": tokens,
        **whole,
        "bits": size["bits"],
        **{f"bits_per_{name[:-1]}": size["bits"] / size[name] for name in ("characters", "bytes", "tokens")},
        **{f"share_{route}": size[f"tokens_{route}"] / size["tokens"] for route in ROUTES},
        **{f"bits_{route}": size[f"bits_{route}"] for route in ROUTES},
    }


def ablation_table(rows: Sequence[Row]) -> Table:
    """Table of code lengths of those texts that were scored step by step: as `code_table`."""
    texts = Counter(tuple(row[key] for key in _KEYS[:-1]) for row in rows)
    return code_table([row for row in rows if texts[tuple(row[key] for key in _KEYS[:-1])] > 1])


def growth_table(
    documents: Columns, length: int | None, points: int, runs: Sequence[tuple[str, Columns, Sequence[str]]]
) -> Table:
    """How each code grows along each normalised document, models and compressors at the same places.

    Parameters
    ----------
    documents
        Columns id and text.
    length
        Of the excerpt.
    points
        Places in a document, evenly spaced on a logarithmic scale from a hundredth of it on.
    runs
        What models were trained on, the columns of their tokens, and which of the models to take.

    Returns
    -------
    document, training, model, characters (so far), bits, bits_per_character.
    """
    rows: list[tuple[str, str, str, int, float]] = []
    for document, text in zip(documents["id"].tolist(), documents["text"].tolist(), strict=True):
        written = words(excerpt(text, length))
        ends = np.cumsum(characters(written)).astype(np.int64)
        token = np.unique(np.searchsorted(ends, np.geomspace(ends[-1] / 100.0, ends[-1], points)))
        whole = normal_form(excerpt(text, length))
        codes = {(NOTHING, name): growth(name, whole, ends[token].tolist()) for name in COMPRESSORS}
        for training, columns, names in runs:
            key = {"document": document, "excerpt": excerpt_name(length), "text": NORMALISED}
            here = np.logical_and.reduce([columns[name] == value for name, value in key.items()])
            codes |= {(training, name): np.cumsum(columns[_BITS + name][here])[token] for name in names}
        for (training, name), bits in codes.items():
            rows += [
                (document, training, name, *pair) for pair in zip(ends[token].tolist(), bits.tolist(), strict=True)
            ]
    kinds = {"document": object, "training": object, "model": object, "characters": int, "bits": float}
    table: Table = {
        name: np.array([row[place] for row in rows], dtype=kind) for place, (name, kind) in enumerate(kinds.items())
    }
    return table | {"bits_per_character": table["bits"] / table["characters"]}


def shape_table(
    filings: Columns, coded: Columns, regret: Columns, training: Sequence[str], claimed: Sequence[str]
) -> Table:
    """What should hold of every excerpt of every document, and whether it does.

    Parameters
    ----------
    filings, coded, regret
        The tables of `filing_blend.tables`.
    training
        What the models were trained on: cold, primed.
    claimed
        Ids of the documents that the claims are about.

    Returns
    -------
    One row a shape: shape, holds, value (the worst of all excerpts; -inf of none), bound (a ceiling; of the saving a
    floor). No row without a document.
    """
    cold, primed = training
    bits: dict[tuple[str, str, str, str, str], float] = {}
    for *key, value in zip(*(filings[name].tolist() for name in (*_KEYS, "bits")), strict=True):
        bits[tuple(key)] = value

    def worst(model: tuple[str, str], others: Sequence[tuple[str, str]], kinds: Sequence[str] = tuple(_FORMS)) -> float:
        """Greatest ratio of a code to another over the documents' excerpts; a code is its training and its name."""
        texts = {
            (document, part, kind)
            for document, name, part, kind, code in bits
            if (name, code) == model and kind in kinds and document not in (ALL, JOINED)
        }
        return max(
            (
                bits[document, model[0], part, kind, model[1]] / bits[document, other[0], part, kind, other[1]]
                for document, part, kind in texts
                for other in others
                if (document, other[0], part, kind, other[1]) in bits
            ),
            default=-np.inf,
        )

    if not bits:
        return {"shape": np.array([], dtype=object), "holds": np.array([], dtype=np.bool_)} | dict.fromkeys(
            ("value", "bound"), np.zeros(0)
        )
    article = (filings["training"] == cold) & (filings["document"] == ALL)
    saved = {
        route: sum(
            float(filings[f"bits_{route}"][article & (filings["model"] == name)].sum()) * sign
            for name, sign in (("kn", 1.0), ("mixture", -1.0))
        )
        for route in ROUTES
    }
    others = sorted({key[-1] for key in bits if key[1] == primed and key[-1] in COMPRESSORS})
    ceilings = [
        ("kernel cache cuts Kneser-Ney by 15% on each", worst((cold, "mixture"), [(cold, "kn")]), 0.85),
        ("cold blend below lzma and bz2 on each", worst((cold, BLEND), [(NOTHING, "lzma"), (NOTHING, "bz2")]), 1.0),
        ("cold blend below PPMd on each", worst((cold, BLEND), [(NOTHING, "ppmd-6"), (NOTHING, "ppmd-12")]), 1.0),
        ("cold blend below brotli on each", worst((cold, BLEND), [(NOTHING, "brotli-11")]), 1.0),
        ("primed blend below each compressor", worst((primed, BLEND), [(primed, name) for name in others]), 1.0),
        *(
            (
                f"primed blend 20% below PPMd-12 on each, {kind}",
                worst((primed, BLEND), [(primed, "ppmd-12")], [kind]),
                0.8,
            )
            for kind in _FORMS
        ),
        ("coded size within 1% of what was stated", float(np.abs(coded["excess"]).max()), 0.01),
        ("share of coded excerpts that come back changed", float((~coded["identical"]).mean()), 0.0),
        ("share of excerpts with a regret over log2 N", float((~regret["holds"]).mean()), 0.0),
    ]
    share = saved["copied"] / sum(saved.values()) if any(saved.values()) else np.nan
    copied = ("saving on words that only the document holds over the whole", share, 0.5)
    strange = len({document for document, *_ in bits}.difference(claimed, (ALL, JOINED)))
    rows = [*((*row, row[1] <= row[2]) for row in ceilings), (*copied, copied[1] >= copied[2])]
    rows.append(("documents of the claims", float(strange), 0.0, strange == 0))
    return {
        "shape": np.array([row[0] for row in rows], dtype=object),
        "holds": np.array([row[3] for row in rows], dtype=np.bool_),
        "value": np.array([row[1] for row in rows], dtype=np.float64),
        "bound": np.array([row[2] for row in rows], dtype=np.float64),
    }


def with_training(tables: Sequence[Columns], names: Sequence[str]) -> Table:
    """The tables under one another, with what each one's models were trained on in a column `training` in front."""
    training = [
        np.full(len(columns["document"]), name, dtype=object) for columns, name in zip(tables, names, strict=True)
    ]
    stacked = {name: np.concatenate([columns[name] for columns in tables]) for name in tables[0]}
    return {"training": np.concatenate(training), **stacked}


def copied_table(columns: Columns, model: str, baseline: str) -> Table:
    """What a cache copies: each word that training does not hold and the document holds again.

    Parameters
    ----------
    columns
        From `token_columns`, stacked.
    model, baseline
        Whose bits are compared.

    Returns
    -------
    One row a document, excerpt and word, those that save most first: document, excerpt, word, copies, bits_before and
    bits_after (of all copies, under the baseline and the model), saved.
    """
    copied = np.flatnonzero(columns["route"] == ROUTES[1])
    keys = list(zip(*(columns[name][copied].tolist() for name in ("document", "excerpt", "token")), strict=True))
    cells = list(dict.fromkeys(keys))
    number = {key: index for index, key in enumerate(cells)}
    cell = np.array([number[key] for key in keys], dtype=np.int64)
    before, after = (
        np.bincount(cell, weights=columns[_BITS + name][copied], minlength=len(cells)) for name in (baseline, model)
    )
    texts = {text: index for index, text in enumerate(dict.fromkeys(cell[:2] for cell in cells))}
    order = np.lexsort((after - before, np.array([texts[cell[:2]] for cell in cells], dtype=np.int64)))
    return {
        **{
            name: np.array([cells[index][place] for index in order.tolist()], dtype=object)
            for place, name in enumerate(("document", "excerpt", "word"))
        },
        "copies": np.bincount(cell, minlength=len(cells))[order],
        "bits_before": before[order],
        "bits_after": after[order],
        "saved": (before - after)[order],
    }


def _totals(rows: Sequence[Row]) -> list[Row]:
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in _KEYS[1:]), []).append(row)
    return [
        dict(zip(_KEYS, (ALL, *key), strict=True))
        | {name: sum(row[name] for row in group) for name in (*_SIZES, *_SPLITS)}
        for key, group in groups.items()
    ]


def markdown(filings: Columns) -> str:
    """Table for a README: bits per character of the blend, and of compressors that were given the same text first.

    Parameters
    ----------
    filings
        Table `filings`.
    """
    primed = np.isin(filings["model"], list(COMPRESSORS)) & (filings["training"] != NOTHING)
    training = set(filings["training"][primed].tolist())
    names = [BLEND, *dict.fromkeys(filings["model"][primed].tolist())]
    keys = ("text", "document", "characters", "model")
    every = zip(zip(*(filings[name].tolist() for name in keys), strict=True), filings["training"].tolist(), strict=True)
    bits = filings["bits_per_character"].tolist()
    cost = {key: value for (key, trained_on), value in zip(every, bits, strict=True) if trained_on in training}
    lines = [f"| document | characters | text | {' | '.join(names)} |", "| --- | ---: | --- |" + " ---: |" * len(names)]
    for text, document, length in sorted({key[:3] for key in cost if key[3] == BLEND and key[1] != ALL}):
        found = (cost.get((text, document, length, name)) for name in names)
        row = ("–" if value is None else f"{value:.3f}" for value in found)
        lines.append(f"| {' | '.join([document, f'{length:,}', _TEXTS[text], *row])} |")
    return "\n".join(lines) + "\n"
