"""General compressors as codes of a text: what they take for it, cold, or primed with another text.

A compressor reads UTF-8 bytes and knows nothing else. Primed, it is given a training text first, and a text costs
what it adds: the size of both less the size of the training text alone. Brotli plans over all that it is given, so
that a short text's share of two sizes of megabytes is noise: it is made to write the training text out first, and a
text costs the bytes that follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Compressor = Callable[[bytes], bytes]

# Memory of PPMd's model, in bytes: enough that it never starts afresh on the texts of this project.
_PPMD_MEMORY: Final = 1 << 28
_LZMA_WINDOW: Final = 1 << 23


def _zlib(data: bytes) -> bytes:
    import zlib

    return zlib.compress(data, level=9)


def _bz2(data: bytes) -> bytes:
    import bz2

    return bz2.compress(data, compresslevel=9)


def _lzma(data: bytes) -> bytes:
    import lzma

    # Preset 9 is preset 6 with a larger window, which costs time that a text within the smaller one need not spend.
    return lzma.compress(data, preset=6 if len(data) <= _LZMA_WINDOW else 9)


def _zstd(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(level=22, write_content_size=False).compress(data)


def _brotli(data: bytes) -> bytes:
    import brotli

    packed: bytes = brotli.compress(data, quality=11, lgwin=24)
    return packed


def brotli_after(data: bytes, training: bytes) -> tuple[bytes, bytes]:
    """What brotli writes for a training text and, that written out, for a text: together one stream."""
    import brotli

    compressor = brotli.Compressor(quality=11, lgwin=24)
    before: bytes = compressor.process(training) + compressor.flush()
    after: bytes = compressor.process(data) + compressor.finish()
    return before, after


def _ppmd(order: int) -> Compressor:
    def compress(data: bytes) -> bytes:
        import pyppmd

        packed: bytes = pyppmd.compress(data, max_order=order, mem_size=_PPMD_MEMORY)
        return packed

    return compress


COMPRESSORS: Final[Mapping[str, Compressor]] = {
    "zlib": _zlib,
    "bz2": _bz2,
    "lzma": _lzma,
    "zstd-22": _zstd,
    "brotli-11": _brotli,
    "ppmd-6": _ppmd(6),
    "ppmd-12": _ppmd(12),
}


def code_bits(name: str, text: str, training: str = "") -> int:
    """Bits that a compressor takes for a text, or adds for it after a training text.

    Parameters
    ----------
    name
        One of `COMPRESSORS`, each at its strongest setting (lzma in the xz container, as `lzma.compress` writes it).
    text, training
        Both are read as UTF-8.
    """
    if training and name == "brotli-11":
        return 8 * len(brotli_after(text.encode(), training.encode())[1])
    return 8 * (len(COMPRESSORS[name]((training + text).encode())) - _alone(name, training))


def growth(name: str, text: str, ends: Sequence[int], training: str = "") -> Integers:
    """Bits of the first characters of a text, (ends,): how a code grows along it; arguments as `code_bits`."""
    return np.array([code_bits(name, text[:end], training) for end in ends], dtype=np.int64)


@cache
def _alone(name: str, training: str) -> int:
    return len(COMPRESSORS[name](training.encode())) if training else 0
