"""The only door to Parquet: what a table is in memory, how it is written, and what it says of its origin.

In memory a table is a plain dictionary of equally long arrays. A missing value is null on disk; in memory it is
NaN among floats, None among strings, and a masked entry among integers and booleans, which stay exact.

Arrays cross to Arrow by their buffers: `pa.array` and `to_numpy` would import pandas, and a cast Arrow's functions,
which cost a short job more than its work.
"""

from __future__ import annotations

import csv
import errno
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from attnkernel.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

Columns = Mapping[str, NDArray[Any]]
Table = dict[str, NDArray[Any]]

# What to do about what an operating system refuses.
_FREE_SPACE: Final = "free space there, and run again: what was complete stays"
_ALLOW: Final = "allow writing to that folder, or run in a copy of the project that is yours"
_REMEDIES: Final = {
    errno.ENOSPC: _FREE_SPACE,
    errno.EDQUOT: _FREE_SPACE,
    errno.EFBIG: _FREE_SPACE,
    errno.EACCES: _ALLOW,
    errno.EPERM: _ALLOW,
    errno.EROFS: _ALLOW,
    errno.ENOTDIR: "a file stands where a folder is needed; move it away",
    errno.EEXIST: "a file stands where a folder is needed; move it away",
    errno.EISDIR: "a folder stands where the file is to be; move it away",
}

# Rows held at once by what passes a table on in pieces: some 50 MB of tokens.
_PIECE: Final = 2**17
_METADATA_KEY: Final = b"attnkernel"
_PANDAS_INDEX: Final = "__index_level_"


def write(path: str | Path, columns: Columns, origin: Mapping[str, Any]) -> None:
    """Write a table atomically, with its origin and its own content hash in the schema metadata.

    Parameters
    ----------
    path
        Where to write; missing folders are made.
    columns
        Equally long arrays: float, int, bool, strings (str or object), or a 2-d float array, which becomes a column
        of fixed-size lists.
    origin
        What made the table; JSON-able and deterministic (see `provenance.origin`).

    Raises
    ------
    ValueError
        Columns differ in length, or a column has a type that a table cannot hold.
    """
    table = _arrow(path, columns)
    with atomic(path, "wb") as file:
        _write_arrow(file, [table], table.schema, {**origin, "content": content_hash(columns)})


def write_pieces(path: str | Path, pieces: Iterable[Columns], origin: Mapping[str, Any]) -> int:
    """Write a table that comes in pieces, one after another, of which one is held at a time; see `write`.

    The table is the same, to its content hash, however it was cut.

    Returns
    -------
    Number of rows.

    Raises
    ------
    ValueError
        As `write`; also if there is no piece, or their columns differ.
    """
    left = iter(pieces)
    first = next(left, None)
    if first is None:
        raise ValueError(f"{path}: there is no piece to write")
    content, schema = _Content(), _arrow(path, first).schema
    # The schema opens the file and holds the hash, which is known after the last piece: so they are put by until then.
    with atomic(path, "wb") as file, tempfile.TemporaryFile(dir=Path(path).parent) as aside:
        with pq.ParquetWriter(aside, schema, compression="zstd") as writer:
            for columns in chain([first], left):
                content.add(columns)
                writer.write_table(_arrow(path, columns))
        kept = pq.ParquetFile(aside)
        groups = (kept.read_row_group(group) for group in range(kept.num_row_groups))
        _write_arrow(file, groups, schema, {**origin, "content": content.hash()})
    return content.rows


def _arrow(path: str | Path, columns: Columns) -> pa.Table:
    arrays = {name: _to_arrow(name, np.ma.asarray(column)) for name, column in columns.items()}
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"{path}: columns differ in length: {lengths}")
    schema = pa.schema([(name, array.type) for name, array in arrays.items()])
    return pa.Table.from_arrays(list(arrays.values()), schema=schema)


