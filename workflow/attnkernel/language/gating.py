"""A log-linear pool of experts for decisions between two sides, its weights computed by a small network.

Each expert says how much likelier the upper side is than the lower, as a logarithm. Their weighted sum is the log-odds
of the pool: the product of the experts' distributions to the power of their weights, normalised (logistic mixing,
Mahoney 2005; Mattern 2012). How much an expert is to be trusted depends on what is known of the place: the weights are
a function of its features, one hidden layer wide. Several such networks that began differently are averaged in their
turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from attnkernel.optimize import Adam

Array = NDArray[Any]
Integers = NDArray[np.int64]
Parameters = dict[str, Array]

# Share of the steps over which the step size rises from 0, and what is left of it at the end.
_WARM_UP: Final = 0.05
_LAST: Final = 0.02
# Inputs are log-odds, a few times as large as the other features.
_INPUT_SCALE: Final = 0.3
# Rows that are computed at once.
_BLOCK: Final = 8192


def log_odds(networks: Sequence[Parameters], inputs: Array, known: Array, node: Integers) -> Array:
    """Log-odds of the upper side, (rows,).

    `sum_i s_i (w_i + (G h)_i) + v h`, `h = tanh(C s + A f + b[node])`, averaged over the networks.

    Parameters
    ----------
    networks
        Of each: `w`, (experts,); `G`, (hidden, experts); `v`, (hidden,); `C`, (experts, hidden); `A`, (features,
        hidden); `b`, (nodes, hidden).
    inputs
        What the experts say, s, (rows, experts).
    known
        What is known of the place, f, (rows, features).
    node
        Which decision it is, (rows,).
    """
    blocks = [slice(start, start + _BLOCK) for start in range(0, max(1, len(inputs)), _BLOCK)]
    return np.concatenate(
        [
            np.mean([_forward(each, inputs[block], known[block], node[block])[0] for each in networks], axis=0)
            for block in blocks
        ]
    )


def _forward(parameters: Parameters, inputs: Array, known: Array, node: Integers) -> tuple[Array, Array]:
    hidden = np.tanh(inputs @ parameters["C"] + known @ parameters["A"] + parameters["b"][node])
    weights = hidden @ parameters["G"] + parameters["w"]
    return (inputs * weights).sum(axis=1) + hidden @ parameters["v"], hidden


def loss(parameters: Parameters, inputs: Array, known: Array, node: Integers, outcome: Array) -> tuple[Any, Parameters]:
    """Mean cross-entropy of the outcomes, in nats, and its gradient; arguments as `log_odds`, outcome 0 or 1."""
    odds, hidden = _forward(parameters, inputs, known, node)
    value = np.log1p(np.exp((1.0 - 2.0 * outcome) * odds)).mean()
    slope = (1.0 / (1.0 + np.exp(-odds)) - outcome) / len(outcome)
    weights = slope[:, None] * inputs
    back = (weights @ parameters["G"].T + slope[:, None] * parameters["v"]) * (1.0 - hidden**2)
    one = (node[:, None] == np.arange(len(parameters["b"]))).astype(inputs.dtype)
    return value, {
        "w": weights.sum(axis=0),
        "G": hidden.T @ weights,
        "v": hidden.T @ slope,
        "C": inputs.T @ back,
        "A": known.T @ back,
        "b": one.T @ back,
    }


def train(
    inputs: Array,
    known: Array,
    node: Integers,
    outcome: Array,
    nodes: int,
    settings: Mapping[str, Any],
    seed: np.random.SeedSequence,
) -> Parameters:
    """Descend the cross-entropy with Adam, in batches of random rows.

    Parameters
    ----------
    inputs, known, node, outcome
        See `loss`.
    nodes
        How many there are.
    settings
        `width` of the hidden layer; `epochs`, `step`, `batch`.
    seed
        Of the initial values and the order of the rows.
    """
    random = np.random.default_rng(seed)
    experts, features, width = inputs.shape[1], known.shape[1], settings["width"]
    scale = 1.0 / np.sqrt(experts + features)
    parameters: Parameters = {
        "w": np.full(experts, 1.0 / experts),
        "G": np.zeros((width, experts)),
        "v": np.zeros(width),
        "C": _INPUT_SCALE * scale * random.standard_normal((experts, width)),
        "A": scale * random.standard_normal((features, width)),
        "b": scale * random.standard_normal((nodes, width)),
    }
    parameters = {name: value.astype(np.float32) for name, value in parameters.items()}
    adam = Adam(parameters, settings["step"])
    batches = -(-len(outcome) // settings["batch"])
    steps, done = settings["epochs"] * batches, 0
    for _ in range(settings["epochs"]):
        for rows in np.array_split(random.permutation(len(outcome)), batches):
            _, gradients = loss(parameters, inputs[rows], known[rows], node[rows], outcome[rows])
            adam.update(gradients, min(1.0, (done + 1) / (_WARM_UP * steps)) * (1.0 - (1.0 - _LAST) * done / steps))
            done += 1
    return parameters
