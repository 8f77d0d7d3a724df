"""Documents from files: text, JSON lines and Parquet, plain or gzipped, a folder or a file, or inside a package.

This module reads files (it is the pipeline's edge for text); everything after it works on the documents it returns.
"""

from __future__ import annotations

import importlib.util
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from attnkernel import reading, table
from attnkernel.corpus import tokens
from attnkernel.errors import InputError

PACKAGE_PREFIX: Final = "package:"
_SUFFIXES: Final = (".txt", ".jsonl", ".parquet")
_KINDS: Final = ".txt, .txt.gz, .jsonl, .jsonl.gz, .parquet"


@dataclass(frozen=True)
class Document:
    """One document: a unique id, the group that must not straddle a split, and its text."""

    id: str
    group: str
    text: str


Placed = tuple[str, Document]
"""A document, and where it stands: the file, with the line or row."""


def resolve(path: str) -> Path:
    """Where a configured path is on this machine; `package:NAME/FILE` is a file inside an installed package.

    The package is found without importing it.

    Raises
    ------
    InputError
        The package is not installed, or its name is none.
    """
    if not path.startswith(PACKAGE_PREFIX):
        return Path(path)
    package, _, inside = path.removeprefix(PACKAGE_PREFIX).partition("/")
    if not package.isidentifier():
        raise InputError(f"{path}: {package!r} is not the name of a package; write package:NAME/FILE")
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise InputError(f"{path}: the package {package!r} is not installed; run: pip install {package}")
    return Path(spec.submodule_search_locations[0]) / inside


def files(path: str) -> list[Path]:
    """The corpus files at a configured path, sorted: itself, or those below it if it is a folder.

    Raises
    ------
    InputError
        Nothing is there, or a folder holds no file of a known kind.
    """
    place = resolve(path)
    if place.is_file():
        return [place]
    if not place.is_dir():
        raise InputError(f"{path}: there is no such file or folder; set the corpus's `path` in the config")
    found = sorted(file for file in place.rglob("*") if reading.is_document(file) and kind_of(file) in _SUFFIXES)
    if not found:
        raise InputError(f"{path}: the folder holds no document; it may hold {_KINDS}")
    return found


def read_documents(settings: Mapping[str, Any], paths: Iterable[Path]) -> list[Document]:
    """All documents of a corpus at once; see `each_document`."""
    return list(each_document(settings, paths))


def each_document(settings: Mapping[str, Any], paths: Iterable[Path]) -> Iterator[Document]:
    """The documents of a corpus, in the order of the files, of which one is in memory at a time.

    Parameters
    ----------
    settings
        A corpus of the config: `path`, `documents` ("files", "lines" or "headings", for text), `heading` (what the
        line that opens a document looks like), `text`, `id`, `group` (names of columns or keys, for JSON lines and
        Parquet), `group_pattern` (the part of the group that counts).
    paths
        The files (see `files`).

    Raises
    ------
    InputError
        A file cannot be read, is not UTF-8, lacks a column, or an id occurs twice.
    """
    root = resolve(settings["path"])
    _check_patterns(settings)
    first: dict[str, str] = {}
    for path in paths:
        for place, document in _read_file(path, root, settings):
            before = first.setdefault(document.id, place)
            if before != place:
                raise InputError(
                    f"{place}: document id {document.id!r} occurs more than once, first in {before}; "
                    "ids must be unique: rename one, or set the corpus's `id` in the config to another key"
                )
            yield _grouped(document, place, settings["group_pattern"])
    if not first:
        raise InputError(f"{settings['path']}: there is no document in it; set the corpus's `path` in the config")


