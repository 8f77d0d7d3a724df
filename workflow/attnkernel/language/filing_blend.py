"""Filings under the blend: what it is trained on, what each token costs, step by step, and the code that is real."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnkernel.corpus.readers import Document
from attnkernel.corpus.text import UNKNOWN_ID, Text
from attnkernel.corpus.tokens import RESERVED
from attnkernel.language import blend, coder, filing_tables, lossless, open_vocabulary, pool, primer, recurrent
from attnkernel.language.filing_tables import BLEND, NORMALISED, RAW
from attnkernel.language.filing_tables import excerpt_name as _name
from attnkernel.language.kneser_ney import Backoff, estimate
from attnkernel.language.open_vocabulary import ROUTES, joined, normal_form, words
from attnkernel.language.speller import Speller
from attnkernel.progress import track

Floats = NDArray[np.float64]
Table = dict[str, NDArray[Any]]

OTHERS: Final = "other filings"
_KEY: Final[dict[str, Any]] = {"document": object, "excerpt": object, "text": object}
_TOKENS: Final = _KEY | {"position": int, "token": object, "route": object}
_CODED: Final = _KEY | {"stated_bits": float, "coded_bits": int, "excess": float, "identical": bool}
_REGRET: Final = _KEY | {
    "experts": int,
    "bits": float,
    "best": float,
    "beta": float,
    "lambda": float,
    "context": int,
    "regret": float,
    "bound": float,
    "holds": bool,
}
# Relative: sums over thousands of logarithms are not more exact.
_ROUNDING: Final = 1e-12
# Order of Kneser-Ney in the article, where the steps begin.
_FIRST_ORDER: Final = 3
_DOCUMENT: Final = "document n-grams"
_NETWORK_STATES: Final = "kernels over its states"
_LEARNING_ON: Final = "network that learns on"
_FIRST: Final = (blend.KNESER_NEY, blend.KERNEL, blend.RECENT, blend.NOVEL)
# Each step adds experts to those of the steps before; the last lets the weights depend on the context.
_STEPS: Final[Sequence[tuple[str, tuple[str, ...]]]] = (
    ("kernel of several words", (blend.CONTEXT_KERNEL,)),
    (_DOCUMENT, ()),
    ("log-linear", (blend.LOG_LINEAR,)),
    (blend.RECURRENT, (blend.RECURRENT,)),
    (_NETWORK_STATES, (blend.STATES, blend.OWN_STATES)),
    (_LEARNING_ON, (blend.ADAPTING,)),
)


@dataclass(frozen=True)
class Prepared:
    """Models as a training text leaves them; a document that is read changes copies only."""

    trained: blend.Trained
    first: Backoff
    layout: bytes
    speller: bytes
    pool: pool.Pool | None = None

    def layouts(self) -> lossless.LayoutModel:
        """A copy of the model of layouts."""
        copy: lossless.LayoutModel = pickle.loads(self.layout)
        return copy

    def spelling(self) -> Speller:
        """A copy of the speller."""
        copy: Speller = pickle.loads(self.speller)
        return copy


def prepared(
    texts: Sequence[Document],
    kind: str,
    settings: Mapping[str, Any],
    networks: Sequence[recurrent.Saved],
    seed: np.random.SeedSequence,
) -> Prepared:
    """Train on texts, read as they are (`raw`) or as words (`normalised`): a pool too, if there are networks for it."""
    layout = lossless.LayoutModel()
    documents: list[tuple[str, list[str]]] = []
    for text in texts:
        if kind == NORMALISED:
            documents.append((text.group, words(text.text)))
            continue
        found, layouts = lossless.split(text.text if text.text.endswith("\n") else f"{text.text}\n")
        layout.learn(found, layouts)
        documents.append((text.group, found))
    if networks:
        made = pool.train(documents, networks, settings, seed)
        return _prepared(made.trained, made.text, layout, settings, made)
    vocabulary, text_ = primer.numbered([tokens for _, tokens in documents])
    return _prepared(blend.train(text_, vocabulary, settings), text_, layout, settings)


def prepared_on(corpus: Text, settings: Mapping[str, Any]) -> Prepared:
    """Train on the training documents of a corpus, which has no layout."""
    text = corpus.of("train").token
    return _prepared(blend.train(text, corpus.vocabulary, settings), text, lossless.LayoutModel(), settings)


def _prepared(
    trained: blend.Trained,
    text: NDArray[np.int64],
    layout: lossless.LayoutModel,
    settings: Mapping[str, Any],
    made: pool.Pool | None = None,
) -> Prepared:
    speller = Speller(trained.vocabulary[len(RESERVED) :], settings["speller_order"])
    first = estimate(text, len(trained.vocabulary), _FIRST_ORDER)
    return Prepared(trained, first, pickle.dumps(layout), pickle.dumps(speller), made)


def read(text: str, kind: str, models: Prepared, settings: Mapping[str, Any], *, steps: bool) -> Table:
    """What each token of a text costs.

    Parameters
    ----------
    text
        An excerpt.
    kind
        `raw` or `normalised`.
    models, settings
        From `prepared`, and what it was given.
    steps
        Whether to score the blend's steps too.

    Returns
    -------
    One row a token: position, token, route (one of `ROUTES`), `bits blend`, and with steps `bits STEP` for each. In
    the cost of the first token is that of the number of tokens.
    """
    tokens, layouts = lossless.split(text) if kind == RAW else (words(text), [])
    spelled = blend.spelling_bits(tokens, models.trained.vocabulary, models.spelling())
    beside = models.layouts().read(tokens, layouts) if kind == RAW else np.zeros(len(tokens))
    beside[:1] += coder.length_bits(len(tokens))
    bits: dict[str, Floats] = {}
    if steps or not models.pool:
        trace = blend.trace(models.trained, tokens, settings)
        bits[BLEND] = _bits(blend.gated(trace, settings["rate"]), spelled, beside)
        bits |= _steps(trace, tokens, models, settings, spelled, beside) if steps else {}
    if models.pool:
        bits[BLEND] = pool.bits(tokens, models.pool) + beside
    known = frozenset(models.trained.vocabulary)
    return {
        "position": np.arange(len(tokens)),
        "token": np.array(tokens, dtype=object),
        "route": np.array(
            [ROUTES[0 if token in known else 1 + (cost > 0.0)] for token, cost in zip(tokens, spelled, strict=True)],
            dtype=object,
        ),
        **{f"bits {name}": values for name, values in bits.items()},
    }


def coded(text: str, kind: str, models: Prepared, settings: Mapping[str, Any], stated: float) -> dict[str, Any]:
    """Code a text, as it is or as words, and decode it: stated_bits, coded_bits, excess (relative), identical."""
    tokens, layouts = lossless.split(text) if kind == RAW else (words(text), [])
    message = list(zip(tokens, layouts or [0] * len(tokens), strict=True))
    states = [(models.layouts() if kind == RAW else None, models.spelling()) for _ in range(2)]
    data = coder.encode(message, models.trained, settings, *states[0], models.pool)
    back = coder.decode(data, models.trained, settings, *states[1], models.pool)
    return {
        "stated_bits": stated,
        "coded_bits": 8 * len(data),
        "excess": 8 * len(data) / stated - 1.0,
        "identical": _written(back, kind).encode() == (text if kind == RAW else normal_form(text)).encode(),
    }


def _written(message: coder.Message, kind: str) -> str:
    tokens, layouts = [token for token, _ in message], [layout for _, layout in message]
    return lossless.join(tokens, layouts) if kind == RAW else joined(tokens)


class Scores(NamedTuple):
    """Tables of a run over documents: a row a token, a coded text, a text under the Bayesian mixture."""

    tokens: Table
    coded: Table
    regret: Table


def scores(
    documents: Mapping[str, NDArray[Any]],
    kind: str,
    corpus: Text,
    priming: str | Sequence[Document] | None,
    networks: Sequence[recurrent.Saved],
    settings: Mapping[str, Any],
    seed: np.random.SeedSequence,
) -> Scores:
    """Score, code and decode excerpts of documents.

    Parameters
    ----------
    documents
        Columns id and text.
    kind
        `normalised`, or `raw`: as filed.
    corpus
        What a cold model knows.
    priming
        None: the models are trained on `corpus`; `OTHERS`: on the other documents; else on these texts.
    networks
        Of the texts that prime, from `primer.network`; with any, a pool takes the place of the gate.
    settings
        `excerpts`; `ablation`, those that are read step by step; and those of `blend`.
    seed
        Of what a pool draws.

    Returns
    -------
    tokens
        See `read`, with document, excerpt and text in front.
    coded
        document, excerpt, text, and the columns of `coded`.
    regret
        document, excerpt, and the columns of `regret`.
    """
    parts: list[Table] = []
    codes: list[dict[str, Any]] = []
    regrets: list[dict[str, Any]] = []
    ready: dict[str, Prepared] = {}
    work = list(_work(documents, kind, settings["excerpts"]))
    for document, excerpt, text in track(work, "reading and coding the excerpts"):
        texts = primers(documents, document, priming)
        trained_on = document if priming == OTHERS else ""
        if trained_on not in ready:
            ready = {}  # so that one training text is in memory at a time
            ready[trained_on] = (
                prepared(texts, kind, settings, networks, seed.spawn(1)[0]) if texts else prepared_on(corpus, settings)
            )
        models = ready[trained_on]
        stepwise = excerpt in map(_name, settings["ablation"])
        columns = read(text, kind, models, settings, steps=stepwise or not document)
        key = {"document": document, "excerpt": excerpt, "text": kind}
        parts.append(_keyed(columns, key))
        if document:
            codes.append(key | coded(text, kind, models, settings, float(columns[f"bits {BLEND}"].sum())))
        if document and kind == NORMALISED and stepwise:
            regrets.append(key | regret(text, models, settings))
    return Scores(_stacked(parts), _table(codes, _CODED), _table(regrets, _REGRET))


def together(parts: Sequence[Scores]) -> Scores:
    """The tables of several runs, one under the other."""
    return Scores(*(_stacked(tables) for tables in zip(*parts, strict=True)))


def primers(
    documents: Mapping[str, NDArray[Any]], document: str, priming: str | Sequence[Document] | None
) -> Sequence[Document]:
    """Texts that a model or a compressor is given before a document; see `scores`."""
    if priming == OTHERS:
        pairs = zip(documents["id"].tolist(), documents["text"].tolist(), strict=True)
        return [Document(name, name, text) for name, text in pairs if name != document] if document else []
    return [text for text in priming or [] if isinstance(text, Document)]


def compressed(
    documents: Mapping[str, NDArray[Any]], priming: str | Sequence[Document], training: str, settings: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Code lengths under the compressors: cold, joined too, and primed in the same matches as the blend.

    Parameters
    ----------
    documents, priming
        See `scores`.
    training
        Name of what primes.
    settings
        `excerpts`; `primed_compressors`, which take part in the primed match.
    """
    rows = []
    excerpts = list(filing_tables.excerpts(documents, settings["excerpts"]))
    for document, excerpt, text in track(excerpts, "compressing the excerpts"):
        rows += filing_tables.compressor_rows(document, excerpt, text)
        texts = primers(documents, document, priming)
        if document != filing_tables.JOINED and texts:
            rows += filing_tables.compressor_rows(
                document,
                excerpt,
                text,
                training=training,
                prior="".join(f"{before.text}\n" for before in texts),
                names=settings["primed_compressors"],
            )
    return rows


