r"""The one documented tokeniser: characters, then sentences, then words.

Characters are put into Unicode's normal form NFKC (a ligature becomes its letters, a no-break space a space, a
decomposed accent one character); invisible characters (byte-order mark, zero-width space and joiners, soft hyphen)
vanish, and typographic apostrophes and hyphens become plain ones. A line is what `\n` ends and ends a sentence, as
do full stop, question and exclamation mark before a capital, a digit or a quotation mark, unless an abbreviation or
an initial comes before the stop. A word is a run of letters and digits, with apostrophes and hyphens between letters
and points and commas between digits kept inside; all other punctuation is dropped.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Final

from attnkernel.normal_form import stream_safe

SENTENCE_END: Final = "</s>"
SENTENCE_START: Final = "<s>"
UNKNOWN: Final = "<unk>"
RESERVED: Final = (UNKNOWN, SENTENCE_START, SENTENCE_END)

_INVISIBLE: Final = {
    "\ufeff": "byte-order mark",
    "\u200b": "zero-width space",
    "\u200c": "zero-width non-joiner",
    "\u200d": "zero-width joiner",
    "\u2060": "word joiner",
    "\u00ad": "soft hyphen",
}
_PLAIN: Final = {"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-"}
_TRANSLATION: Final = str.maketrans({**dict.fromkeys(_INVISIBLE, ""), **_PLAIN})
# Every control character but the line feed separates words, as white space does.
_CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]")

_WORD: Final = re.compile(r"[^\W_]+(?:['-][^\W_]+|(?<=\d)[.,]\d+)*")
_BOUNDARY: Final = re.compile(r"""(?<=[.!?])["')\]\u201d]*\s+(?=["'(\[\u201c]*[A-Z0-9])""")
_BEFORE_STOP: Final = re.compile(r"([^\s(\[\"']+)\.$")
# What is looked at before a stop, in characters: more than any abbreviation has.
_REACH: Final = 12
ABBREVIATIONS: Final = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "gen",
        "col",
        "lt",
        "sgt",
        "capt",
        "sen",
        "rep",
        "gov",
        "st",
        "jr",
        "sr",
        "inc",
        "corp",
        "ltd",
        "co",
        "llc",
        "plc",
        "no",
        "nos",
        "vs",
        "etc",
        "al",
        "fig",
        "vol",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
        "u.s",
        "u.k",
        "u.n",
        "e.g",
        "i.e",
        "a.m",
        "p.m",
        "ph.d",
    ]
)


def normalise(text: str) -> tuple[str, Counter[str]]:
    r"""The text in the tokeniser's normal form, and how many characters of each kind were changed for it.

    Returns
    -------
    text
        NFKC, without invisible characters, `\n` the only line end.
    changed
        Counts by kind: the named invisible characters, "typographic apostrophe or hyphen", "control character",
        "carriage return", "run of more than thirty combining marks parted", "compatibility form" (ligatures, no-break
        spaces, full-width forms, decomposed accents).
    """
    changed: Counter[str] = Counter()
    for character, name in _INVISIBLE.items():
        changed[name] += text.count(character)
    changed["typographic apostrophe or hyphen"] = sum(text.count(character) for character in _PLAIN)
    changed["carriage return"] = text.count("\r")
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_TRANSLATION)
    text, changed["control character"] = _CONTROL.subn(" ", text)
    length, text = len(text), stream_safe(text)
    changed["run of more than thirty combining marks parted"] = len(text) - length
    if not unicodedata.is_normalized("NFKC", text):
        changed["compatibility form"] = sum(not unicodedata.is_normalized("NFKC", word) for word in text.split(" "))
        text = unicodedata.normalize("NFKC", text).translate(_TRANSLATION)
    return text, +changed


def sentences(text: str) -> list[str]:
    """The sentences of a normalised text, in order, none of them empty."""
    found: list[str] = []
    for line in text.split("\n"):
        start = 0
        for boundary in _BOUNDARY.finditer(line):
            if not _is_abbreviation(line[max(start, boundary.start() - _REACH) : boundary.start()]):
                found.append(line[start : boundary.start()])
                start = boundary.end()
        found.append(line[start:])
    return [sentence for sentence in found if sentence.strip()]


def words(sentence: str, lowercase: bool) -> list[str]:
    """The words of a normalised sentence."""
    return _WORD.findall(sentence.lower() if lowercase else sentence)


def tokenise(text: str, lowercase: bool) -> list[list[str]]:
    """Words of each sentence of a normalised text; sentences without a word are dropped."""
    return [found for sentence in sentences(text) if (found := words(sentence, lowercase))]


def split_pretokenised(text: str, lowercase: bool) -> list[list[str]]:
    """Tokens of a text that is tokenised already: white space separates tokens, a line is a sentence.

    The text is taken as it is, without normalisation.
    """
    lines = (text.lower() if lowercase else text).split("\n")
    return [found for line in lines if (found := line.split())]


def _is_abbreviation(before: str) -> bool:
    word = _BEFORE_STOP.search(before)
    if word is None:
        return False
    plain = word.group(1).lower()
    return plain in ABBREVIATIONS or (len(plain) == 1 and word.group(1).isupper())
