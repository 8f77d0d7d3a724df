"""A recurrent network over words: what an n-gram cannot know, learned from the training text.

A long short-term memory (Hochreiter and Schmidhuber 1997) reads word vectors and predicts the next word by inner
products with the same vectors (Press and Wolf 2017). It is trained on many places of the text at once, with dropout
(Zaremba and others 2014) and a softmax over the words that came and a sample of the others (Bengio and Senecal 2008).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnkernel.language.kneser_ney import END, UNKNOWN
from attnkernel.language.states import Store
from attnkernel.optimize import Adam
from attnkernel.progress import track

Array = NDArray[Any]
Integers = NDArray[np.int64]
Parameters = dict[str, Array]

# Power of the frequencies by which the other words are drawn.
_NOISE_POWER: Final = 0.75
_GREATEST_NORM: Final = 5.0
# Places whose distributions are computed at once.
_BLOCK: Final = 64
# Places of the training text that are read at once when its states are kept.
_LANES: Final = 128
# Share of the steps over which the step size rises from 0, and what is left of it at the end.
_WARM_UP: Final = 0.05
_LAST: Final = 0.03
# Decay of the mean squares by which the steps of the word vectors are divided, and what is added to their roots.
_DECAY: Final = 0.99
_EPSILON: Final = 1e-6


class Recurrent(NamedTuple):
    """A trained network.

    Attributes
    ----------
    parameters
        `word`, (rows, width); `bias`, (rows,); `weight`, (2 width, 4 width); `offset`, (4 width,).
    row
        Row of each word, (types,): rare words share that of `UNKNOWN`.
    word
        Word of each row, (rows,).
    """

    parameters: Parameters
    row: Integers
    word: Integers


class Saved(NamedTuple):
    """A network as tables.

    Attributes
    ----------
    words
        A row each: token, bias and vector, (width,).
    cell
        weight, (4 width,): rows for the inputs, those for the outputs before, and the offset.
    """

    words: Mapping[str, NDArray[Any]]
    cell: Mapping[str, NDArray[Any]]


class Pace(NamedTuple):
    """How a network learns on along a document: see `Adapting`.

    Attributes
    ----------
    window
        Tokens between steps.
    step
        Size of a step, down the gradient of the nats that the window cost.
    """

    window: int
    step: float


class Reader:
    """A document under networks, token by token.

    Parameters
    ----------
    networks
        Trained, on one text.
    store
        States of the networks over the training text, if its kernel is to predict too.
    """

    def __init__(self, networks: Sequence[Recurrent], store: Store | None = None) -> None:
        self._networks, self._store = networks, store
        self._states = [_blank(network, 1) for network in networks]
        self.step(END)

    @property
    def state(self) -> Array:
        """What the networks have made of the document so far, one after another, (members * width,)."""
        return np.concatenate([state[0, 0] for state in self._states])

    def step(self, word: int) -> None:
        """Read the next token, an id of the vocabulary."""
        for number, (network, state) in enumerate(zip(self._networks, self._states, strict=True)):
            inputs = network.parameters["word"][network.row[[word]]][None]
            outputs, memories, _ = _forward(inputs, state, network.parameters)
            self._states[number] = np.stack([outputs[-1], memories[-1]])

    def distributions(self) -> list[NDArray[np.float64]]:
        """Probability of each word, (types,): the mean over the networks, and under the store if there is one.

        The networks give 0 to rare words, which are `UNKNOWN`.
        """
        return _distributions(self._networks, self._store, [state[0] for state in self._states])[0]


class Ahead:
    """A `Reader` of a document that is there already: the same, but for rounding, and several times as quick.

    Parameters
    ----------
    networks, store
        As for `Reader`.
    words
        Ids of the document's tokens, (tokens,).
    """

    def __init__(self, networks: Sequence[Recurrent], words: Integers, store: Store | None = None) -> None:
        self._networks, self._store, self._place = networks, store, 0
        self._outputs = [_outputs(network, words) for network in networks]
        self._block: list[list[NDArray[np.float64]]] = []

    @property
    def state(self) -> Array:
        """See `Reader.state`."""
        return np.concatenate([outputs[self._place] for outputs in self._outputs])

    def step(self, _: int) -> None:
        """Go on to the next token."""
        self._place += 1

    def distributions(self) -> list[NDArray[np.float64]]:
        """See `Reader.distributions`."""
        first, within = self._place - self._place % _BLOCK, self._place % _BLOCK
        if within == 0:
            block = [outputs[first : first + _BLOCK] for outputs in self._outputs]
            self._block = _distributions(self._networks, self._store, block)
        return self._block[within]


class Adapting:
    """A document under a network that goes on learning along it (dynamic evaluation, Krause and others 2018).

    After each window of tokens its parameters take a step down the gradient of what the window cost.

    Parameters
    ----------
    network
        Trained; it stays as it is.
    pace
        Of the steps.
    words
        Ids of the document's tokens, (tokens,), if they are there already: the same, but for rounding, and quicker.
    """

    def __init__(self, network: Recurrent, pace: Pace, words: Integers | None = None) -> None:
        self._network, self._pace = network, pace
        self._parameters = {name: values.copy() for name, values in network.parameters.items()}
        self._ahead = None if words is None else network.row[words]
        self._state = self._begun = _blank(network, 1)
        self._inputs: list[int] = []
        self._block: list[NDArray[np.float64]] = []
        self._place = 0
        self._last = int(network.row[END])
        self._read()

    def distribution(self) -> NDArray[np.float64]:
        """Probability of each word, (types,); 0 for rare words, which are `UNKNOWN`."""
        return self._block[self._place % self._pace.window]

    def step(self, word: int) -> None:
        """Read the next token, an id of the vocabulary."""
        self._last = int(self._network.row[word])
        self._place += 1
        if self._place % self._pace.window == 0:
            self._learn()
        self._read()

    def _read(self) -> None:
        """Go on with the last token, or with all that the window has if they are known."""
        coming = [self._last]
        if self._ahead is not None:
            if self._inputs:
                return
            coming += self._ahead[self._place : self._place + self._pace.window - 1].tolist()
        outputs, memories, _ = _forward(self._parameters["word"][coming][:, None], self._state, self._parameters)
        self._state = np.stack([outputs[-1], memories[-1]])
        self._inputs += coming
        self._block += list(_rows(self._network, self._parameters, np.concatenate(outputs[1:])))

    def _learn(self) -> None:
        inputs = np.array(self._inputs)[:, None]
        targets = np.append(inputs[1:, 0], self._last)[:, None]
        every = np.arange(len(self._parameters["bias"]))
        ones = [np.ones((*inputs.shape, self._state.shape[-1]), dtype=self._state.dtype)] * 2
        nothing = np.zeros(len(every), dtype=self._state.dtype)
        _, gradients, _ = loss(self._parameters, inputs, targets, every, nothing, self._begun, ones)
        for name, values in self._parameters.items():
            values[...] = values - np.float32(self._pace.step) * gradients[name]
        self._begun, self._inputs, self._block = self._state, [], []


def _blank(network: Recurrent, lanes: int) -> Array:
    """Outputs and memories before anything was read, (2, lanes, width)."""
    word = network.parameters["word"]
    return np.zeros((2, lanes, word.shape[1]), dtype=word.dtype)


def _outputs(network: Recurrent, words: Integers) -> Array:
    """Outputs before each token of a document and after the last, (tokens + 1, width)."""
    read = network.parameters["word"][network.row[np.append(END, words)]][:, None]
    return np.concatenate(_forward(read, _blank(network, 1), network.parameters)[0][1:])


def _distributions(
    networks: Sequence[Recurrent], store: Store | None, outputs: Sequence[Array]
) -> list[list[NDArray[np.float64]]]:
    """What `Reader.distributions` gives after each output; of each network, (places, width)."""
    rows = [_rows(network, network.parameters, each) for network, each in zip(networks, outputs, strict=True)]
    columns = [list(np.mean(rows, axis=0)), *([store.rows(np.concatenate(outputs, axis=1))] if store else [])]
    return [list(place) for place in zip(*columns, strict=True)]


def _rows(network: Recurrent, parameters: Parameters, outputs: Array) -> NDArray[np.float64]:
    """Distribution of the next word after each output, (places, types)."""
    logits = (outputs @ parameters["word"].T + parameters["bias"]).astype(np.float64)
    share = np.exp(logits - logits.max(axis=1, keepdims=True))
    rows = np.zeros((len(outputs), len(network.row)))
    rows[:, network.word] = share / share.sum(axis=1, keepdims=True)
    return rows


def states(networks: Sequence[Recurrent], text: Integers) -> tuple[Array, Integers]:
    """States of the networks along a text, see `Reader.state`, and what followed each: a row a place, and (places,).

    The text is read at `_LANES` places at once, of which each begins as a document does.

    Parameters
    ----------
    networks
        Trained.
    text
        Ids, (tokens,).
    """
    lanes = max(1, min(_LANES, len(text) // 2))
    length = len(text) // lanes
    lines = text[: lanes * length].reshape(lanes, length).T
    found = [_states(network, lines) for network in networks]
    return np.concatenate(found, axis=1), lines[1:].ravel()


def _states(network: Recurrent, lines: Integers) -> Array:
    """States after each token of several lines, (tokens, lanes), but their last: (places, width)."""
    length = len(lines) - 1
    state = _blank(network, lines.shape[1])
    found = np.empty((length, *state[0].shape), dtype=state.dtype)
    for start in range(0, length, _BLOCK):
        read = network.parameters["word"][network.row[lines[start : min(start + _BLOCK, length)]]]
        outputs, memories, _ = _forward(read, state, network.parameters)
        state = np.stack([outputs[-1], memories[-1]])
        found[start : start + _BLOCK] = outputs[1:]
    return found.reshape(-1, found.shape[-1])


def train(text: Integers, types: int, settings: Mapping[str, Any], seed: np.random.SeedSequence) -> Recurrent:
    """Train on a text of word ids.

    Parameters
    ----------
    text
        Ids, (tokens,).
    types
        Number of words.
    settings
        `width`; `epochs`, `step`, `lanes` (places that are read at once), `window` (tokens between steps), `noise`
        (words drawn for each step), `dropout`; `min_count`, occurrences below which a word is rare.
    seed
        Of the initial values, the noise and the dropout.
    """
    random = np.random.default_rng(seed)
    counts = np.bincount(text, minlength=types)
    word = np.union1d([UNKNOWN, END], np.flatnonzero(counts >= settings["min_count"]))
    row = np.full(types, np.searchsorted(word, UNKNOWN))
    row[word] = np.arange(len(word))
    rows = row[text]
    parameters = _initial(np.bincount(rows, minlength=len(word)), settings["width"], random)
    lanes = max(1, min(settings["lanes"], len(rows) // (2 * settings["window"])))
    length = len(rows) // lanes
    if length > 1:
        _descend(parameters, rows[: lanes * length].reshape(lanes, length).T, settings, random)
    return Recurrent(parameters, row, word)


def saved(network: Recurrent, vocabulary: Sequence[str]) -> Saved:
    """A network as tables.

    Parameters
    ----------
    network
        Trained.
    vocabulary
        Word of each id that it was trained on.
    """
    parameters = network.parameters
    words = {"token": np.array([vocabulary[index] for index in network.word.tolist()], dtype=object)}
    words |= {"bias": parameters["bias"], "vector": parameters["word"]}
    return Saved(words, {"weight": np.append(parameters["weight"], parameters["offset"][None], axis=0)})


def restored(tables: Saved, vocabulary: Sequence[str]) -> Recurrent:
    """The network over a vocabulary: words that it does not know are rare, and those that are not in it are dropped."""
    number = {word: index for index, word in enumerate(vocabulary)}
    tokens = tables.words["token"].tolist()
    kept = [place for place, token in enumerate(tokens) if token in number]
    word = np.array([number[tokens[place]] for place in kept], dtype=np.int64)
    row = np.full(len(vocabulary), word.tolist().index(UNKNOWN))
    row[word] = np.arange(len(word))
    weight = tables.cell["weight"]
    parameters = {"word": tables.words["vector"][kept], "bias": tables.words["bias"][kept]}
    parameters |= {"weight": weight[:-1], "offset": weight[-1]}
    return Recurrent({name: values.astype(np.float32) for name, values in parameters.items()}, row, word)


def _initial(counts: Integers, width: int, random: np.random.Generator) -> Parameters:
    drawn = {
        "word": 0.05 * random.standard_normal((len(counts), width)),
        "bias": np.log((counts + 1.0) / counts.sum()),
        "weight": random.standard_normal((2 * width, 4 * width)) / np.sqrt(2.0 * width),
        "offset": np.repeat([0.0, 1.0, 0.0, 0.0], width),
    }
    return {name: np.asarray(value, dtype=np.float32) for name, value in drawn.items()}


def _descend(parameters: Parameters, text: Integers, settings: Mapping[str, Any], random: np.random.Generator) -> None:
    """Stochastic descent over the lanes of a text, (tokens, lanes)."""
    noise = np.bincount(text.ravel(), minlength=len(parameters["word"])) + 1.0
    noise = np.cumsum(noise**_NOISE_POWER)
    noise /= noise[-1]
    window, lanes = settings["window"], text.shape[1]
    starts = range(0, len(text) - 1, window)
    adam = Adam({name: parameters[name] for name in ("weight", "offset")}, settings["step"])
    squares = {name: np.zeros_like(parameters[name]) for name in ("word", "bias")}
    steps = settings["epochs"] * len(starts)
    for done, start in enumerate(track([*starts] * settings["epochs"], "training the recurrent network")):
        if start == 0:
            state = np.zeros((2, lanes, settings["width"]), dtype=np.float32)
        inputs, targets = text[start : start + window], text[start + 1 : start + window + 1]
        inputs = inputs[: len(targets)]
        candidates, correction = _candidates(targets, noise, settings["noise"], random)
        masks = [_mask((*inputs.shape, settings["width"]), settings["dropout"], random) for _ in range(2)]
        _, gradients, state = loss(parameters, inputs, targets, candidates, correction, state, masks)
        scale = min(1.0, (done + 1) / (_WARM_UP * steps)) * (1.0 - (1.0 - _LAST) * done / steps)
        norm = float(np.sqrt(np.sum(gradients["weight"] ** 2)))
        gradients["weight"] *= np.float32(min(1.0, _GREATEST_NORM / max(norm, _GREATEST_NORM * 1e-6)))
        adam.update({name: gradients[name] for name in ("weight", "offset")}, scale)
        touched = np.union1d(candidates, inputs)
        for name, rows in (("word", touched), ("bias", candidates)):
            _row_step(parameters[name], squares[name], gradients[name], rows, settings["step"] * scale)


def _row_step(parameter: Array, squares: Array, gradient: Array, rows: Integers, step: float) -> None:
    mean = _DECAY * squares[rows] + (1.0 - _DECAY) * gradient**2
    squares[rows] = mean
    parameter[rows] -= np.float32(step) * gradient / (np.sqrt(mean) + np.float32(_EPSILON))


def _candidates(
    targets: Integers, cumulative: Array, draws: int, random: np.random.Generator
) -> tuple[Integers, NDArray[np.float32]]:
    """Rows that take part in a step, and the log of the probability that the noise drew each: inf if it did not."""
    drawn = np.unique(np.searchsorted(cumulative, random.random(draws)))
    candidates = np.union1d(drawn, targets)
    share = np.diff(cumulative, prepend=0.0)[candidates]
    chance = np.log(-np.expm1(-draws * share))
    return candidates, np.where(np.isin(candidates, drawn), chance, np.inf).astype(np.float32)


def _mask(shape: tuple[int, ...], dropout: float, random: np.random.Generator) -> NDArray[np.float32]:
    return (random.random(shape, dtype=np.float32) >= dropout).astype(np.float32) / np.float32(1.0 - dropout)


def loss(
    parameters: Parameters,
    inputs: Integers,
    targets: Integers,
    candidates: Integers,
    correction: Array,
    state: Array,
    masks: list[Array],
) -> tuple[Any, Parameters, Array]:
    """Sampled cross-entropy of a window, summed over its tokens and averaged over the lanes, and its gradient.

    `-log softmax(z)[y]`, where the logits of the candidates that are not y are lowered by `correction`.

    Parameters
    ----------
    parameters
        See `Recurrent`.
    inputs, targets
        Rows, (window, lanes).
    candidates, correction
        See `_candidates`, (candidates,) each; all targets are among the candidates, which are sorted.
    state
        Outputs and memories before the window, (2, lanes, width).
    masks
        Dropout of the inputs and of the outputs, (window, lanes, width) each.

    Returns
    -------
    The loss; its gradient: of `word` for the sorted rows of inputs and candidates, of `bias` for the candidates; and
    the state after the window.
    """
    read = parameters["word"][inputs] * masks[0]
    outputs, memories, gates = _forward(read, state, parameters)
    width, lanes = read.shape[-1], inputs.shape[1]
    seen = (np.stack(outputs[1:]) * masks[1]).reshape(-1, width)
    place = (np.arange(targets.size), np.searchsorted(candidates, targets.ravel()))
    vectors = parameters["word"][candidates]
    logits = seen @ vectors.T + parameters["bias"][candidates]
    own = logits[place]
    logits -= correction
    logits[place] = own
    logits -= logits.real.max(axis=1, keepdims=True)
    share = np.exp(logits)
    total = share.sum(axis=1)
    value = (np.log(total) - logits[place]).sum() / lanes
    share /= total[:, None]
    share[place] -= 1.0
    share /= lanes
    slope = _backward((share @ vectors).reshape(read.shape) * masks[1], outputs, memories, gates, parameters["weight"])
    flat = slope.reshape(-1, 4 * width)
    back = (flat @ parameters["weight"][:width].T) * masks[0].reshape(-1, width)
    before = np.concatenate([read.reshape(-1, width), np.stack(outputs[:-1]).reshape(-1, width)], axis=1)
    rows = np.union1d(candidates, inputs)
    word = np.zeros((len(rows), width), dtype=read.dtype)
    word[np.searchsorted(rows, candidates)] = share.T @ seen
    _add_rows(word, np.searchsorted(rows, inputs.ravel()), back)
    gradients = {"word": word, "bias": share.sum(axis=0), "weight": before.T @ flat, "offset": flat.sum(axis=0)}
    return value, gradients, np.stack([outputs[-1], memories[-1]])


def _add_rows(target: Array, rows: Integers, values: Array) -> None:
    order = np.argsort(rows, kind="stable")
    first = np.flatnonzero(np.diff(rows[order], prepend=-1))
    target[rows[order][first]] += np.add.reduceat(values[order], first, axis=0)


def _forward(read: Array, state: Array, parameters: Parameters) -> tuple[list[Array], list[Array], list[Array]]:
    """Outputs and memories, those before the first token in front, and the gates (input, forget, output, update)."""
    width = read.shape[-1]
    given = read @ parameters["weight"][:width] + parameters["offset"]
    outputs, memories, gates = [state[0]], [state[1]], []
    for coming in given:
        sums = coming + outputs[-1] @ parameters["weight"][width:]
        # The logistic function of the first three, by way of the hyperbolic tangent.
        sums[..., : 3 * width] *= 0.5
        gate = np.tanh(sums)
        gate[..., : 3 * width] = 0.5 * (gate[..., : 3 * width] + 1.0)
        into, keep, out, update = np.split(gate, 4, axis=-1)
        memories.append(keep * memories[-1] + into * update)
        outputs.append(out * np.tanh(memories[-1]))
        gates.append(gate)
    return outputs, memories, gates


def _backward(slope: Array, outputs: list[Array], memories: list[Array], gates: list[Array], weight: Array) -> Array:
    """Gradient with respect to the gates' sums, (window, lanes, 4 width), from that of the outputs."""
    width = slope.shape[-1]
    result = np.empty((*slope.shape[:-1], 4 * width), dtype=slope.dtype)
    output, memory = np.zeros_like(slope[0]), np.zeros_like(slope[0])
    for t in reversed(range(len(gates))):
        into, keep, out, update = np.split(gates[t], 4, axis=-1)
        output = output + slope[t]
        seen = np.tanh(memories[t + 1])
        memory = memory + output * out * (1.0 - seen**2)
        sums = result[t]
        sums[..., :width] = memory * update * into * (1.0 - into)
        sums[..., width : 2 * width] = memory * memories[t] * keep * (1.0 - keep)
        sums[..., 2 * width : 3 * width] = output * seen * out * (1.0 - out)
        sums[..., 3 * width :] = memory * into * (1.0 - update**2)
        memory, output = memory * keep, sums @ weight[width:].T
    return result
