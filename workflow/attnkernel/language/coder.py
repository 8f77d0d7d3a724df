"""A real code: an arithmetic coder that follows the blend, so that a stated code length is the size of a file.

Sender and receiver run the same models over the same past. One function, `_transmit`, is both: it hands each
distribution to a channel, which encodes the next symbol, or decodes it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, Final

import constriction
import numpy as np
from numpy.typing import NDArray

from attnkernel.corpus.tokens import SENTENCE_END
from attnkernel.language import blend, lossless, pool, speller
from attnkernel.language.decisions import CODE_POINTS, STOP, joined, spelled
from attnkernel.language.kneser_ney import UNKNOWN

Floats = NDArray[np.float64]
Message = Sequence[tuple[str, int]]

# A text is preceded by its number of tokens: the number of its binary digits, then these.
_DIGITS: Final = 32
# Of a word of the coder, and of the lower end of its interval.
_BYTES: Final = 4
_STATE: Final = 8


class _Sender:
    def __init__(self) -> None:
        self._coder = constriction.stream.queue.RangeEncoder()

    def symbol(self, probability: Floats, symbol: int) -> int:
        self._coder.encode(symbol, _categorical(probability))
        return symbol

    def number(self, size: int, number: int) -> int:
        self._coder.encode(number, constriction.stream.model.Uniform(size))
        return number

    def data(self) -> bytes:
        """The fewest bytes, filled up with zeros by the receiver, that name a number in the coder's interval."""
        place, (low, width) = self._coder.pos()
        size = _BYTES * place + _STATE
        # What the coder itself would send lies in the interval, which fixes the words before the state.
        inside = int.from_bytes(self._coder.get_compressed().astype(">u4").tobytes().ljust(size, b"\0"), "big")
        least = inside - (inside - low) % 2 ** (8 * _STATE)
        code = next(
            code
            for unit in range(8 * size, -1, -8)
            if (code := -(-least >> unit) << unit) < least + width and code < 2 ** (8 * size)
        )
        return bytes(code.to_bytes(size, "big")).rstrip(b"\0")


class _Receiver:
    def __init__(self, data: bytes) -> None:
        filled = data + bytes(-len(data) % _BYTES) + bytes(2 * _BYTES)
        self._coder = constriction.stream.queue.RangeDecoder(np.frombuffer(filled, dtype=">u4").astype(np.uint32))

    def symbol(self, probability: Floats, _: int) -> int:
        return int(self._coder.decode(_categorical(probability)))

    def number(self, size: int, _: int) -> int:
        return int(self._coder.decode(constriction.stream.model.Uniform(size)))


def length_bits(tokens: int) -> float:
    """Bits that say how many tokens a text has."""
    return float(np.log2(_DIGITS) + tokens.bit_length())


def encode(
    message: Message,
    trained: blend.Trained,
    settings: Mapping[str, Any],
    layout: lossless.LayoutModel | None,
    spelling: speller.Speller,
    pooled: pool.Pool | None = None,
) -> bytes:
    """Code a text.

    Parameters
    ----------
    message
        Tokens and their layouts.
    trained, settings
        Of the experts and their gate; see `blend`.
    layout, spelling
        Models of layouts and of new words as training left them; they learn on, so that each call needs its own.
        Without a model the layouts are not coded.
    pooled
        What predicts the words in place of the gate, if it was trained.
    """
    sender = _Sender()
    list(_transmit(sender, message, trained, settings, layout, spelling, pooled))
    return sender.data()


def decode(
    data: bytes,
    trained: blend.Trained,
    settings: Mapping[str, Any],
    layout: lossless.LayoutModel | None,
    spelling: speller.Speller,
    pooled: pool.Pool | None = None,
) -> Message:
    """The message that was coded, by models in the same state as when `encode` began."""
    return list(_transmit(_Receiver(data), [], trained, settings, layout, spelling, pooled))


