"""Files that a user gives, as bytes and as text; what cannot be read is named."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from attnkernel.errors import InputError


def is_document(path: Path) -> bool:
    """Whether a path is a file that somebody put there: systems and editors hide theirs behind a leading dot."""
    return path.is_file() and not path.name.startswith(".")


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
        source = "UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "WINDOWS-1252"
        raise InputError(
            f"{path}: not UTF-8 at byte {error.start} (0x{data[error.start]:02x}); convert it, "
            f"for example with: iconv -f {source} -t UTF-8"
        ) from None


def contents(path: Path) -> bytes:
    """The bytes of a file, unpacked if its name ends in .gz.

    Raises
    ------
    InputError
        It cannot be read or unpacked.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check that it is there and its rights") from None
    if path.suffix.lower() != ".gz":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: not a whole gzip file ({error}); fetch it again") from None
