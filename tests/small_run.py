"""A small run in memory: the tables behind the laboratory, computed in a second, for tests of what is made of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from attnkernel import circle, payload, render, table
from attnkernel.corpus.text import read_text
from attnkernel.language import kneser_ney
from attnkernel.language.cache import cache_probabilities

SPECTRA = {"smooth": [1.0, 0.25], "rough": [0.25] * 6}
SETTINGS = [("smooth", 16), ("rough", 32)]
SIGMA = 0.5
BETAS = [0.0, 2.0, np.inf]
TEXT = "the net income of company rose fell margin in quarter year costs sales growth outlook"


FILINGS = {
    name: np.array([value], dtype=object)
    for name, value in {
        "id": "acme",
        "company": "Acme Inc.",
        "form": "10-K",
        "year": "",
        "text": 3 * "Acme's net income rose. Acme sold widgets, and the widgets of Acme sold well.\nNet income fell. ",
    }.items()
}


@dataclass
class SmallRun:
    """The tables by name, the documents, and the payload that is built of them."""

    tables: dict[str, Any]
    documents: list[Any]
    text: Any
    model: Any
    vectors: Any
    kinds: Any
    data: dict[str, Any]


def small_run(folder):
    rng = np.random.default_rng(5)
    circles = circle_tables()
    text = read_text(token_file(folder, rng), min_count=1)
    vectors = rng.standard_normal((len(text.vocabulary), 6))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[0] = 0.0
    vectors[text.vocabulary.index("rose")] = vectors[text.vocabulary.index("fell")]
    grid = {
        "beta": np.array(BETAS),
        "lambda": np.array([0.9, 0.8, 0.85]),
        "dev": np.array([3.0, 2.8, 2.9]),
        "heldout": np.array([3.1, 2.9, 3.0]),
        "chosen": np.array([False, True, False]),
    }
    epochs = {"lambda": np.array([0.9, 0.75]), "chosen": np.array([False, True])}
    kinds = payload.models(grid, epochs)
    kernel = {"A": rng.standard_normal((6, 6)), "B": rng.standard_normal((6, 6))}
    model, scores = scored(text, vectors, kernel)
    sizes = {"speller_order": 3, "quantile": 0.5}
    trained = (text.vocabulary, model, kinds, vectors, kernel)
    documents = [
        payload.corpus_document("toy", text, scores, kinds, vectors, kernel, **sizes),
        *payload.filing_documents(FILINGS, 200, *trained, speller_order=3),
    ]
    exported = payload.text_entry("toy", True, *trained[:-1])
    corpus = np.array(["toy"] * 3, dtype=object)
    losses = {
        "grid": {"corpus": corpus, **grid},
        "heldout": {
            "corpus": corpus[:1],
            "group": np.array(["all"], dtype=object),
            "model": np.array(["mixture"], dtype=object),
            "gain": np.array([0.2]),
            "gain_se": np.array([0.05]),
        },
    }
    census = {
        "model": np.array(["attention", "elman"], dtype=object),
        "lag": np.array([10, 10]),
        "log10_median": np.array([-3.5, -60.25]),
    }
    published = [{"id": "lag.census.attention.L10", "published": "2.22e-4"}, {"id": "other", "published": "true"}]
    data = payload.build(
        circle=circles,
        spectra=SPECTRA,
        sigma=SIGMA,
        census=census,
        published=published,
        documents=documents,
        losses=losses,
        text=exported,
        shown=1000,
        count=8,
    )
    tables = {**circles, "laboratory": payload.laboratory_table(documents, 1000)}
    return SmallRun(tables, documents, text, model, vectors, kinds, data)


def circle_tables():
    spectra = {name: circle.spectrum_of(variances) for name, variances in SPECTRA.items()}
    grid = circle.concentration_grid([{"to": 2, "step": 0.5}, {"to": 20, "step": 2}, {"to": 400, "step": 20}])
    optimum = circle.optimum_table(spectra, SIGMA, [n for _, n in SETTINGS])
    trained = [1.01 * circle.optimum(spectra[name], SIGMA, n) for name, n in SETTINGS]
    return {
        "risk_curve": circle.risk_curve_table(spectra, SIGMA, SETTINGS, grid),
        "optimum": optimum,
        "denoiser": {
            "spectrum": np.array([name for name, _ in SETTINGS], dtype=object),
            "n": np.array([n for _, n in SETTINGS]),
            "learned_c": np.array(trained),
        },
        "smoother": circle.smoother_table(
            spectra, SIGMA, SETTINGS, concentrations=[2.0], points=41, rng=np.random.default_rng(1)
        ),
    }


def token_file(folder, rng):
    """Six documents; the held-out ones also have a word that training lacks."""
    rows = []
    for index in range(6):
        split = ["train", "train", "dev", "heldout", "heldout", "heldout"][index]
        words = [*TEXT.split(), "unheard"] if split == "heldout" else TEXT.split()
        position = 0
        for sentence in range(5 + index):
            for token in [*rng.choice(words, 6), "</s>"]:
                rows.append((split, f"document-{index}", sentence, position, str(token)))
                position += 1
    names = ("split", "document", "sentence", "position", "token")
    columns = {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    path = folder / "tokens.parquet"
    table.write(path, columns, {})
    return path


def scored(text, vectors, kernel):
    training, heldout = text.of("train"), text.of("heldout")
    model = kneser_ney.estimate(training.token, len(text.vocabulary), discounting=0.75)
    documents = heldout.by_document()
    fixed = np.concatenate(cache_probabilities(documents, vectors, vectors, BETAS), axis=1)
    learned = cache_probabilities(documents, vectors @ kernel["A"].T, vectors @ kernel["B"].T, [1.0])
    columns = {"kn": model.probabilities(heldout.token), "learned": np.concatenate(learned, axis=1)[0]}
    return model, columns | dict(zip(["cache_0", "cache_2", "cache_inf"], fixed, strict=True))


def page_of(root, data, library):
    """The laboratory page over the data, from the project's own template, style, scripts and charts."""
    page = root / "workflow" / "page"
    return render.laboratory(
        template=(page / "index.html.j2").read_text(encoding="utf-8"),
        style=(page / "style.css").read_text(encoding="utf-8"),
        scripts=[(page / f"{name}.js").read_text(encoding="utf-8") for name in render.SCRIPTS],
        charts={name: (page / "charts" / f"{name}.json").read_text(encoding="utf-8") for name in render.CHARTS},
        library=library,
        payload=payload.to_text(data),
    )