def tables(
    documents: Mapping[str, NDArray[Any]],
    priming: str | Sequence[Document],
    names: Sequence[str],
    article: Table,
    runs: Sequence[Scores],
    settings: Mapping[str, Any],
) -> dict[str, Table]:
    """The chapter's tables.

    Parameters
    ----------
    documents, priming
        See `scores`.
    names
        What each run's models were trained on: cold, primed.
    article
        Tokens of the article's models, from `filing_tables.token_columns`.
    runs
        From `scores`: cold, primed.
    settings
        Those of `scores` and `compressed`; `points` of the growth along a document; `claimed`, the documents that the
        claims are about.
    """
    sizes = filing_tables.text_sizes(documents, settings["excerpts"])
    steps = [
        row for run, name in zip(runs, names, strict=True) for row in filing_tables.model_rows(run.tokens, name, sizes)
    ]
    rows = filing_tables.model_rows(article, names[0], sizes)
    rows += [row for row in steps if row["model"] == BLEND]
    rows += compressed(documents, priming, names[1], settings)
    growing = [(names[0], article, ["kn", "mixture"])]
    growing += [(name, run.tokens, [BLEND]) for run, name in zip(runs, names, strict=True)]
    filings = filing_tables.code_table(rows)
    codes = filing_tables.with_training([run.coded for run in runs], names)
    regrets = filing_tables.with_training([run.regret for run in runs], names)
    return {
        "filings": filings,
        "filings_shapes": filing_tables.shape_table(filings, codes, regrets, names, settings["claimed"]),
        "filings_ablation": filing_tables.ablation_table(steps),
        "filings_coded": codes,
        "filings_regret": regrets,
        "filings_growth": filing_tables.growth_table(documents, settings["excerpts"][-1], settings["points"], growing),
        "filings_copied": filing_tables.copied_table(article, "mixture", "kn"),
    }