def _write_arrow(file: IO[Any], tables: Iterable[pa.Table], schema: pa.Schema, record: Mapping[str, Any]) -> None:
    schema = schema.with_metadata({_METADATA_KEY: json.dumps(record, sort_keys=True).encode()})
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for table in tables:
            writer.write_table(table.replace_schema_metadata(schema.metadata))


def read(path: str | Path, columns: Sequence[str] | None = None) -> Table:
    """Read a table, or only the named columns of it.

    Accepts what other tools write: dictionary-encoded columns, large strings, several row groups, and pandas' index
    columns, which are ignored.

    Raises
    ------
    InputError
        The file is missing or not Parquet, or a column is missing; the message names both.
    """
    return _from_arrow_table(path, _read_arrow(path, columns))


def read_complete(path: str | Path, columns: Sequence[str]) -> Table:
    """Read the named columns of numbers or truth values, none of which may be missing.

    Raises
    ------
    InputError
        As `read`; also if a value is missing or a column is not of numbers.
    """
    found = read(path, columns)
    for name, values in found.items():
        if values.dtype.kind not in "fib":
            raise InputError(f"{path}: column {name!r} holds no numbers; make the file again")
        missing = np.isnan(values) if values.dtype.kind == "f" else np.ma.getmaskarray(values)
        if missing.any():
            raise InputError(f"{path}: column {name!r} has {int(missing.sum())} missing values; make the file again")
    return found


def rows(path: str | Path) -> int:
    """Number of rows of a table; raises as `read`."""
    return int(_open(path, lambda: pq.read_metadata(path)).num_rows)


def read_pieces(
    path: str | Path, columns: Sequence[str] | None = None, start: int = 0, stop: int | None = None
) -> Iterator[Table]:
    """Rows `start` to `stop` of a table in pieces of a hundred thousand or so, of which one is held at a time.

    There is at least one piece, if need be without a row. Raises as `read`.
    """
    file, wanted = _open_columns(path, columns)
    sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    begins = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    stop = int(begins[-1]) if stop is None else stop
    groups = np.flatnonzero((begins[:-1] < stop) & (begins[1:] > start) & (start < stop)).tolist()
    batches = file.iter_batches(_PIECE, row_groups=groups, columns=wanted)
    row = int(begins[groups[0]]) if groups else stop
    if row >= stop:
        yield _from_arrow_table(path, _plain_columns(file.schema_arrow.empty_table(), wanted))
    while row < stop:
        batch = _open(path, lambda: next(batches))
        before = max(start - row, 0)
        piece = pa.Table.from_batches([batch.slice(before, stop - row - before)])
        row += len(batch)
        if len(piece):
            yield _from_arrow_table(path, _plain_columns(piece, wanted))


def read_codes(path: str | Path, column: str) -> tuple[NDArray[np.int64], list[str]]:
    """A string column as integer codes and the distinct strings they stand for, without a Python object a row.

    Raises
    ------
    InputError
        As `read`; also if the column is not of strings or has a null.
    """
    # Parquet keeps such codes itself, so they need not be made of the strings.
    chunked = _read_arrow(path, [column], coded=[column]).column(column)
    if chunked.null_count:
        raise InputError(f"{path}: column {column!r} has {chunked.null_count} missing values; make the file again")
    plain = chunked.type.value_type if pa.types.is_dictionary(chunked.type) else chunked.type
    if not _is_string(plain):
        raise InputError(f"{path}: column {column!r} holds {plain}, not strings; make the file again")
    if not pa.types.is_dictionary(chunked.type):
        chunked = chunked.dictionary_encode()
    array = chunked.unify_dictionaries().combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # zero chunks combine to a chunked array
        return np.zeros(0, dtype=np.int64), []
    indices = array.indices if array.indices.type == pa.int32() else array.indices.cast(pa.int32())
    codes = _numbers(pa.chunked_array([indices]), np.int32, 0).astype(np.int64)
    return codes, array.dictionary.to_pylist()


