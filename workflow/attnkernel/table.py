"""The only door to Parquet: what a table is in memory, how it is written, and what it says of its origin.

In memory a table is a plain dictionary of equally long arrays. A missing value is null on disk; in memory it is
NaN among floats, None among strings, and a masked entry among integers and booleans, which stay exact.

Arrays cross to Arrow by their buffers: `pa.array` and `to_numpy` would import pandas, which costs a short job more
than its work.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
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
    arrays = {name: _to_arrow(name, np.ma.asarray(column)) for name, column in columns.items()}
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"{path}: columns differ in length: {lengths}")
    record = {**origin, "content": content_hash(columns)}
    metadata = {_METADATA_KEY: json.dumps(record, sort_keys=True).encode()}
    schema = pa.schema([(name, array.type) for name, array in arrays.items()], metadata=metadata)
    table = pa.Table.from_arrays(list(arrays.values()), schema=schema)
    with atomic(path, "wb") as file:
        pq.write_table(table, file, compression="zstd")


def read(path: str | Path, columns: Sequence[str] | None = None) -> Table:
    """Read a table, or only the named columns of it.

    Accepts what other tools write: dictionary-encoded columns, large strings, several row groups, and pandas' index
    columns, which are ignored.

    Raises
    ------
    InputError
        The file is missing or not Parquet, or a column is missing; the message names both.
    """
    table = _read_arrow(path, columns)
    return {name: _from_arrow(path, name, table.column(name)) for name in table.column_names}


def read_codes(path: str | Path, column: str) -> tuple[NDArray[np.int64], list[str]]:
    """A string column as integer codes and the distinct strings they stand for, without a Python object a row.

    Raises
    ------
    InputError
        As `read`; also if the column is not of strings or has a null.
    """
    chunked = _read_arrow(path, [column]).column(column)
    if chunked.null_count:
        raise InputError(f"{path}: column {column!r} has {chunked.null_count} missing values")
    if not pa.types.is_dictionary(chunked.type):
        if not _is_string(chunked.type):
            raise InputError(f"{path}: column {column!r} holds {chunked.type}, not strings")
        chunked = chunked.dictionary_encode()
    array = chunked.unify_dictionaries().combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # zero chunks combine to a chunked array
        return np.zeros(0, dtype=np.int64), []
    codes = _from_arrow(path, column, pa.chunked_array([array.indices.cast(pa.int64())]))
    return codes, array.dictionary.to_pylist()


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
    digest = hashlib.sha256()
    for name, column in columns.items():
        array = np.ma.asarray(column)
        digest.update(f"{name}|{_kind(name, array)}|{array.shape}|".encode())
        if array.dtype.kind in "OUS":
            digest.update(json.dumps(array.tolist(), ensure_ascii=False).encode())
        else:
            plain = _plain(name, array)
            # Every NaN is the same missing value, whatever its bits.
            if plain.dtype.kind == "f":
                digest.update(np.where(np.isnan(plain), np.nan, plain).tobytes())
            else:
                digest.update(plain.tobytes())
                digest.update(np.ma.getmaskarray(array).tobytes())
    return digest.hexdigest()


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
    """Open a file that appears under its name only when it is complete; an error leaves nothing behind."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    # The process id keeps two writers of one file apart; the leading dot hides the file from globs.
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    try:
        with temporary.open(mode, **text) as file:
            yield file
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


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
        return np.ascontiguousarray(np.ma.filled(array.astype(np.float64), np.nan))
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
    encoded = [b"" if value is None else value.encode() for value in strings]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(value) for value in encoded], out=offsets[1:])
    missing = np.array([value is None for value in strings], dtype=np.bool_)
    buffers = [_validity(missing), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(encoded), buffers).cast(pa.string())


def _validity(missing: NDArray[np.bool_]) -> pa.Buffer | None:
    return pa.py_buffer(np.packbits(~missing, bitorder="little")) if missing.any() else None


def _open(path: str | Path, read: Any) -> Any:
    try:
        return read()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; run the rule that makes it") from None
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path}: not a readable Parquet file ({error}); delete it and run its rule again") from None


def _read_arrow(path: str | Path, columns: Sequence[str] | None) -> pa.Table:
    file = _open(path, lambda: pq.ParquetFile(path))
    present = [name for name in file.schema_arrow.names if not name.startswith(_PANDAS_INDEX)]
    wanted = present if columns is None else list(columns)
    for name in wanted:
        if name not in present:
            raise InputError(f"{path}: column {name!r} is missing; it has {', '.join(present)}")
    # Reading by hand keeps pandas' metadata from being interpreted, which would import pandas.
    return _open(path, lambda: file.read(columns=wanted).select(wanted).replace_schema_metadata(None))


def _is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


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
        return _numbers(column.cast(pa.float64()), np.float64, np.nan)
    if pa.types.is_integer(kind):
        return _numbers(column.cast(pa.int64()), np.int64, 0)
    if pa.types.is_boolean(kind):
        return _numbers(column.cast(pa.uint8()), np.uint8, 0).astype(np.bool_)
    raise InputError(f"{path}: column {name!r} has type {kind}, which no table of this project holds")


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
    values = np.zeros(0, dtype) if data is None else np.frombuffer(data, dtype=dtype)[window].copy()
    if not chunk.null_count:
        return values
    bits = np.unpackbits(np.frombuffer(validity, dtype=np.uint8), bitorder="little")
    missing = bits[window] == 0
    values[missing] = filler
    return values if dtype is np.float64 else np.ma.MaskedArray(values, missing)