def lines_of(text: str) -> list[str]:
    r"""The lines of a text, whichever of `\n`, `\r\n` and `\r` ends them."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def kind_of(path: Path) -> str:
    """The suffix that says how a file is read, without .gz: .txt, .jsonl, .parquet, or another, which is text."""
    name = path.name.lower()
    return Path(name.removesuffix(".gz")).suffix


def _check_patterns(settings: Mapping[str, Any]) -> None:
    for name in ("heading", "group_pattern"):
        try:
            re.compile(settings[name] or "")
        except re.error as error:
            raise InputError(
                f"config: {name} of the corpus at {settings['path']} is {settings[name]!r}, no regular expression "
                f"({error}); put a backslash before a character that stands for itself"
            ) from None


def _grouped(document: Document, place: str, pattern: str | None) -> Document:
    """The document with the part of its group that the pattern finds."""
    if pattern is None:
        return document
    found = re.search(pattern, document.group)
    if found is None:
        raise InputError(
            f"{place}: the group {document.group!r} has nothing that looks like {pattern!r}; change `group_pattern`"
        )
    return Document(document.id, found.group(), document.text)


def _read_file(path: Path, root: Path, settings: Mapping[str, Any]) -> Iterator[Placed]:
    name = path.relative_to(root).as_posix() if root.is_dir() else path.name
    # Systems spell accents in file names differently; a document must have one id, and so one split, on all of them.
    name = unicodedata.normalize("NFC", name)
    if kind_of(path) == ".parquet":
        return _from_parquet(path, settings)
    text = reading.decode(reading.contents(path), path)
    if kind_of(path) == ".jsonl":
        return _from_json_lines(text, path, settings)
    return from_text(text, name, path, settings)


def from_text(text: str, name: str, path: Path, settings: Mapping[str, Any]) -> Iterator[Placed]:
    """The documents of a plain text, cut as `documents` of the settings says."""
    if settings["documents"] == "files":
        yield str(path), _checked(Document(name, name, text), str(path))
        return
    lines = lines_of(text)
    if settings["documents"] == "lines":
        starts = [number for number, line in enumerate(lines) if line.strip()]
        ends = [number + 1 for number in starts]
    else:
        opening = re.compile(settings["heading"])
        starts = [number for number, line in enumerate(lines) if number == 0 or opening.search(line)]
        ends = [*starts[1:], len(lines)]
    for start, end in zip(starts, ends, strict=True):
        body = "\n".join(lines[start:end])
        if body.strip():
            place = f"{path}, line {start + 1}"
            yield place, _checked(Document(f"{name}:{start + 1}", f"{name}:{start + 1}", body), place)


def _from_json_lines(text: str, path: Path, settings: Mapping[str, Any]) -> Iterator[Placed]:
    for number, line in enumerate(lines_of(text.removeprefix("\ufeff")), start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            record = json.loads(line, object_pairs_hook=partial(_unrepeated, place))
        except json.JSONDecodeError as error:
            raise InputError(
                f"{place}: not JSON ({error.msg} at column {error.colno}); each line must be one JSON object"
            ) from None
        except InputError:
            raise
        except (ValueError, RecursionError) as error:  # a number of thousands of digits, or nesting without end
            raise InputError(f"{place}: JSON that no program here can hold ({error}); mend the line") from None
        if not isinstance(record, dict):
            raise InputError(f"{place}: not a JSON object; write {{...}} with the text and the id")
        yield place, _document(record, place, settings)


def _unrepeated(place: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        repeated = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise InputError(f"{place}: the key {repeated!r} occurs more than once; keep one of them")
    return record


def _from_parquet(path: Path, settings: Mapping[str, Any]) -> Iterator[Placed]:
    names = [settings[key] for key in ("text", "id", "group") if settings[key]]
    columns = table.read(path, list(dict.fromkeys(names)))
    for number, row in enumerate(zip(*(column.tolist() for column in columns.values()), strict=True)):
        place = f"{path}, row {number}"
        yield place, _document(dict(zip(columns, row, strict=True)), place, settings)


def _document(record: Mapping[str, Any], place: str, settings: Mapping[str, Any]) -> Document:
    text = _field(record, "text", place, settings)
    identifier = _field(record, "id", place, settings)
    group = _field(record, "group", place, settings) if settings["group"] else identifier
    return _checked(Document(identifier, group, text), place)


def _checked(document: Document, place: str) -> Document:
    """The document, if every part of it can be written to a file."""
    if not document.id:
        raise InputError(f"{place}: the document's id is empty; give it one")
    for value in (document.id, document.group, document.text):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"{place}: character {error.start} is {value[error.start]!r}, half of a surrogate pair, which is no "
                "text; write the whole character, or rename the file"
            ) from None
    return document


def _field(record: Mapping[str, Any], setting: str, place: str, settings: Mapping[str, Any]) -> str:
    key = settings[setting]
    if key not in record:
        has = ", ".join(map(repr, record)) or "nothing"
        raise InputError(f"{place}: {key!r} is missing; it has {has}: set the corpus's `{setting}` in the config")
    value = record[key]
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f"{place}: {key!r} is {_shown(value)}; a string is needed")
    return str(value)


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}..."


def tokenise_document(document: Document, settings: Mapping[str, Any]) -> tuple[list[list[str]], Counter[str]]:
    """Tokens of each sentence of a document, and what was normalised on the way.

    Parameters
    ----------
    document
        As read.
    settings
        A corpus of the config: `tokens` ("words" or "pretokenised"), `lowercase`, `reserved` ("refuse", "escape" or
        "unknown": what a reserved token in a pretokenised text is).

    Raises
    ------
    InputError
        A pretokenised text holds a reserved token and the config does not say what it stands for.
    """
    if settings["tokens"] == "words":
        text, changed = tokens.normalise(document.text)
        return tokens.tokenise(text, settings["lowercase"]), changed
    found = tokens.split_pretokenised(document.text, settings["lowercase"])
    return [[_reserved(token, document.id, settings["reserved"]) for token in line] for line in found], Counter()


def _reserved(token: str, document: str, policy: str) -> str:
    if token not in tokens.RESERVED or (policy == "unknown" and token == tokens.UNKNOWN):
        return token
    if policy == "escape":
        return "\\" + token
    raise InputError(
        f"document {document!r} holds the reserved token {token}; set `reserved: escape` to keep it as a word"
        + (", or `reserved: unknown` if it marks unknown words" if token == tokens.UNKNOWN else "")
    )