def schema(path: str | Path) -> dict[str, bool]:
    """Names of a file's columns, and whether each is of strings or whole numbers.

    Raises
    ------
    InputError
        The file is missing or not Parquet.
    """
    kinds = {name: kind for name, kind in _fields(path) if not name.startswith(_PANDAS_INDEX)}
    return {name: _is_string(kind) or bool(pa.types.is_integer(kind)) for name, kind in kinds.items()}


def _fields(path: str | Path) -> list[tuple[str, pa.DataType]]:
    fields = _open(path, lambda: pq.read_schema(path))
    plain = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in fields.types]
    return list(zip(fields.names, plain, strict=True))


def origin(path: str | Path) -> dict[str, Any]:
    """What the table says of how it was made; empty for a table of another tool.

    Raises
    ------
    InputError
        The file is missing or not Parquet.
    """
    metadata = _open(path, lambda: pq.read_schema(path)).metadata or {}
    found: dict[str, Any] = json.loads(metadata.get(_METADATA_KEY, b"{}"))
    return found


def content_hash(columns: Columns) -> str:
    """SHA-256 over names, types and values: independent of file format, compression and writer version."""
    content = _Content()
    content.add(columns)
    return content.hash()


class _Content:
    """The content hash of a table that comes in pieces: a digest a column, and one over these."""

    def __init__(self) -> None:
        self.rows = 0
        self._columns: dict[tuple[str, str, tuple[int, ...]], tuple[Any, Any]] = {}

    def add(self, columns: Columns) -> None:
        """Take the next piece in."""
        arrays = {name: np.ma.asarray(column) for name, column in columns.items()}
        described = {(name, _kind(name, array), array.shape[1:]): array for name, array in arrays.items()}
        if not self._columns:
            self._columns = {column: (hashlib.sha256(), hashlib.sha256()) for column in described}
        if list(described) != list(self._columns):
            raise ValueError(f"pieces of a table have different columns: {list(described)}, {list(self._columns)}")
        self.rows += len(next(iter(arrays.values()), ()))
        for column, array in described.items():
            self._add(column[0], array, *self._columns[column])

    def hash(self) -> str:
        """The hash of all pieces so far."""
        digest = hashlib.sha256()
        for (name, kind, shape), parts in self._columns.items():
            digest.update(f"{name}|{kind}|{(self.rows, *shape)}|".encode())
            digest.update(b"".join(part.digest() for part in parts))
        return digest.hexdigest()

    @staticmethod
    def _add(name: str, array: NDArray[Any], values: Any, missing: Any) -> None:
        if array.dtype.kind in "OUS":
            # A comma after each string, so that pieces run into one list.
            text = json.dumps(array.tolist(), ensure_ascii=False, separators=(",", ":"))[1:-1]
            values.update(f"{text},".encode() if len(array) else b"")
            return
        plain = _plain(name, array)
        # Every NaN is the same missing value, whatever its bits.
        if plain.dtype.kind == "f":
            values.update(np.where(np.isnan(plain), np.nan, plain).tobytes())
        else:
            values.update(plain.tobytes())
            missing.update(np.ma.getmaskarray(array).tobytes())


def write_csv(path: str | Path, columns: Columns) -> None:
    """The CSV twin of a table: shortest digits that give the same float back, an empty field where missing."""
    lists = [[_cell(value) for value in np.ma.asarray(column).tolist()] for column in columns.values()]
    with atomic(path, "w") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*lists, strict=True))


def concatenate(tables: Sequence[Columns]) -> Table:
    """Stack tables of the same columns, in the order given.

    Raises
    ------
    ValueError
        There is no table, or the columns differ.
    """
    names = [list(table) for table in tables]
    if not names or any(other != names[0] for other in names):
        raise ValueError(f"tables to stack have different columns: {names}")
    return {name: _join([table[name] for table in tables]) for name in names[0]}


def with_constant(columns: Columns, name: str, value: str) -> Table:
    """The table with a leading column that holds one string throughout (such as the corpus)."""
    length = len(next(iter(columns.values())))
    return {name: np.full(length, value, dtype=object), **columns}


