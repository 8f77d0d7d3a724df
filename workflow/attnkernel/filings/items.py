"""The Items of a filing, found by their headings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

_HEADING: Final = re.compile(
    r"(?:part\s+[iv]+\s*[,.:–—-]?\s*)?items?\s*(\d{1,2}[abc]?)(?![\w(])(?:\s*(?:,|&|and)\s*(?:item\s*)?\d{1,2}[abc]?\b)*"
    r"\s*(?P<sign>[.:–—-]*)\s*(?P<title>.*)",
    re.IGNORECASE,
)
_LONGEST_HEADING: Final = 160
# The words with which the titles of the form's Items begin.
_TITLE: Final = re.compile(
    r"business|risk factors|unresolved|cybersecurity|(?:description of )?propert|legal|mine safety|submission|"
    r"market for|selected|\W*reserved|management|quantitative|(?:consolidated )?financial statements|changes in|"
    r"controls|other|disclosure|directors|executive|security ownership|certain|principal|exhibits|form 10-k",
    re.IGNORECASE,
)


def heading_of(line: str) -> tuple[str, str] | None:
    """Number and title of the Item that a line is the heading of, such as ("1A", "Risk Factors"), or None.

    A sentence that begins with an Item's name ("Item 7 of this report describes") is no heading.
    """
    found = _HEADING.fullmatch(line) if len(line) <= _LONGEST_HEADING else None
    if found is None:
        return None
    title = found["title"]
    if title and not found["sign"] and not (title[0].isupper() or title[0] in "\"'“‘("):
        return None
    return found[1].upper(), title


def is_title(line: str) -> bool:
    """Whether a line may be the title of an Item whose number stands on the line before."""
    return len(line) <= _LONGEST_HEADING and _TITLE.match(line) is not None


def select(paragraphs: Sequence[str], wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """The paragraphs of some Items, each with its heading, in the order in which the Items are wanted.

    An Item ends where another one begins. Where its heading stands several times, as in the table of contents or on top
    of every page, the longest stretch is the Item.

    Parameters
    ----------
    paragraphs
        Of the whole filing.
    wanted
        Numbers such as "1A".

    Returns
    -------
    found
        The wanted Items that are there.
    selected
        Their paragraphs.
    """
    spans = _longest_spans(paragraphs)
    found = [item.upper() for item in wanted if item.upper() in spans]
    return found, [line for item in found for line in paragraphs[slice(*spans[item])]]


def _longest_spans(paragraphs: Sequence[str]) -> dict[str, tuple[int, int]]:
    """First paragraph of each Item and the first after it."""
    headings = [(heading[0], place) for place, line in enumerate(paragraphs) if (heading := heading_of(line))]
    # A heading that is repeated within its Item begins nothing.
    starts = [next(repeated) for _, repeated in groupby(headings, key=itemgetter(0))]
    ends = [place for _, place in starts[1:]] + [len(paragraphs)] * bool(starts)
    lengths = [0]
    for line in paragraphs:
        lengths.append(lengths[-1] + len(line))
    best: dict[str, tuple[int, int]] = {}
    for (item, start), end in zip(starts, ends, strict=True):
        held = best.get(item, (0, 0))
        if lengths[end] - lengths[start] > lengths[held[1]] - lengths[held[0]]:
            best[item] = (start, end)
    return best
