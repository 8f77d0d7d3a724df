"""From a filing of before HTML to its prose: plain text, laid out in columns and pages as on a typewriter.

Such text breaks its lines where the page ends, indents or spaces its paragraphs, sets tables with blanks, and carries a
few SGML tags: `<PAGE>`, and `<TABLE>` with `<CAPTION>`, `<S>` and `<C>`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from attnkernel.filings.items import heading_of
from attnkernel.filings.prose import PAGE, Line, finished

_TAGGED: Final = re.compile(r"^[ \t]*<(?:PAGE|TABLE|CAPTION|S)>", re.MULTILINE | re.IGNORECASE)
_BREAK: Final = re.compile(r"\f|^[ \t]*<PAGE>.*$", re.MULTILINE | re.IGNORECASE)
# A table that is not closed ends with its page.
_TABLE: Final = re.compile(r"<TABLE>(.*?)(?:</TABLE>|(?=<TABLE>)|(?=\f)|\Z)", re.DOTALL | re.IGNORECASE)
_COLUMNS: Final = re.compile(r"<[SC]>", re.IGNORECASE)
_TAG: Final = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*>")
_GAP: Final = re.compile(r"\s{3,}|(?:\.\s?){4,}|\t")
_FIGURE: Final = re.compile(r"[$(\s]*[\d,.]*\d[\d,.]*[\s)%]*|[-–—$%*\s]+|[A-Z]-\d+|[ivx]+")
_RULE: Final = re.compile(r"[-=_*.\s]{3,}")
_MARK: Final = re.compile(r"(?:[-*•o]|\(?(?:\d{1,2}|[A-Za-z]|[ivx]{1,4})[.)])\s+\S")
_BULLET: Final = re.compile(r"[-*•o]\s+")
_ENDED: Final = re.compile(r"[.!?:;][\"')\]]*\Z")
_END: Final = 10  # characters in which the end of a sentence shows itself
_HALF: Final = re.compile(r"(?!(?:and|or|to)\b)[a-z]")
_LETTERS: Final = re.compile(r"[^\W\d_]")

_DEEPER: Final = 2  # blanks by which the first line of a paragraph is indented, at least
_SHORT: Final = 0.75  # of the width of the page: a line that ends a paragraph may be shorter
_GOING_ON: Final = 10  # lines that go on in lower case show that a text is broken into lines
_SHARE: Final = 0.2  # and as much of all lines


def is_typewritten(text: str) -> bool:
    """Whether a text has the tags of such a filing, or lines that go on in lower case on the next."""
    if _TAGGED.search(text):
        return True
    lines = text.split("\n")
    going_on = sum(
        line.lstrip()[:1].islower() and before.strip() != "" and not _is_ended(before.rstrip())
        for before, line in pairwise(lines)
    )
    return going_on >= max(_GOING_ON, _SHARE * sum(bool(line.strip()) for line in lines))


def paragraphs(text: str) -> list[str]:
    """Paragraphs, headings and list items of a filing, in reading order, each without a line break in it.

    Parameters
    ----------
    text
        Without EDGAR's wrapper (see `prose.decode`), every line ended by a line feed.
    """
    plain = _BREAK.sub("\f", text)
    plain = html.unescape(_TAG.sub("", _TABLE.sub(_without_columns, plain)))
    pages = [page.expandtabs().split("\n") for page in plain.split("\f")]
    width = _width([line for page in pages for line in page])
    lines: list[Line] = []
    for page in pages:
        lines += [PAGE] if lines else []
        lines += _joined([line for block in _blocks(page) for line in _unwrapped(block, width)])
    return finished(lines)


def _without_columns(table: re.Match[str]) -> str:
    """Nothing of a table of data; the text of a table that only encloses text."""
    lines = [line for line in table[1].split("\n") if line.strip()]
    return "\n" if _COLUMNS.search(table[1]) or _is_data(lines) else f"\n{table[1]}\n"


def _width(lines: Sequence[str]) -> int:
    """Length that nine tenths of the lines with text do not exceed."""
    lengths = sorted(len(line.rstrip()) for line in lines if line.strip())
    return lengths[len(lengths) * 9 // 10] if lengths else 0


def _blocks(page: Sequence[str]) -> Iterator[list[str]]:
    """Lines that no blank line parts, without tables and rules."""
    block: list[str] = []
    for line in [*page, ""]:
        if line.strip():
            if not _RULE.fullmatch(line):
                block.append(line.rstrip())
            continue
        if block and not _is_data(block):
            yield block
        block = []


def _is_data(lines: Sequence[str]) -> bool:
    """Whether half of the lines have columns of their own, or a figure beside their text."""
    return 2 * sum(map(_has_columns, lines)) >= max(len(lines), 1)


def _has_columns(line: str) -> bool:
    cells = [cell for cell in _GAP.split(line.strip()) if cell.strip()]
    return len(cells) > 1 and (len(cells) > 2 or _FIGURE.fullmatch(cells[-1]) is not None)


def _unwrapped(block: Sequence[str], width: int) -> Iterator[Line]:
    """The paragraphs of a block."""
    held: list[str] = []
    for line in block:
        if held and _begins(held[-1], line, width):
            yield _line(held)
            held = []
        held.append(line)
    yield _line(held)


def _begins(before: str, line: str, width: int) -> bool:
    """Whether a line begins a paragraph, though no blank line stands before it."""
    text, last = " ".join(line.split()), " ".join(before.split())
    short = len(before) < _SHORT * width
    if _is_capital(last) or _is_capital(text):
        return _is_capital(last) != _is_capital(text) or heading_of(text) is not None
    if heading_of(last):
        return short
    if not _is_ended(last):
        return False
    if heading_of(text) or short:
        return True
    deeper = _indent(line) - _indent(before)
    if _MARK.match(text):
        return deeper != 0 or _MARK.match(last) is not None
    return deeper >= _DEEPER and not _MARK.match(last)


def _is_ended(text: str) -> bool:
    return _ENDED.search(text[-_END:]) is not None


def _is_capital(text: str) -> bool:
    return text.isupper() and len(_LETTERS.findall(text)) > 1


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _line(lines: Sequence[str]) -> Line:
    """One line of several; a hyphen at the end of one is inside a word, unless the word's other half is yet to come."""
    parts: list[str] = []
    for line in lines:
        part = " ".join(line.split())
        before = parts[-1] if parts else ""
        cut = before.endswith("-") and before[-2:-1].isalpha() and _HALF.match(part)
        parts += [part] if cut or not parts else [" ", part]
    text = "".join(parts)
    bullet = _BULLET.match(text)
    return Line(text[bullet.end() :] if bullet else text, bullet is not None)


def _joined(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines of a page, with a paragraph in one piece whose own lines blank lines part."""
    held: list[Line] = []
    for line in lines:
        goes_on = bool(held) and line.text[:1].islower() and not line.bullet and not _is_ended(held[-1].text)
        if held and not goes_on:
            yield Line(" ".join(part.text for part in held), held[0].bullet)
            held = []
        held.append(line)
    if held:
        yield Line(" ".join(part.text for part in held), held[0].bullet)