def _transmit(
    channel: _Sender | _Receiver,
    message: Message,
    trained: blend.Trained,
    settings: Mapping[str, Any],
    layout: lossless.LayoutModel | None,
    spelling: speller.Speller,
    pooled: pool.Pool | None,
) -> Iterator[tuple[str, int]]:
    """Tokens and layouts, sent from `message` or, where that is empty, received."""
    token_by_token = _pooled(channel, pooled) if pooled else _gated(channel, trained, settings, spelling)
    next(token_by_token)
    before = SENTENCE_END
    digits = channel.number(_DIGITS, len(message).bit_length())
    for place in range(channel.number(1 << digits, len(message)) if digits else 0):
        token, mark = message[place] if message else ("", 0)
        token = token_by_token.send(token)
        if layout and token != SENTENCE_END:
            mark = channel.symbol(layout.distribution(token, before), mark)
            layout.add(token, before, mark)
        before = token
        yield token, mark


def _gated(
    channel: _Sender | _Receiver, trained: blend.Trained, settings: Mapping[str, Any], spelling: speller.Speller
) -> Generator[str, str, None]:
    """Given each token, the token: sent, or received, under the gate."""
    words = list(trained.vocabulary)
    number = {word: index for index, word in enumerate(words)}
    experts = blend.Experts(trained, settings)
    gate = blend.Gate(len(experts.names), len(experts.contexts()), settings["rate"])
    token = yield ""
    while True:
        rows, contexts = experts.rows(), experts.contexts()
        weights = gate.weights(contexts, np.array([len(row) > 0 for row in rows]))
        index = channel.symbol(_mixed(rows, weights, experts.size), number.get(token, UNKNOWN))
        gate.learn(contexts, weights, np.array([row[index] if index < len(row) else 0.0 for row in rows]))
        known = experts.add(index)
        if index == UNKNOWN:
            words.append(_spell(channel, token, spelling, number))
            number[words[known]] = known
            spelling.add(words[known])
        token = yield words[known]


def _pooled(channel: _Sender | _Receiver, pooled: pool.Pool) -> Generator[str, str, None]:
    """Given each token, the token: sent, or received, under the pool."""
    reader, alphabet = pool.Reader(pooled), pooled.alphabet
    token = yield ""
    while True:
        coming = (*spelled(token), "")
        symbols = alphabet.symbols([token]).tolist()
        characters: list[str] = []
        symbol = -1
        while symbol != STOP:
            place = min(len(characters), len(symbols) - 1)
            symbol = channel.symbol(reader.distribution(), symbols[place])
            if symbol == alphabet.other:
                characters.append(chr(channel.number(CODE_POINTS, ord(coming[place] or "\0"))))
            elif symbol != STOP:
                characters.append(alphabet.characters[symbol - 1])
            reader.step(symbol, joined(characters) if symbol == STOP else None)
        token = yield joined(characters)


def _spell(channel: _Sender | _Receiver, word: str, spelling: speller.Speller, numbered: Mapping[str, int]) -> str:
    """Send or receive a new word, character by character; it ends where no word that has a number does."""
    spelled, alphabet = "", spelling.alphabet
    place = {symbol: index for index, symbol in enumerate(alphabet, start=2)} | {"": 0}
    while True:
        probability = np.array(spelling.conditionals(speller.START + spelled))
        if spelled in numbered:
            probability[0] = 0.0
        coming = word[len(spelled) : len(spelled) + 1]
        index = channel.symbol(probability, place.get(coming, 1))
        if index == 0:
            return spelled
        if index == 1:
            spelled += chr(channel.number(0x110000, ord(coming or "\0")))
        else:
            spelled += alphabet[index - 2]


def _mixed(rows: Sequence[Floats], weights: Floats, size: int) -> Floats:
    mixed = np.zeros(size)
    for row, weight in zip(rows, weights.tolist(), strict=True):
        mixed[: len(row)] += weight * row
    return mixed


def _categorical(probability: Floats) -> Any:
    return constriction.stream.model.Categorical(probability / probability.sum(), perfect=False)
