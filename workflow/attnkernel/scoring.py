"""Score any text under a model of a finished run, or under an ARPA model of any program.

Like `corpus.readers`, this module reads files; what it returns is a table.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnkernel import reading, table
from attnkernel.corpus import readers
from attnkernel.corpus.text import UNKNOWN_ID
from attnkernel.corpus.tokens import SENTENCE_END
from attnkernel.errors import InputError
from attnkernel.language import arpa, evaluate, kneser_ney, tables
from attnkernel.language.cache import cache_probabilities, mixture
from attnkernel.language.kneser_ney import Backoff

Floats = NDArray[np.float64]

LANGUAGE: Final = Path("results/language")


class Kernel(NamedTuple):
    """A kernel cache beside Kneser-Ney.

    Attributes
    ----------
    queries, keys
        Vectors of every type, (types, d) each.
    beta
        Concentration.
    weight
        Lambda, the share of Kneser-Ney in the mixture.
    """

    queries: Floats
    keys: Floats
    beta: float
    weight: float


@dataclass(frozen=True)
class Model:
    """What a text is scored under.

    Attributes
    ----------
    vocabulary
        Token of each id.
    ngrams
        Kneser-Ney, or another back-off model.
    kernels
        By the name of their columns: `cache`, `learned`; none for an ARPA model.
    settings
        How the training corpus was read, and so how a text is; empty for an ARPA model.
    """

    vocabulary: list[str]
    ngrams: Backoff
    kernels: dict[str, Kernel]
    settings: Mapping[str, Any]


def load(place: str) -> Model:
    """Read a model: a corpus of a finished run by its name or its folder below results/language, or an ARPA file.

    Raises
    ------
    InputError
        There is no such model, or a part of it is missing.
    """
    path = Path(place)
    if path.is_file():
        text = reading.decode(reading.contents(path), path)
        try:
            vocabulary, ngrams = arpa.read_arpa(text.split("\n"))
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        return Model(vocabulary, ngrams, {}, {})
    folder = path if path.is_dir() else LANGUAGE / place
    if not (folder / "kneser-ney.parquet").is_file():
        found = sorted(model.parent.name for model in LANGUAGE.glob("*/kneser-ney.parquet"))
        names = (
            f"a corpus that was run: {', '.join(found)}" if found else "an ARPA file; no corpus was run here: make run"
        )
        raise InputError(f"there is no model {place!r}; give {names}")
    return _load_run(folder)


def _load_run(folder: Path) -> Model:
    corpus = folder.parent.parent / "corpora" / folder.name
    types = table.read(corpus / "vectors.parquet", ["token", "vector"])
    vectors = types["vector"]
    grid, epochs = table.read(folder / "grid.parquet"), table.read(folder / "epochs.parquet")
    row, weight = tables.chosen(grid)
    maps = table.read(folder / "kernel.parquet", ["A", "B"])
    learned_weight = float(epochs["lambda"][epochs["chosen"]][0])
    kernels = {
        "cache": Kernel(vectors, vectors, float(grid["beta"][row]), weight),
        "learned": Kernel(vectors @ maps["A"].T, vectors @ maps["B"].T, 1.0, learned_weight),
    }
    ngrams = kneser_ney.from_columns(table.read(folder / "kneser-ney.parquet"))
    settings = table.origin(corpus / "tokens.parquet").get("params", {}).get("settings", {})
    return Model(types["token"].tolist(), ngrams, kernels, settings)


def score(model: Model, documents: Sequence[readers.Document], settings: Mapping[str, Any]) -> table.Table:
    """Every token of every document under every model.

    Parameters
    ----------
    model
        From `load`.
    documents
        As read; each is its own cache.
    settings
        How they are cut into tokens (see `readers.tokenise_document`).

    Returns
    -------
    One row a token: document, sentence, position (0-based in the document), token, known; kn, and for each kernel its
    own probability (NaN where nothing precedes); then kn_nats and, for each kernel, the loss of its mixture with kn.

    Raises
    ------
    InputError
        No document has a word.
    """
    number = {word: index for index, word in enumerate(model.vocabulary)}
    parts = [_lay_out(document, settings) for document in documents]
    parts = [part for part in parts if len(part["token"])]
    if not parts:
        raise InputError("the text has no word to score; check that it is text")
    columns = table.concatenate(parts)
    ids = [
        np.array([number.get(token, UNKNOWN_ID) for token in part["token"].tolist()], dtype=np.int64) for part in parts
    ]
    flat = np.concatenate(ids)
    columns |= {"known": flat != UNKNOWN_ID, "kn": model.ngrams.probabilities(flat)}
    losses = {"kn_nats": evaluate.losses(columns["kn"])}
    for name, kernel in model.kernels.items():
        cached = cache_probabilities(ids, kernel.queries, kernel.keys, [kernel.beta])
        columns[name] = np.concatenate(cached, axis=1)[0]
        losses[f"{name}_nats"] = evaluate.losses(mixture(columns["kn"], columns[name], kernel.weight))
    return columns | losses


def _lay_out(document: readers.Document, settings: Mapping[str, Any]) -> table.Table:
    sentences, _ = readers.tokenise_document(document, settings)
    words = [token for sentence in sentences for token in (*sentence, SENTENCE_END)]
    lengths = [len(sentence) + 1 for sentence in sentences]
    return {
        "document": np.full(len(words), document.id, dtype=object),
        "sentence": np.repeat(np.arange(len(sentences)), lengths),
        "position": np.arange(len(words)),
        "token": np.array(words, dtype=object),
    }


def by_document(columns: table.Columns) -> table.Table:
    """Sum up the table of `score`, one row a document: document, tokens, unknown, and mean losses in nats per token."""
    names, first, inverse = np.unique(columns["document"].astype(str), return_index=True, return_inverse=True)
    order = np.argsort(first)
    tokens = np.bincount(inverse)
    result: table.Table = {
        "document": names[order].astype(object),
        "tokens": tokens[order],
        "unknown": np.bincount(inverse, weights=~columns["known"])[order].astype(np.int64),
    }
    for name in columns:
        if name.endswith("_nats"):
            result[name] = (np.bincount(inverse, weights=columns[name]) / tokens)[order]
    return result


def summary(columns: table.Columns) -> str:
    """One line on the whole text."""
    said = {"kn_nats": "Kneser-Ney", "cache_nats": "with the kernel cache", "learned_nats": "with the learned kernel"}
    losses = ", ".join(f"{what} {columns[name].mean():.4f}" for name, what in said.items() if name in columns)
    documents = len(set(columns["document"].tolist()))
    unknown = 1.0 - float(columns["known"].mean())
    return f"{documents} documents, {len(columns['token'])} tokens, {unknown:.1%} unknown; nats per token: {losses}"


def write(place: str, columns: table.Columns, form: str) -> None:
    """Write a table as tab-separated values ("tsv") or JSON lines ("jsonl"), to a file or, at "-", to standard output.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    if place == "-":
        _write(sys.stdout, columns, form)
    else:
        with table.atomic(place, "w") as file:
            _write(file, columns, form)


def _write(file: IO[str], columns: table.Columns, form: str) -> None:
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    shown = ([None if isinstance(value, float) and math.isnan(value) else value for value in row] for row in rows)
    if form == "jsonl":
        file.writelines(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) + "\n" for row in shown)
        return
    writer = csv.writer(file, delimiter="\t", lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(shown)
