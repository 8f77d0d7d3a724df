"""From the HTML of a filing to its prose, one paragraph a line; `typewritten` does the same for plain text.

What is left out: the hidden header of inline XBRL, tables of data, and what stands on a page only because it is a page
(numbers, running heads, links to the contents). What is kept in one piece: a paragraph that a page break cuts in two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from attnkernel.filings.items import heading_of, is_title

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_ENCODING: Final = re.compile(rb"""(?:<\?xml[^>]*\bencoding|<meta[^>]*\bcharset)\s*=\s*["']?([\w-]+)""", re.IGNORECASE)
_LATIN: Final = frozenset(("iso-8859-1", "latin-1", "latin1", "windows-1252", "cp1252"))
_WRAPPED: Final = re.compile(r"<TEXT>(.*?)(?:</TEXT>|\Z)", re.DOTALL | re.IGNORECASE)
_XML_DECLARATION: Final = re.compile(r"\s*<\?xml[^>]*\?>")
_BEGINNING: Final = 4096  # bytes in which an encoding is declared
_WRAPPER_WITHIN: Final = 65_536  # characters of headers of a submission before its first document
_REFUSAL: Final = re.compile(r"undeclared automated tool|request rate threshold exceeded", re.IGNORECASE)
_REFUSAL_WITHIN: Final = 20_000

_BLOCK_TAGS: Final = (
    "address blockquote body caption center dd div dl dt fieldset form h1 h2 h3 h4 h5 h6 hr li ol p pre section table "
    "tbody td tfoot th thead tr ul"
)
_BLOCKS: Final = frozenset(_BLOCK_TAGS.split())
_UNSEEN: Final = frozenset(("head", "script", "style", "title", "ix:header", "ix:hidden"))
_NOT_DISPLAYED: Final = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_RAISED: Final = re.compile(r"\btop\s*:\s*-|vertical-align\s*:\s*super", re.IGNORECASE)
_FOOTNOTE: Final = re.compile(r"\s*(?:\d{1,2}|[*†‡]+)\s*")
_PAGE_BREAK: Final = re.compile(r"break-(before|after)\s*:\s*(?:always|page)", re.IGNORECASE)

_INVISIBLE: Final = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_BULLETS: Final = "•·●○■□▪▫◦‣⁃➢✓§"
_BULLET: Final = re.compile(rf"[{_BULLETS}]\s*|[-–—*o]\s+")
# What may stand alone in the first column of a table that only indents its text.
_MARKER: Final = re.compile(
    rf"[{_BULLETS}–—\-*†‡o]+|\(?(?:\d{{1,2}}|[A-Z]|[ivx]{{1,4}})[.)]|(?:part\s+[iv]+,?\s+)?item\s*\d{{1,2}}[abc]?[.:]?",
    re.IGNORECASE,
)
_PAGE_NUMBER: Final = re.compile(r"\W*(?:page\s+)?(?:\d{1,3}|[A-Z]-\d{1,3}|[ivx]{1,5})\W*", re.IGNORECASE)
_CONTENTS_LINK: Final = re.compile(
    r"(?:(?:back|return) to )?(?:the )?(?:table of )?(?:contents|index)\.?", re.IGNORECASE
)
_PART: Final = re.compile(r"part\s+[iv]+", re.IGNORECASE)
_RULE: Final = re.compile(r"[\W_]+")
_TERMINATED: Final = re.compile(r".*[.!?:;][\"'”’)\]]*")

_HEAD_LENGTH: Final = 100  # a running head is shorter than this
_HEAD_LINES: Final = 4  # and there are at most so many above or below a page break
_HEAD_REPEATS: Final = 3  # and it stands at no fewer page breaks
_CUT_LENGTH: Final = 120  # longer than a heading without a full stop is


@dataclass(frozen=True)
class Line:
    """A line of a filing, and whether a bullet stood before it."""

    text: str
    bullet: bool = False


PAGE: Final = Line("")  # a page break


def refusal(page: str) -> str | None:
    """The words with which EDGAR refuses, if this page is a refusal and no filing (whatever its status said)."""
    found = _REFUSAL.search(page, 0, _REFUSAL_WITHIN)
    return found.group() if found else None