@contextmanager
def atomic(path: str | Path, mode: str) -> Iterator[IO[Any]]:
    """Open a file that appears under its name only when it is complete; an error leaves nothing behind.

    Raises
    ------
    InputError
        The disk is full, or the folder cannot be written to.
    """
    target = Path(path)
    # The process id keeps two writers of one file apart; the leading dot hides the file from globs.
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open(mode, **text) as file:
            yield file
        temporary.replace(target)
    except OSError as error:
        raise explained(error, path) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def explained(error: OSError, path: str | Path) -> Exception:
    """An error of writing a file in words that its user can act on, if it is one that a user can mend."""
    if error.errno not in _REMEDIES:
        return error
    reason = error.strerror or error
    return InputError(f"{path}: cannot be written ({reason}); {_REMEDIES[error.errno]}")


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value)


def _kind(name: str, array: NDArray[Any]) -> str:
    kinds = {"f": "float", "i": "int", "u": "int", "b": "bool", "O": "string", "U": "string"}
    try:
        return kinds[array.dtype.kind]
    except KeyError:
        raise ValueError(f"column {name!r} has type {array.dtype}, which a table cannot hold") from None


def _plain(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Values in the type that is stored, contiguous, with a fixed value under every mask."""
    kind = _kind(name, array)
    if kind == "float":
        return np.ascontiguousarray(np.ma.filled(array.astype(np.float64, copy=False), np.nan))
    dtype, filler = (np.int64, 0) if kind == "int" else (np.bool_, False)
    return np.ascontiguousarray(np.ma.filled(array, filler), dtype=dtype)


def _to_arrow(name: str, array: NDArray[Any]) -> pa.Array:
    kind = _kind(name, array)
    if kind == "string":
        return _strings_to_arrow(name, array)
    values = _plain(name, array)
    if values.ndim == 2:
        flat = _to_arrow(name, values.reshape(-1))
        return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])
    if values.ndim != 1:
        raise ValueError(f"column {name!r} has {values.ndim} dimensions")
    missing = np.isnan(values) if kind == "float" else np.ma.getmaskarray(array)
    types = {"float": pa.float64(), "int": pa.int64(), "bool": pa.bool_()}
    data = np.packbits(values, bitorder="little") if kind == "bool" else values
    return pa.Array.from_buffers(types[kind], len(values), [_validity(missing), pa.py_buffer(data)])


def _strings_to_arrow(name: str, array: NDArray[Any]) -> pa.Array:
    strings = array.tolist()
    wrong = next((value for value in strings if not (value is None or isinstance(value, str))), None)
    if wrong is not None:
        raise ValueError(f"column {name!r} mixes strings with {type(wrong).__name__}")
    # By distinct strings: a column of a million tokens has a few thousand.
    number: dict[str | None, int] = {}
    codes = np.fromiter((number.setdefault(value, len(number)) for value in strings), np.int32, len(strings))
    encoded = [b"" if value is None else value.encode() for value in number]
    lengths = np.array([len(value) for value in encoded], dtype=np.int64)
    offsets = np.concatenate(([0], np.cumsum(lengths[codes])))
    kind = pa.string() if offsets[-1] <= np.iinfo(np.int32).max else pa.large_string()
    ends = offsets.astype(np.int32 if kind == pa.string() else np.int64)
    data = b"".join([encoded[code] for code in codes.tolist()])
    validity = _validity(codes == number.get(None, -1))
    return pa.Array.from_buffers(kind, len(codes), [validity, pa.py_buffer(ends), pa.py_buffer(data)])


def _validity(missing: NDArray[np.bool_]) -> pa.Buffer | None:
    return pa.py_buffer(np.packbits(~missing, bitorder="little")) if missing.any() else None


def _open(path: str | Path, read: Any) -> Any:
    try:
        return read()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; run the rule that makes it") from None
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}: not a readable Parquet file ({reason}); make it again") from None


def _read_arrow(path: str | Path, columns: Sequence[str] | None, coded: Sequence[str] | None = None) -> pa.Table:
    file, wanted = _open_columns(path, columns, coded)
    return _plain_columns(_open(path, lambda: file.read(columns=wanted)), wanted)


def _open_columns(
    path: str | Path, columns: Sequence[str] | None, coded: Sequence[str] | None = None
) -> tuple[pq.ParquetFile, list[str]]:
    """A file, and which of its columns are wanted."""
    file = _open(path, lambda: pq.ParquetFile(path, read_dictionary=coded))
    present = [name for name in file.schema_arrow.names if not name.startswith(_PANDAS_INDEX)]
    wanted = present if columns is None else list(columns)
    for name in wanted:
        if name not in present:
            raise InputError(f"{path}: column {name!r} is missing; it has {', '.join(present) or 'none'}")
        if present.count(name) > 1:
            raise InputError(f"{path}: column {name!r} occurs {present.count(name)} times; rename all but one")
    return file, wanted


def _plain_columns(table: pa.Table, wanted: list[str]) -> pa.Table:
    """Columns in the order wanted, without pandas' metadata, whose interpretation would import pandas."""
    return table.select(wanted).replace_schema_metadata(None)


def _from_arrow_table(path: str | Path, table: pa.Table) -> Table:
    return {name: _from_arrow(path, name, table.column(name)) for name in table.column_names}


def _is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _from_arrow(path: str | Path, name: str, column: pa.ChunkedArray) -> NDArray[Any]:
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        column = column.cast(kind)
    if _is_string(kind) or pa.types.is_null(kind):
        result = np.empty(len(column), dtype=object)
        result[:] = column.to_pylist()
        return result
    if pa.types.is_fixed_size_list(kind):
        flat = pa.chunked_array([chunk.flatten() for chunk in column.chunks], kind.value_type)
        return _from_arrow(path, name, flat).reshape(len(column), kind.list_size)
    if pa.types.is_floating(kind):
        return _numbers(_as(column, pa.float64()), np.float64, np.nan)
    if pa.types.is_integer(kind):
        try:
            return _numbers(_as(column, pa.int64()), np.int64, 0)
        except pa.ArrowInvalid as error:
            raise InputError(f"{path}: column {name!r} has a number too large to hold ({error}); mend it") from None
    if pa.types.is_boolean(kind):
        return _numbers(column, np.bool_, False)
    raise InputError(f"{path}: column {name!r} has type {kind}; store it as strings, numbers or truth values")


def _as(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    return column if column.type == kind else column.cast(kind)


def _numbers(column: pa.ChunkedArray, dtype: Any, filler: float) -> NDArray[Any]:
    parts = [_chunk(chunk, dtype, filler) for chunk in column.chunks]
    return _join(parts) if parts else np.zeros(0, dtype=dtype)


def _join(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    masked = any(np.ma.isMaskedArray(part) for part in parts)
    concatenate: Callable[[Sequence[NDArray[Any]]], NDArray[Any]] = np.ma.concatenate if masked else np.concatenate
    return concatenate(parts)


def _chunk(chunk: pa.Array, dtype: Any, filler: float) -> NDArray[Any]:
    validity, data = chunk.buffers()
    window = slice(chunk.offset, chunk.offset + len(chunk))
    if data is None:
        values = np.zeros(0, dtype)
    elif dtype is np.bool_:
        values = _bits(data)[window].copy()
    else:
        values = np.frombuffer(data, dtype=dtype)[window].copy()
    if not chunk.null_count:
        return values
    missing = ~_bits(validity)[window]
    values[missing] = filler
    return values if dtype is np.float64 else np.ma.MaskedArray(values, missing)


def _bits(buffer: pa.Buffer) -> NDArray[np.bool_]:
    return np.unpackbits(np.frombuffer(buffer, dtype=np.uint8), bitorder="little").view(np.bool_)
