"""Back-off models as ARPA text, the format that KenLM and SRILM exchange: log10, one n-gram a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnkernel.errors import InputError
from attnkernel.language.kneser_ney import RESERVED, Backoff, Level, find_keys

# The format has no minus infinity; -99 is what its readers take for it.
LOG_ZERO = -99.0


class ArpaError(InputError):
    """A text is not an ARPA model; the message names the line and what to do."""

    def __init__(self, line: int, what: str, remedy: str) -> None:
        super().__init__(f"ARPA line {line}: {what}; {remedy}")


class _Section(NamedTuple):
    """The n-grams of one length as they stand in the text."""

    words: list[list[str]]
    probability: list[float]
    backoff: list[float]
    lines: list[int]


def write_arpa(model: Backoff, tokens: Sequence[str]) -> Iterator[str]:
    """Lines of the model's ARPA text, each with its newline.

    Parameters
    ----------
    model
        The model; a `KneserNey` is one.
    tokens
        Spelling of each word id; the first three are ``<unk>``, ``<s>`` and ``</s>``.

    Raises
    ------
    ValueError
        The tokens are not one a type, do not begin with the reserved ones, repeat, or one is empty or contains
        white space, which separates words in the format.
    """
    _check_tokens(tokens, model.types)
    yield "\\data\\\n"
    for n, level in enumerate(model.levels, start=1):
        yield f"ngram {n}={len(level.keys)}\n"
    ngrams: list[str] = []
    for n, level in enumerate(model.levels, start=1):
        histories, words = np.divmod(level.keys, model.types)
        if n == 1:
            ngrams = list(tokens)
        else:
            ngrams = [f"{ngrams[h]} {tokens[w]}" for h, w in zip(histories.tolist(), words.tolist(), strict=True)]
        yield f"\n\\{n}-grams:\n"
        rows = zip(_log10(level.probability), ngrams, _log10(level.backoff), strict=True)
        for probability, ngram, backoff in rows:
            yield (f"{probability:.8g}\t{ngram}\t{backoff:.8g}\n" if backoff else f"{probability:.8g}\t{ngram}\n")
    yield "\n\\end\\\n"


def read_arpa(lines: Iterable[str]) -> tuple[list[str], Backoff]:
    """Read a model from the lines of an ARPA text, from any program.

    Parameters
    ----------
    lines
        The text, a line each, with or without newlines.

    Returns
    -------
    The spelling of each word id (``<unk>``, ``<s>`` and ``</s>`` first, the others as they come), and the model.

    Raises
    ------
    ArpaError
        The text is not ARPA, contradicts itself, or lacks a reserved word.
    """
    numbered = ((i, line.strip(" \t\r\n")) for i, line in enumerate(lines, start=1))
    filled = ((i, line) for i, line in numbered if line)
    sizes, (at, line) = _read_header(filled)
    sections = []
    for n, size in enumerate(sizes, start=1):
        if line != f"\\{n}-grams:":
            raise ArpaError(at, f"found {line!r} instead of \\{n}-grams:", "write the sections in order")
        section, (at, line) = _read_section(filled, at, n)
        if len(section.words) != size:
            raise ArpaError(
                at, f"{len(section.words)} {n}-grams, but the header says {size}", "correct one or the other"
            )
        sections.append(section)
    if line != "\\end\\":
        raise ArpaError(at, f"found {line!r} instead of \\end\\", "declare every section in the header")
    return _assemble(sections, at)


def _log10(values: NDArray[np.float64]) -> list[float]:
    logs = np.full(len(values), LOG_ZERO)
    np.log10(values, out=logs, where=values > 0)
    exponents: list[float] = logs.tolist()
    return exponents


def _check_tokens(tokens: Sequence[str], types: int) -> None:
    if len(tokens) != types:
        raise ValueError(f"{len(tokens)} tokens for {types} types: give the spelling of every word id")
    if tuple(tokens[:3]) != RESERVED:
        raise ValueError(f"the first three tokens must be {', '.join(RESERVED)}, not {list(tokens[:3])}")
    if len(set(tokens)) != types:
        raise ValueError("two word ids have the same token: make the tokens distinct")
    for token in tokens:
        if not token or re.search(r"[\0\s]", token, re.ASCII):
            raise ValueError(f"the token {token!r} is empty or has white space: ARPA cannot hold it, rename it")


def _read_header(filled: Iterator[tuple[int, str]]) -> tuple[list[int], tuple[int, str]]:
    """Read the number of n-grams of each length, and the first line after the header."""
    at, line = next(filled, (1, ""))
    if line != "\\data\\":
        raise ArpaError(at, "the text does not begin with \\data\\", "check that it is an ARPA file, unpacked")
    sizes: list[int] = []
    for at, line in filled:
        if line.startswith("\\"):
            if not sizes:
                raise ArpaError(at, "the header has no counts", "add a line such as 'ngram 1=100'")
            return sizes, (at, line)
        match = re.fullmatch(r"ngram +(\d+) *= *(\d+)", line)
        if not match or int(match[1]) != len(sizes) + 1:
            raise ArpaError(at, f"found {line!r}", f"write 'ngram {len(sizes) + 1}=' and a count")
        sizes.append(int(match[2]))
    raise ArpaError(at, "the text ends in its header", "the file is cut short: make it again")


def _read_section(filled: Iterator[tuple[int, str]], begun: int, n: int) -> tuple[_Section, tuple[int, str]]:
    """Read the n-grams of one length, and the first line after them."""
    section, at = _Section([], [], [], []), begun
    for at, line in filled:
        fields = re.split("[ \t]+", line)
        if line.startswith("\\") and len(fields) == 1:
            return section, (at, line)
        if not n + 1 <= len(fields) <= n + 2:
            raise ArpaError(
                at,
                f"{len(fields)} fields where a {n}-gram has {n + 1} or {n + 2}",
                f"write log10 probability, {n} words, and at most a back-off weight",
            )
        section.words.append(fields[1 : n + 1])
        section.probability.append(_number(at, fields[0], highest=0.0))
        section.backoff.append(_number(at, fields[n + 1], highest=-LOG_ZERO) if len(fields) == n + 2 else 0.0)
        section.lines.append(at)
    raise ArpaError(at, f"the text ends within the {n}-grams", "the file is cut short: make it again")


def _number(at: int, field: str, highest: float) -> float:
    try:
        value = float(field)
    except ValueError:
        raise ArpaError(at, f"{field!r} is not a number", "write a log10 here") from None
    if not value <= highest:
        raise ArpaError(at, f"{field!r} is out of range", f"a log10 here is at most {highest:g}")
    return value


def _assemble(sections: Sequence[_Section], end: int) -> tuple[list[str], Backoff]:
    """Turn words into ids and ids into keys, level by level."""
    spelled = [words[0] for words in sections[0].words]
    missing = set(RESERVED).difference(spelled)
    if missing:
        raise ArpaError(
            end,
            f"the 1-grams lack {', '.join(sorted(missing))}",
            "export the model with an open vocabulary and sentence boundaries",
        )
    tokens = [*RESERVED, *(word for word in spelled if word not in RESERVED)]
    ids = {token: i for i, token in enumerate(tokens)}
    levels: list[Level] = []
    for n, section in enumerate(sections, start=1):
        words = _word_ids(section, ids, n)
        history = words[:, 0] if n > 1 else np.zeros(len(words), dtype=np.int64)
        for level, word in zip(levels[1:], words.T[1:], strict=False):
            history = np.where(history >= 0, find_keys(level.keys, history * len(tokens) + word), -1)
        _refuse(history < 0, section, f"its first {n - 1} words are not among the {n - 1}-grams", "add them")
        keys = history * len(tokens) + words[:, -1]
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        repeated = np.zeros(len(keys), dtype=bool)
        repeated[order[1:]] = keys[1:] == keys[:-1]
        _refuse(repeated, section, "it was given before", "keep one of the two")
        probability = np.array(section.probability)[order]
        levels.append(
            Level(
                keys,
                np.where(probability > LOG_ZERO, 10.0**probability, 0.0),
                10.0 ** np.array(section.backoff)[order],
            )
        )
    return tokens, Backoff(len(tokens), tuple(levels))


def _word_ids(section: _Section, ids: dict[str, int], n: int) -> NDArray[np.int64]:
    words = np.array([[ids.get(word, -1) for word in row] for row in section.words], dtype=np.int64).reshape(-1, n)
    _refuse(words.min(axis=1, initial=0) < 0, section, "it has a word that is not among the 1-grams", "add the word")
    return words


def _refuse(faulty: NDArray[np.bool_], section: _Section, what: str, remedy: str) -> None:
    """Raise for the first faulty n-gram of a section."""
    if faulty.any():
        row = int(np.argmax(faulty))
        raise ArpaError(section.lines[row], f"the n-gram {' '.join(section.words[row])!r}: {what}", remedy)
