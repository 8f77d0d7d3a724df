"""Unicode normal forms in time that grows with the length of the text, whatever the text.

Python sorts the combining marks after a letter by insertion, so that a million of them take an hour. No writing needs
more than Unicode's stream-safe text format allows (Unicode Standard Annex 15, section 13): thirty in a row.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final, Literal

LONGEST_RUN: Final = 30
JOINER: Final = "\u034f"  # the combining grapheme joiner, which Unicode puts between the parts of a longer run
# Every combining mark lies beyond U+0300, so that most texts are seen to have no long run at once.
_SUSPECT: Final = re.compile(rf"[^\x00-\u02ff]{{{LONGEST_RUN + 1},}}")


def normalised(text: str, form: Literal["NFC", "NFKC"]) -> str:
    """The text in a normal form, after `stream_safe`."""
    return unicodedata.normalize(form, stream_safe(text))


def stream_safe(text: str) -> str:
    """The text with a joiner after every thirty combining marks in a row; as it is, if it has no such run."""
    return _SUSPECT.sub(lambda found: _parted(found.group()), text)


def _parted(text: str) -> str:
    pieces = []
    start = run = 0
    for place, character in enumerate(text):
        marks = _marks(character)
        if marks == 0:
            run = 0
        elif run + marks > LONGEST_RUN:
            pieces.append(text[start:place])
            start, run = place, marks
        else:
            run += marks
    return JOINER.join([*pieces, text[start:]])


@cache
def _marks(character: str) -> int:
    """How many combining marks a character consists of; 0 for one that holds a letter."""
    parts = unicodedata.normalize("NFKD", character)
    return len(parts) if all(map(unicodedata.combining, parts)) else 0