def regret(text: str, models: Prepared, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The Bayesian mixture over the article's mixtures at every beta, lambda and number of context words.

    Returns
    -------
    experts (how many), bits (of the mixture), best (bits of the best expert in hindsight), its beta, lambda and
    context, regret (bits less best), bound (log2 of experts), holds (up to the rounding of sums).
    """
    trained = models.trained
    found = open_vocabulary.read(text, trained.vocabulary)
    kneser_ney = trained.model.probabilities(found.token)
    spelled = open_vocabulary.spelling_bits(found, models.spelling(), trained.vocabulary)
    similarity = open_vocabulary.surface_vectors(trained.similarity, len(found.new))
    grid, probabilities = [], []
    for words_before in range(1, len(settings["context"]) + 1):
        weights = settings["context"][:words_before]
        caches = blend.context_caches(found.surface, similarity, weights, settings["betas"])
        for beta, cache in zip(settings["betas"], caches, strict=True):
            for weight in settings["lambdas"]:
                grid.append((beta, weight, words_before))
                probabilities.append(open_vocabulary.open_mixture(kneser_ney, spelled, cache, weight))
    stacked = np.array(probabilities)
    each = -np.log2(stacked).sum(axis=1)
    best, total = int(each.argmin()), float(blend.bayes_mixture(stacked).sum())
    bound = float(np.log2(len(grid)))
    return {
        "experts": len(grid),
        "bits": total,
        "best": float(each[best]),
        "beta": float(grid[best][0]),
        "lambda": float(grid[best][1]),
        "context": grid[best][2],
        "regret": total - float(each[best]),
        "bound": bound,
        "holds": total - float(each[best]) <= bound + _ROUNDING * total,
    }


def _work(documents: Mapping[str, NDArray[Any]], kind: str, lengths: Sequence[int | None]) -> Iterator[tuple[str, ...]]:
    """Document, excerpt and text of each excerpt; without documents an empty one, of words."""
    if not len(documents["id"]) and kind == NORMALISED:
        yield "", "", ""
    for document, text in zip(documents["id"].tolist(), documents["text"].tolist(), strict=True):
        for length in lengths:
            yield document, _name(length), open_vocabulary.excerpt(text, length)


def _keyed(columns: Table, key: Mapping[str, str]) -> Table:
    size = len(columns["token"])
    return {name: np.full(size, value, dtype=object) for name, value in key.items()} | columns


def _stacked(parts: Sequence[Table]) -> Table:
    """Rows of all parts; a step that was not scored is missing."""
    if not parts:
        return _table([], _TOKENS)
    names = list(dict.fromkeys(name for part in parts for name in part))
    sizes = [len(part["document"]) for part in parts]
    return {
        name: np.concatenate([part.get(name, np.full(size, np.nan)) for part, size in zip(parts, sizes, strict=True)])
        for name in names
    }


def _table(rows: Sequence[Mapping[str, Any]], kinds: Mapping[str, Any]) -> Table:
    return {name: np.array([row[name] for row in rows], dtype=kind) for name, kind in kinds.items()}


def _bits(probability: Floats, spelled: Floats, beside: Floats) -> Floats:
    return np.asarray(spelled + beside - np.log2(probability))


def _steps(
    trace: blend.Trace,
    tokens: Sequence[str],
    models: Prepared,
    settings: Mapping[str, Any],
    spelled: Floats,
    beside: Floats,
) -> dict[str, Floats]:
    static = Speller(models.trained.vocabulary[len(RESERVED) :], settings["speller_order"])
    numbered = frozenset(models.trained.vocabulary)
    unlearned = np.array(
        [
            -static.log2_probability(token, numbered) if cost > 0.0 else 0.0
            for token, cost in zip(tokens, spelled, strict=True)
        ]
    )
    begun = trace._replace(probability=trace.probability.copy())
    begun.probability[0] = _kneser_ney(tokens, models)
    probability = blend.gated(begun, settings["rate"], _FIRST, 1)
    bits = {
        "static speller": _bits(probability, unlearned, beside),
        "kernel of one word": _bits(probability, spelled, beside),
        f"Kneser-Ney of order {settings['order']}": _bits(
            blend.gated(trace, settings["rate"], _FIRST, 1), spelled, beside
        ),
    }
    use = list(_FIRST)
    for name, experts in _STEPS:
        use += [expert for expert in trace.names if expert in experts or (name, expert[:8]) == (_DOCUMENT, "document")]
        bits[name] = _bits(blend.gated(trace, settings["rate"], use, 1), spelled, beside)
    if blend.RECURRENT not in trace.names:
        del bits[blend.RECURRENT], bits[_NETWORK_STATES], bits[_LEARNING_ON]
    return bits | {"weights by context": _bits(blend.gated(trace, settings["rate"]), spelled, beside)}


def _kneser_ney(tokens: Sequence[str], models: Prepared) -> Floats:
    """Probability of each token under Kneser-Ney as the article has it: 0 for a new word that comes again."""
    number = {word: index for index, word in enumerate(models.trained.vocabulary)}
    ids = np.array([number.get(token, UNKNOWN_ID) for token in tokens], dtype=np.int64)
    again = np.ones(len(tokens), dtype=np.bool_)
    again[np.unique(np.array(tokens, dtype=str), return_index=True)[1]] = False
    return np.where((ids == UNKNOWN_ID) & again, 0.0, models.first.probabilities(ids))
