"""Every hand-written gradient against the complex step and central differences, as a table that each run makes.

The losses stand here once more, written as their formulas read and in arithmetic that may be complex; nothing of the
code under test serves to check it, except the forward passes of the long-lag models, which are checked against
textbook forms in the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnkernel import circle, denoiser
from attnkernel.gradients import central_difference, complex_step, relative_error
from attnkernel.language import gating, pointer, recurrent
from attnkernel.longlag.attention import Attention
from attnkernel.longlag.elman import Elman
from attnkernel.longlag.lstm import LSTM
from attnkernel.longlag.task import Sizes, cross_entropy, draw_sequences, streams

Floats = NDArray[np.float64]
Table = dict[str, NDArray[Any]]

COMPLEX_STEP: Final = 1e-10
CENTRAL_DIFFERENCE: Final = 1e-6


class Pair(NamedTuple):
    """A hand-written gradient, and the loss that it is the gradient of."""

    model: str
    parameter: str
    gradient: Floats
    loss: Callable[[NDArray[Any]], Any]
    point: Floats


def gradients_table(seed: np.random.SeedSequence) -> Table:
    """Relative errors of every gradient on a small random instance.

    Returns
    -------
    One row a model and parameter: model, parameter, size (entries), complex_step and central_difference (relative
    errors), holds (at most 1e-10 and 1e-6); the last row, `all`, has the largest of each and holds if all do.
    """
    circle_seed, pointer_seed, lag_seed, code_seed = seed.spawn(4)
    pairs = [*_circle(circle_seed), *_pointer(pointer_seed), *_longlag(lag_seed), *_filing_codes(code_seed)]
    exact = np.array([relative_error(pair.gradient, complex_step(pair.loss, pair.point)) for pair in pairs])
    close = np.array([relative_error(pair.gradient, central_difference(pair.loss, pair.point)) for pair in pairs])
    holds = (exact <= COMPLEX_STEP) & (close <= CENTRAL_DIFFERENCE)
    return {
        "model": np.array([*(pair.model for pair in pairs), "all"], dtype=object),
        "parameter": np.array([*(pair.parameter for pair in pairs), "all"], dtype=object),
        "size": np.array([*(pair.point.size for pair in pairs), sum(pair.point.size for pair in pairs)]),
        "complex_step": np.append(exact, exact.max()),
        "central_difference": np.append(close, close.max()),
        "holds": np.append(holds, holds.all()),
    }


def denoising_loss(M: NDArray[Any], unit: Floats, noisy: Floats, clean: Floats) -> Any:
    """Squared error of attention with scores u_i M u_j, summed over columns and averaged over positions."""
    mass = np.exp(unit @ M @ unit.T)
    error = (mass / mass.sum(axis=1, keepdims=True)) @ noisy - clean
    return np.sum(error * error) / len(unit)


def population_risk(M: NDArray[Any], spectrum: circle.Spectrum, sigma: float, n: int, rotations: int) -> Any:
    """Exact risk of any M by the trace formula of Theorem 1, averaged over rotations of the keys."""
    total = 0.0
    for turn in range(rotations):
        angle = circle.angles(n) + 2.0 * np.pi * turn / (n * rotations)
        unit = circle.directions(angle)
        mass = np.exp(unit @ M @ unit.T)
        A = mass / mass.sum(axis=1, keepdims=True)
        covariance = sum(s * np.cos(k * (angle[:, None] - angle)) for k, s in spectrum.items())
        lost = A - np.eye(n)
        total = total + (np.trace(lost @ covariance @ lost.T) + sigma**2 * np.sum(A * A)) / n
    return total / rotations


def pointer_loss(document: NDArray[np.int64], vectors: Floats, A: NDArray[Any], B: NDArray[Any]) -> Any:
    """Definition 4 read position by position: mean of -log of the attention on earlier occurrences of the target."""
    terms = []
    for t in range(2, len(document)):
        kernel = np.exp((vectors[document[: t - 1]] @ B.T) @ (A @ vectors[document[t - 1]]))
        same = document[1:t] == document[t]
        if same.any():
            terms.append(np.log(kernel.sum()) - np.log(kernel[same].sum()))
    return sum(terms) / len(terms)


def pool_loss(parameters: Mapping[str, NDArray[Any]], inputs: Floats, known: Floats, node: Any, outcome: Floats) -> Any:
    """Mean surprise of the outcomes of decisions under the log-linear pool, decision by decision."""
    total = 0.0
    for said, place, which, up in zip(inputs, known, node, outcome, strict=True):
        hidden = np.tanh(said @ parameters["C"] + place @ parameters["A"] + parameters["b"][which])
        odds = said @ (parameters["w"] + hidden @ parameters["G"]) + hidden @ parameters["v"]
        total = total - np.log(1.0 / (1.0 + np.exp(-odds if up else odds)))
    return total / len(outcome)


def recurrent_loss(
    parameters: Mapping[str, NDArray[Any]], lane: Any, targets: Any, lowered: Mapping[int, float], masks: Floats
) -> Any:
    """Summed surprise of a lane's targets among sampled words under a long short-term memory, word by word.

    `lowered` has what each drawn word's logit is lowered by; other words than these and the target take no part.
    """
    width = parameters["word"].shape[1]
    output, memory, total = np.zeros(width), np.zeros(width), 0.0
    for word, target, mask_in, mask_out in zip(lane, targets, *masks, strict=True):
        both = np.concatenate([parameters["word"][word] * mask_in, output])
        into, keep, out, update = np.split(both @ parameters["weight"] + parameters["offset"], 4)
        memory = memory / (1.0 + np.exp(-keep)) + np.tanh(update) / (1.0 + np.exp(-into))
        output = np.tanh(memory) / (1.0 + np.exp(-out))
        logits = {
            other: parameters["word"][other] @ (output * mask_out) + parameters["bias"][other] - lowered.get(other, 0.0)
            for other in {*lowered, target}
        }
        own = logits[target] + lowered.get(target, 0.0)
        total = total - own + np.log(sum(np.exp(logits[other]) for other in logits if other != target) + np.exp(own))
    return total


def _circle(seed: np.random.SeedSequence) -> Iterator[Pair]:
    rng = np.random.default_rng(seed)
    n, sigma, spectrum = 8, 0.5, {1: 1.0, 2: 0.25}
    unit, M = circle.directions(circle.angles(n)), 2.0 * rng.standard_normal((2, 2))
    noisy, clean = rng.standard_normal((2, n, 5))
    trained = denoiser.loss_and_gradient(M[None], unit, noisy[None], clean[None])[1][0]
    yield Pair("circle layer", "M", trained, lambda x: denoising_loss(x, unit, noisy, clean), M)
    exact = circle.PopulationRisk(spectrum, sigma, n, rotations=3)(M)[1]
    yield Pair("population risk", "M", exact, lambda x: population_risk(x, spectrum, sigma, n, 3), M)


def _pointer(seed: np.random.SeedSequence) -> Iterator[Pair]:
    rng = np.random.default_rng(seed)
    types, dimension, tokens = 25, 4, 60
    document = np.minimum(rng.zipf(1.3, size=tokens) - 1, types - 1)
    vectors = rng.standard_normal((types, dimension))
    A, B = rng.standard_normal((2, dimension, dimension))
    ours = pointer.pointer_gradient(pointer.pointer_blocks(document), vectors, A, B)
    yield Pair("learned kernel", "A", ours.A / ours.positions, lambda x: pointer_loss(document, vectors, x, B), A)
    yield Pair("learned kernel", "B", ours.B / ours.positions, lambda x: pointer_loss(document, vectors, A, x), B)


def _longlag(seed: np.random.SeedSequence) -> Iterator[Pair]:
    sizes = Sizes(noise_symbols=4, dimension=3, hidden=3, embedding_sd=0.5)
    models: dict[str, Any] = {"attention": Attention(), "Elman": Elman(), "LSTM": LSTM([1.0])}
    symbols = draw_sequences(streams([seed], 0), 5, 4, sizes.noise_symbols)
    for family, model in models.items():
        weights = model.initialize(sizes, streams([seed], 1))
        gradients = model.loss_and_gradients(weights, symbols)[1]
        for name, value in weights.items():
            yield Pair(family, name, gradients[name], _replacing(model, weights, symbols, name), value)


def _replacing(model: Any, weights: Mapping[str, Floats], symbols: Any, name: str) -> Callable[[NDArray[Any]], Any]:
    """The model's loss as a function of one of its weights, in that weight's number type."""

    def loss(value: NDArray[Any]) -> Any:
        cast = {key: weight.astype(value.dtype) for key, weight in weights.items()} | {name: value}
        return cross_entropy(model.logits(cast, symbols), symbols[0])[0].mean(axis=-1).sum()

    return loss


def _filing_codes(seed: np.random.SeedSequence) -> Iterator[Pair]:
    rng = np.random.default_rng(seed)
    rows, experts, features, width, nodes = 7, 3, 2, 4, 3
    shapes = {
        "w": (experts,), "G": (width, experts), "v": (width,),
        "C": (experts, width), "A": (features, width), "b": (nodes, width),
    }  # fmt: skip
    pool = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    inputs, known = rng.standard_normal((rows, experts)), rng.standard_normal((rows, features))
    node, outcome = rng.integers(nodes, size=rows), rng.integers(2, size=rows).astype(np.float64)
    for name, gradient in gating.loss(pool, inputs, known, node, outcome)[1].items():
        replaced = _replaced(pool_loss, pool, name, inputs, known, node, outcome)
        yield Pair("pool of experts", name, gradient, replaced, pool[name])
    types, window = 6, 4
    shapes = {"word": (types, width), "bias": (types,), "weight": (2 * width, 4 * width), "offset": (4 * width,)}
    network = {name: 0.5 * rng.standard_normal(shape) for name, shape in shapes.items()}
    words, targets = rng.integers(types, size=(2, window))
    lowered = {0: -0.4, 3: -1.5}
    candidates = np.union1d(list(lowered), targets)
    correction = np.array([lowered.get(row, np.inf) for row in candidates.tolist()])
    masks = rng.integers(3, size=(2, window, width)) / 2.0
    arguments = (words[:, None], targets[:, None], candidates, correction, np.zeros((2, 1, width)))
    gradients = recurrent.loss(network, *arguments, list(masks[:, :, None]))[1]
    rows_of = {"word": np.union1d(candidates, words), "bias": candidates}
    for name, gradient in gradients.items():
        whole = np.zeros_like(network[name])
        whole[rows_of.get(name, ...)] = gradient
        replaced = _replaced(recurrent_loss, network, name, words.tolist(), targets.tolist(), lowered, masks)
        yield Pair("recurrent network", name, whole, replaced, network[name])


def _replaced(
    loss: Callable[..., Any], parameters: Mapping[str, Floats], name: str, *arguments: Any
) -> Callable[[NDArray[Any]], Any]:
    return lambda value: loss({**parameters, name: value}, *arguments)