def decode(data: bytes) -> str:
    """HTML as text, by the encoding that it declares; undeclared, UTF-8 if it is that, else Windows-1252.

    ASCII is read as UTF-8 and Latin-1 as Windows-1252, of which they are parts. EDGAR's SGML wrapper is taken off.
    """
    declared = _ENCODING.search(data, 0, _BEGINNING)
    try:
        text = data.decode("cp1252" if declared and declared[1].decode().lower() in _LATIN else "utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    wrapped = _WRAPPED.search(text) if "<DOCUMENT>" in text[:_WRAPPER_WITHIN].upper() else None
    return wrapped[1] if wrapped else text


def paragraphs(html: str) -> list[str]:
    """Paragraphs, headings and list items of a filing, in reading order, each without a line break in it.

    Parameters
    ----------
    html
        HTML of any age, or inline XBRL.
    """
    import lxml.html

    text = _XML_DECLARATION.sub("", html, count=1)
    if not text.strip():
        return []
    root = lxml.html.document_fromstring(text, parser=lxml.html.HTMLParser(huge_tree=True))
    return finished(list(_flow(root)))


def finished(lines: Sequence[Line]) -> list[str]:
    """Paragraphs from the lines of a filing, without page breaks and what stands on a page only because it is one."""
    return [line.text for line in _mended(_without_furniture(lines))]


def _flow(root: HtmlElement) -> Iterator[Line]:
    """Lines of an element, with the page breaks between them; tables inside it are kept or dropped whole."""
    from lxml import etree

    pieces: list[str] = []
    walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        tag = element.tag
        if tag in _BLOCKS:
            yield from _lines(pieces)
        if event == "start":
            if _page_break(element) == "before":
                yield PAGE
            if tag == "table" and element is not root and element.find(".//table") is None:
                yield from _table(element)
                walk.skip_subtree()
            elif _is_unseen(element):
                walk.skip_subtree()
            else:
                pieces.append("\n" if tag == "br" else _flat(element.text))
        else:
            if event == "end" and _page_break(element) == "after":
                yield PAGE
            if element is not root:
                pieces.append(_flat(element.tail))
    yield from _lines(pieces)


def _page_break(element: HtmlElement) -> str | None:
    style = element.get("style")
    found = _PAGE_BREAK.search(style) if style else None
    return found[1].lower() if found else None


def _is_unseen(element: HtmlElement) -> bool:
    """Whether an element is not displayed, or is the mark of a footnote, which is in no sentence."""
    style = element.get("style") or ""
    if element.tag in _UNSEEN or _NOT_DISPLAYED.search(style):
        return True
    raised = element.tag == "sup" or _RAISED.search(style) is not None
    return raised and _FOOTNOTE.fullmatch(element.text_content()) is not None


def _flat(text: str | None) -> str:
    """Text whose own line breaks are spaces: only `br` breaks a line."""
    return text.replace("\n", " ").replace("\r", " ") if text else ""


def _lines(pieces: list[str]) -> Iterator[Line]:
    """The text gathered so far, emptied: one line, or several where two `br` follow each other."""
    text = "".join(pieces).translate(_INVISIBLE)
    pieces.clear()
    for part in re.split(r"\n\s*\n", text):
        line = " ".join(part.split())
        if line:
            bullet = _BULLET.match(line)
            yield Line(line[bullet.end() :] if bullet else line, bullet is not None)


def _table(table: HtmlElement) -> Iterator[Line]:
    """Lines of a table that only places its text on the page; nothing of a table of data.

    The former has at most one cell with text in a row, beside a bullet or a number of the paragraph.
    """
    rows = [cells for row in table.iter("tr") if (cells := [c for c in map(_cell, row.iter("td", "th")) if c])]
    for cells in rows:
        if len(cells) > 2 or not re.search(r"[^\W\d_]", cells[-1][0].text):
            return
        if len(cells) == 2 and not (len(cells[0]) == 1 and _MARKER.fullmatch(cells[0][0].text or "•")):
            return
    for cells in rows:
        if len(cells) == 2:
            mark = cells[0][0]
            first = cells[1][0]
            bullet = mark.bullet or _BULLET.fullmatch(mark.text + " ") is not None
            yield replace(first, bullet=True) if bullet else Line(f"{mark.text} {first.text}")
            yield from cells[1][1:]
        else:
            yield from cells[0]


def _cell(cell: HtmlElement) -> list[Line]:
    return [line for line in _flow(cell) if line is not PAGE]


def _without_furniture(lines: Sequence[Line]) -> list[Line]:
    """The lines without page numbers, running heads and links to the contents."""
    heads = _running_heads(lines)
    kept: list[Line] = []
    seen: set[str] = set()
    for place, line in enumerate(lines):
        if line is not PAGE and _is_no_prose(line.text):
            continue
        if place in heads:
            # A heading that is repeated on top of every page is the heading where it first stands.
            if not _begins_item(lines, place) or line.text in seen:
                continue
            seen.add(line.text)
        kept.append(line)
    return kept


def _running_heads(lines: Sequence[Line]) -> set[int]:
    """Places of short lines that stand, but for their digits, at several page breaks."""
    near = [place for at, line in enumerate(lines) if line is PAGE for place in _around(lines, at)]
    counts = Counter(_mask(lines[place].text) for place in set(near))
    return {place for place in near if counts[_mask(lines[place].text)] >= _HEAD_REPEATS}


def _around(lines: Sequence[Line], at: int) -> Iterator[int]:
    for step in (-1, 1):
        for place in range(at + step, at + step * (_HEAD_LINES + 1), step):
            if not 0 <= place < len(lines) or lines[place] is PAGE or len(lines[place].text) > _HEAD_LENGTH:
                break
            yield place


def _begins_item(lines: Sequence[Line], place: int) -> bool:
    heading = heading_of(lines[place].text)
    after = lines[place + 1].text if place + 1 < len(lines) else ""
    return heading is not None and (heading[1] != "" or is_title(after))


def _mask(text: str) -> str:
    """What is the same on every page: a number is not, nor are the Items that a page belongs to."""
    heading = heading_of(text)
    return "item" if heading and not heading[1] else re.sub(r"\d+", "#", text.casefold())


def _is_no_prose(text: str) -> bool:
    """Whether a line is a page number, a link to the contents, the name of a part or a rule."""
    patterns = (_PAGE_NUMBER, _CONTENTS_LINK, _PART, _RULE)
    return any(pattern.fullmatch(text) for pattern in patterns)


def _mended(lines: Sequence[Line]) -> list[Line]:
    """The lines without page breaks; what a break cut in two is one line again."""
    mended: list[Line] = []
    cut = False
    for line in lines:
        if line is PAGE:
            cut = bool(mended)
        elif cut and _goes_on(mended[-1], line):
            mended[-1] = replace(mended[-1], text=f"{mended[-1].text} {line.text}")
            cut = False
        else:
            mended.append(line)
            cut = False
    return mended


def _goes_on(before: Line, after: Line) -> bool:
    if after.bullet or _TERMINATED.fullmatch(before.text):
        return False
    return after.text[0].islower() or len(before.text) >= _CUT_LENGTH
