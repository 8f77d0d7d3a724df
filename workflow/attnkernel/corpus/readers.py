"""Documents from files: text, JSON lines and Parquet, plain or gzipped, a folder or a file, or inside a package.

This module reads files (it is the pipeline's edge for text); everything after it works on the documents it returns.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from attnkernel import table
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


def resolve(path: str) -> Path:
    """Where a configured path is on this machine; `package:NAME/FILE` is a file inside an installed package.

    The package is found without importing it.

    Raises
    ------
    InputError
        The package is not installed.
    """
    if not path.startswith(PACKAGE_PREFIX):
        return Path(path)
    package, _, inside = path.removeprefix(PACKAGE_PREFIX).partition("/")
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
    found = sorted(file for file in place.rglob("*") if file.is_file() and _kind(file) in _SUFFIXES)
    if not found:
        raise InputError(f"{path}: the folder holds no document; it may hold {_KINDS}")
    return found


def read_documents(settings: Mapping[str, Any], paths: Iterable[Path]) -> list[Document]:
    """All documents of a corpus, in the order of the files.

    Parameters
    ----------
    settings
        A corpus of the config: `path`, `documents` ("files" or "lines", for text), `text`, `id`, `group` (names of
        columns or keys, for JSON lines and Parquet).
    paths
        The files (see `files`).

    Raises
    ------
    InputError
        A file cannot be read, is not UTF-8, lacks a column, or an id occurs twice.
    """
    root = resolve(settings["path"])
    documents = [document for path in paths for document in _read_file(path, root, settings)]
    repeated = [name for name, count in Counter(document.id for document in documents).items() if count > 1]
    if repeated:
        raise InputError(f"{settings['path']}: document id {repeated[0]!r} occurs more than once; ids must be unique")
    if not documents:
        raise InputError(f"{settings['path']}: there is no document in it")
    return documents


def decode(data: bytes, path: Path) -> str:
    """UTF-8 text.

    Raises
    ------
    InputError
        The bytes are not UTF-8; the message names the offset of the first wrong one.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not UTF-8 at byte {error.start} (0x{data[error.start]:02x}); convert it, "
            f"for example with: iconv -f WINDOWS-1252 -t UTF-8"
        ) from None


def _kind(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def _read_file(path: Path, root: Path, settings: Mapping[str, Any]) -> Iterator[Document]:
    name = path.relative_to(root).as_posix() if root.is_dir() else path.name
    if _kind(path) == ".parquet":
        return _from_parquet(path, settings)
    text = decode(_bytes(path), path)
    if _kind(path) == ".jsonl":
        return _from_json_lines(text, path, settings)
    return _from_text(text, name, settings["documents"])


def _bytes(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix != ".gz":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: not a whole gzip file ({error}); fetch it again") from None


def _from_text(text: str, name: str, documents: str) -> Iterator[Document]:
    if documents == "files":
        yield Document(name, name, text)
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            identifier = f"{name}:{number}"
            yield Document(identifier, identifier, line)


def _from_json_lines(text: str, path: Path, settings: Mapping[str, Any]) -> Iterator[Document]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError(f"{place}: not JSON ({error.msg} at column {error.colno})") from None
        if not isinstance(record, dict):
            raise InputError(f"{place}: not a JSON object")
        yield _document(record, place, settings)


def _from_parquet(path: Path, settings: Mapping[str, Any]) -> Iterator[Document]:
    names = [settings[key] for key in ("text", "id", "group") if settings[key]]
    columns = table.read(path, list(dict.fromkeys(names)))
    for number, row in enumerate(zip(*(column.tolist() for column in columns.values()), strict=True)):
        yield _document(dict(zip(columns, row, strict=True)), f"{path}, row {number}", settings)


def _document(record: Mapping[str, Any], place: str, settings: Mapping[str, Any]) -> Document:
    text = _field(record, settings["text"], place)
    identifier = _field(record, settings["id"], place)
    group = _field(record, settings["group"], place) if settings["group"] else identifier
    return Document(identifier, group, text)


def _field(record: Mapping[str, Any], key: str, place: str) -> str:
    if key not in record:
        raise InputError(f"{place}: {key!r} is missing; it has {', '.join(map(repr, record))}")
    value = record[key]
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f"{place}: {key!r} is {value!r}; a string is needed")
    return str(value)


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
