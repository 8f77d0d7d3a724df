"""What the blend gains over Kneser-Ney on a real corpus, beside the kernel cache of one word of context."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from attnkernel.corpus.text import Text
from attnkernel.language import blend, evaluate
from attnkernel.language.scored import Scored
from attnkernel.language.tables import KNESER_NEY, MIXTURE, model_losses

Floats = NDArray[np.float64]
Table = dict[str, NDArray[Any]]

BLEND: Final = "blend"


def gain_table(
    text: Text,
    heldout: Scored,
    grid: Mapping[str, NDArray[Any]],
    epochs: Mapping[str, NDArray[Any]],
    settings: Mapping[str, Any],
) -> Table:
    """Losses and paired gains over the closed vocabulary, in nats per token of the held-out documents.

    Parameters
    ----------
    text
        The whole corpus.
    heldout
        Its held-out tokens under Kneser-Ney and the caches.
    grid, epochs
        What development chose for the caches and the learned kernel.
    settings
        Of the blend. Its gate reads the development documents first, and each held-out document from there.

    Returns
    -------
    One row a model (kn; mixture, the kernel cache at the beta and lambda that development chose; blend): model, tokens,
    documents, loss, gain, gain_se (over kn, clustered), ratio (of the gain to that of `mixture`).
    """
    losses = {name: model_losses(heldout, grid, epochs)[name] for name in (KNESER_NEY, MIXTURE)}
    losses[BLEND] = blend_losses(text, settings)
    gains = [evaluate.ratio_mean(losses[KNESER_NEY] - values, heldout.origin.cluster) for values in losses.values()]
    gain = np.array([estimate.mean for estimate in gains])
    return {
        "model": np.array(list(losses), dtype=object),
        "tokens": np.array([estimate.tokens for estimate in gains], dtype=np.int64),
        "documents": np.full(len(gains), len(np.unique(heldout.origin.document))),
        "loss": np.array([values.mean() for values in losses.values()]),
        "gain": gain,
        "gain_se": np.array([estimate.se for estimate in gains]),
        "ratio": gain / gain[1],
    }


def blend_losses(text: Text, settings: Mapping[str, Any]) -> Floats:
    """Surprise of each held-out token of the closed vocabulary under the blend, in nats."""
    trained = blend.train(text.of("train").token, text.vocabulary, settings)
    words = np.array(text.vocabulary, dtype=object)

    def traces(split: str) -> list[blend.Trace]:
        documents = text.of(split).by_document()
        return [blend.trace(trained, words[document].tolist(), settings, closed=True) for document in documents]

    development = traces("dev")
    gate = blend.Gate(len(development[0].names), development[0].contexts.shape[1], settings["rate"])
    for read in development:
        blend.gated(read, settings["rate"], gate=gate)
    taught = pickle.dumps(gate)
    probability = [blend.gated(read, settings["rate"], gate=pickle.loads(taught)) for read in traces("heldout")]
    return evaluate.losses(np.concatenate(probability))
