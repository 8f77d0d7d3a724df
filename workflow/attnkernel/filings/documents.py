"""A filing as the pipeline keeps it: who filed what, which Items of it, and their prose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from attnkernel.errors import InputError
from attnkernel.filings import items, prose, typewritten
from attnkernel.table import Table

_HTML: Final = re.compile(r"<(?:html|xhtml|body|!doctype|p|div|br|font|span|center)\b[^>]*>", re.IGNORECASE)
_OTHER: Final = {b"%PDF": "a PDF file", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"PK\x03\x04": "an archive"}
_BEGINNING: Final = 4096  # characters in which HTML shows itself


@dataclass(frozen=True)
class Filing:
    """A filing as it was found.

    Attributes
    ----------
    id, company, form, year
        As the config names it; the year is that in which the fiscal year ended, and may be empty.
    source
        "folder", "edgar" or "archive".
    place
        File or address, for messages.
    data
        Text or HTML.
    """

    id: str
    company: str
    form: str
    year: str
    source: str
    place: str
    data: bytes


def document_table(filings: Sequence[Filing], wanted: Sequence[str]) -> Table:
    """One row a filing: id, company, form, year, source, items, text.

    Parameters
    ----------
    filings
        In the order of the rows.
    wanted
        Numbers of Items, in the order of the text; none for all of it.

    Raises
    ------
    InputError
        See `prose_of`.
    """
    rows = [(filing, *prose_of(filing, wanted)) for filing in filings]
    columns: dict[str, list[str]] = {
        name: [getattr(filing, name) for filing, _, _ in rows] for name in ("id", "company", "form", "year", "source")
    }
    columns["items"] = [",".join(found) for _, found, _ in rows]
    columns["text"] = ["\n".join(paragraphs) for _, _, paragraphs in rows]
    return {name: np.array(values, dtype=object) for name, values in columns.items()}


def _require_text(filing: Filing) -> None:
    kind = next((kind for start, kind in _OTHER.items() if filing.data.startswith(start)), None)
    if kind is None and b"\0" in filing.data:
        kind = f"a binary file (a zero at byte {filing.data.index(0)})"
    if kind:
        raise InputError(f"{filing.place}: {kind} and no text; save it as text in UTF-8, or as HTML")


def prose_of(filing: Filing, wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """The wanted Items that a filing has, and their paragraphs.

    Text without the heading of any wanted Item is taken whole: it is an Item, or an excerpt of one.

    Raises
    ------
    InputError
        The filing is no text, one of EDGAR's refusals, or HTML without any wanted Item, or has no text.
    """
    _require_text(filing)
    text = prose.decode(filing.data).replace("\r\n", "\n").replace("\r", "\n")
    refused = prose.refusal(text)
    if refused:
        raise InputError(f"{filing.place}: EDGAR's refusal ({refused!r}) and no filing; delete it and fetch it again")
    html = _HTML.search(text, 0, _BEGINNING) is not None
    if html:
        paragraphs = prose.paragraphs(text)
    elif typewritten.is_typewritten(text):
        paragraphs = typewritten.paragraphs(text)
    else:
        paragraphs = [stripped for line in text.split("\n") if (stripped := " ".join(line.split()))]
    found, selected = items.select(paragraphs, wanted)
    if html and wanted and not found:
        raise InputError(f"{filing.place}: no heading of Item {' or '.join(wanted)}; set `filings.items` in the config")
    chosen = selected if found else paragraphs
    if not chosen:
        raise InputError(f"{filing.place}: there is no text in it")
    return found, chosen
