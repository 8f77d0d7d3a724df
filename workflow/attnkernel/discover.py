"""What is in a folder of documents, and the config stanza that reads it.

Like `corpus.readers`, this module reads files.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from attnkernel import reading, table
from attnkernel.corpus import readers
from attnkernel.corpus.splits import SPLITS, split_of
from attnkernel.errors import InputError

Records = dict[str, list[Any]]

_ID_NAMES: Final = ("id", "doc_id", "document_id", "document", "docid", "key", "uid", "url", "name", "title")
_GROUP_NAMES: Final = ("group", "cik", "ticker", "company", "author", "speaker", "president", "source", "user", "site")
_RECORDS: Final = (".jsonl", ".parquet")
# Records that are looked at to guess what their columns are.
_SAMPLE: Final = 2000


@dataclass(frozen=True)
class Survey:
    """What was found.

    Attributes
    ----------
    stanza
        Settings of the corpus that are not the defaults.
    notes
        What was found, a sentence each.
    problems
        What stands in the way, a sentence each.
    """

    stanza: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def survey(path: str, defaults: Mapping[str, Any], splits: Mapping[str, Any]) -> Survey:
    """Look at a file or folder, guess how to read it, and read it so.

    Parameters
    ----------
    path
        As it is to stand in the config.
    defaults
        Every setting of a corpus.
    splits
        Shares of train, dev and heldout, and the salt.

    Raises
    ------
    InputError
        There is nothing to read.
    """
    files = readers.files(path)
    kinds = Counter(kind if (kind := readers.kind_of(file)) in _RECORDS else ".txt" for file in files)
    kind = kinds.most_common(1)[0][0]
    files = [
        file for file in files if (readers.kind_of(file) if kind in _RECORDS else ".txt") == kind or len(kinds) == 1
    ]
    found = Survey({"path": path})
    found.notes.append(f"files: {', '.join(f'{number} {name}' for name, number in sorted(kinds.items()))}")
    if len(kinds) > 1:
        found.problems.append(f"several kinds of files: only the {kind} are looked at here; keep one kind in a folder")
    readable = [file for file in files if _is_readable(file, found)]
    found.stanza.update(_guess_records(readable, kind, found) if kind in _RECORDS else _guess_text(readable))
    settings = {**defaults, **found.stanza}
    _count(list(_documents(readable, settings, found)), settings, splits, found)
    return found


def _is_readable(file: Path, found: Survey) -> bool:
    try:
        if readers.kind_of(file) == ".parquet":
            table.schema(file)
        else:
            reading.decode(reading.contents(file), file)
    except InputError as error:
        found.problems.append(str(error))
        return False
    return True


def _guess_text(files: Sequence[Path]) -> dict[str, Any]:
    """How plain text is cut into documents and words."""
    sample = [reading.decode(reading.contents(file), file) for file in files[:20]]
    guess: dict[str, Any] = {}
    if any(re.search(r"^ = [^=]", text, re.MULTILINE) for text in sample):
        guess["documents"] = "headings"
    elif len(files) == 1:
        guess["documents"] = "lines"
    if any(re.search(r"(?:^| )<unk>(?: |$)", text, re.MULTILINE) for text in sample):
        guess |= {"tokens": "pretokenised", "reserved": "unknown"}
    return guess


def _guess_records(files: Sequence[Path], kind: str, found: Survey) -> dict[str, str]:
    """Which columns hold the text, the id and the group."""
    records = _sample(files, kind)
    count = max((len(values) for values in records.values()), default=0)
    strings = {name: values for name, values in records.items() if all(isinstance(value, str) for value in values)}
    found.notes.append(f"columns: {', '.join(records) or 'none'}")
    if not strings:
        found.problems.append("no column holds strings; set `text` and `id` by hand")
        return {}
    text = max(strings, key=lambda name: float(np.mean([len(value) for value in strings[name]])))
    keys = {
        name: len(set(map(str, values)))
        for name, values in records.items()
        if name != text and len(values) == count and all(isinstance(v, str | int) for v in values)
    }
    identifier = _preferred(_ID_NAMES, [name for name, distinct in keys.items() if distinct == count])
    group = _preferred(_GROUP_NAMES, [name for name, distinct in keys.items() if 3 <= distinct < count], only=True)
    if identifier is None:
        found.problems.append("no column has a value of its own in every record; add one, and name it in `id`")
    guess = {"text": text, "id": identifier, "group": group}
    return {name: column for name, column in guess.items() if column is not None and column != name}


def _preferred(names: Sequence[str], columns: Sequence[str], only: bool = False) -> str | None:
    """The column with the first of the names; without one, the first column, unless only names count."""
    lowered = {column.lower(): column for column in columns}
    named = next((lowered[name] for name in names if name in lowered), None)
    return named if named or only else next(iter(columns), None)


def _sample(files: Sequence[Path], kind: str) -> Records:
    records: Records = {}
    for file in files:
        if kind == ".parquet":
            names = [name for name, is_plain in table.schema(file).items() if is_plain]
            columns = {name: values.tolist() for name, values in table.read(file, names).items()}
        else:
            lines = readers.lines_of(reading.decode(reading.contents(file), file))[:_SAMPLE]
            columns = {}
            for record in _objects(lines):
                for name, value in record.items():
                    columns.setdefault(name, []).append(value)
        for name, values in columns.items():
            records.setdefault(name, []).extend(values[:_SAMPLE])
        if max(map(len, records.values()), default=0) >= _SAMPLE:
            break
    return records


def _objects(lines: Sequence[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record


def _documents(files: Sequence[Path], settings: Mapping[str, Any], found: Survey) -> Iterator[readers.Document]:
    for file in files:
        try:
            yield from readers.read_documents(settings, [file])
        except InputError as error:
            found.problems.append(str(error))


def _count(
    documents: Sequence[readers.Document], settings: Mapping[str, Any], splits: Mapping[str, Any], found: Survey
) -> None:
    changed: Counter[str] = Counter()
    words, empty = 0, 0
    placed: Counter[str] = Counter()
    for document in documents:
        try:
            sentences, normalised = readers.tokenise_document(document, settings)
        except InputError as error:
            found.problems.append(str(error))
            continue
        changed.update(normalised)
        words += sum(map(len, sentences))
        empty += not sentences
        if sentences:
            placed[split_of(document.group, splits, splits["salt"])] += 1
    repeated = [name for name, count in Counter(document.id for document in documents).items() if count > 1]
    groups = len({document.group for document in documents})
    found.notes.append(f"documents: {len(documents)} in {groups} groups, {empty} without a word")
    found.notes.append(f"words: {words:,}")
    found.notes.append("split: " + ", ".join(f"{placed[name]} {name}" for name in SPLITS))
    found.notes.extend(f"normalised: {count} x {what}" for what, count in sorted(changed.items()))
    if repeated:
        found.problems.append(
            f"{len(repeated)} ids occur more than once, such as {repeated[0]!r}; set `id` to another column"
        )
    absent = [name for name in SPLITS if not placed[name]]
    if absent:
        found.problems.append(f"no document fell into {' or '.join(absent)}; add documents, or change `splits`")
    elif placed["heldout"] < 10:
        found.notes.append("few held-out documents, so that standard errors will be rough")


def corpus_name(path: str) -> str:
    """A usable name for the corpus at a path: lower-case letters, digits, - and _."""
    stem = Path(path).name.split(".")[0].lower()
    name = re.sub(r"[^a-z0-9_-]+", "-", stem).strip("-_")
    return name if name[:1].isalpha() else f"corpus-{name}".rstrip("-")


def overlay(name: str, found: Survey) -> str:
    """The stanza as a config file of its own, what was found in comments."""
    import yaml

    comments = [f"# {line}" for line in (*found.notes, *(f"PROBLEM: {problem}" for problem in found.problems))]
    stanza = yaml.safe_dump({"corpora": {name: found.stanza}}, sort_keys=False, allow_unicode=True)
    return "\n".join([*comments, stanza])
