"""Word vectors: PPMI over a window, truncated SVD, and the types that no such vectors can tell apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def cooccurrences(text: Integers, types: int, window: int, boundary: int = 2) -> csr_array:
    """Count how often two types stand at most `window` tokens apart in one sentence.

    Parameters
    ----------
    text
        Token ids, (tokens,); `boundary` closes each sentence and belongs to it.
    types
        Size of the vocabulary.
    window
        Largest distance counted, in tokens, on either side.
    boundary
        Id of the sentence end.

    Returns
    -------
    Symmetric counts, sparse (types, types).
    """
    from scipy.sparse import csr_array

    sentence = np.cumsum(text == boundary) - (text == boundary)
    left, right = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for distance in range(1, min(window, len(text) - 1) + 1):
        together = sentence[distance:] == sentence[:-distance]
        left.append(text[:-distance][together])
        right.append(text[distance:][together])
    one, other = np.concatenate(left), np.concatenate(right)
    cells, counts = np.unique(np.concatenate([one * types + other, other * types + one]), return_counts=True)
    return csr_array((counts.astype(np.float64), (cells // types, cells % types)), shape=(types, types))


def to_cells(counts: csr_array) -> dict[str, Integers]:
    """Lay co-occurrence counts out as a table: row, column, count."""
    from scipy.sparse import coo_array

    cells = coo_array(counts)
    row, column = cells.coords
    return {"row": row.astype(np.int64), "column": column.astype(np.int64), "count": cells.data.astype(np.int64)}


def from_cells(cells: Mapping[str, Integers], types: int) -> csr_array:
    """Rebuild counts from the table of `to_cells`, or add those of several shards from their tables in one."""
    from scipy.sparse import csr_array

    counts = csr_array((cells["count"].astype(np.float64), (cells["row"], cells["column"])), shape=(types, types))
    counts.sum_duplicates()
    return counts


def ppmi(counts: csr_array, context_smoothing: float) -> csr_array:
    """Positive pointwise mutual information, `max(0, log p(a, b) / (p(a) p_s(b)))`, sparse (types, types).

    Parameters
    ----------
    counts
        Symmetric co-occurrence counts, sparse (types, types).
    context_smoothing
        The context distribution is `p_s(b) ~ count(b) ** context_smoothing` (Levy, Goldberg and Dagan 2015);
        1 leaves it as counted.
    """
    from scipy.sparse import coo_array, csr_array

    totals = np.asarray(counts.sum(axis=1), dtype=np.float64)
    smoothed = totals**context_smoothing * (totals > 0.0)
    cells = coo_array(counts)
    row, column = cells.coords
    # The quotient of two counts, rounded once, depends on their ratio only: types with the same contexts in
    # the same proportions get the same bits, however often they occur.
    information = np.log(cells.data / totals[row]) - np.log(smoothed[column] / smoothed.sum())
    kept = information > 0.0
    return csr_array((information[kept], (row[kept], column[kept])), shape=counts.shape)


def svd_vectors(matrix: csr_array, dimensions: int, singular_exponent: float) -> Floats:
    """Unit-length word vectors from the largest singular triplets, rows of `U S^p`, (types, dimensions).

    The start vector and the signs are fixed, so the same matrix gives the same bits. A zero row stays a zero
    vector, and rows that are identical in the matrix share the very same vector. Beyond the matrix's rank
    columns are zero.

    Parameters
    ----------
    matrix
        PPMI, sparse (types, types).
    dimensions
        Length of the vectors.
    singular_exponent
        Power p of the singular values: 1 keeps the matrix's geometry, 1/2 and 0 flatten it (Levy et al.
        2015).
    """
    left, values = _largest_singular(matrix, min(dimensions, *matrix.shape))
    largest = np.abs(left).argmax(axis=0)
    left = left * np.where(left[largest, np.arange(left.shape[1])] < 0.0, -1.0, 1.0)
    # Directions of rounding noise: an exponent of 0 would blow them up to the size of the signal.
    solid = values > 1e-10 * max(values.max(initial=0.0), np.finfo(float).tiny)
    vectors = np.zeros((matrix.shape[0], dimensions))
    vectors[:, : len(values)][:, solid] = left[:, solid] * values[solid] ** singular_exponent
    vectors[np.diff(matrix.indptr) == 0] = 0.0
    return unit_length(vectors)[_representatives(matrix)]


def unit_length(vectors: Floats) -> Floats:
    """Rows divided by their lengths; a zero row stays zero."""
    length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    divided: Floats = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0.0)
    return divided


def twins(matrix: csr_array) -> list[Integers]:
    """Group the types whose rows are identical to the bit: two or more each, ascending, by their first type.

    Empty rows form no group: such types were never seen beside another, and their vectors are zero.
    """
    representative = _representatives(matrix)
    present = np.flatnonzero(np.diff(matrix.indptr) > 0)
    order = present[np.argsort(representative[present], kind="stable")]
    starts = np.flatnonzero(np.diff(representative[order], prepend=-1))
    return [group for group in np.split(order, starts[1:]) if len(group) > 1]


def twin_summary(matrix: csr_array, counts: Integers) -> dict[str, int]:
    """Count the pairs of types with identical vectors, the words in them, and those of them seen once.

    Parameters
    ----------
    matrix
        PPMI, sparse (types, types).
    counts
        How often each type occurs in the training text, (types,).
    """
    groups = twins(matrix)
    words = np.concatenate([*groups, np.empty(0, dtype=np.int64)])
    once = int(np.count_nonzero(counts[words] == 1))
    pairs = sum(len(group) * (len(group) - 1) // 2 for group in groups)
    return {"pairs": pairs, "words": len(words), "hapax": once, "others": len(words) - once}


def gensim_vectors(
    algorithm: Literal["word2vec", "fasttext"],
    sentences: Sequence[Sequence[str]],
    tokens: Sequence[str],
    *,
    dimensions: int,
    window: int,
    epochs: int,
    seed: int,
) -> Floats:
    """Train unit-length skip-gram vectors of `tokens`, (tokens, dimensions); a token never seen gets zeros.

    `word2vec` is Mikolov et al. (2013), `fasttext` adds character n-grams (Bojanowski et al. 2017).
    """
    from gensim.models import FastText, Word2Vec

    model = {"word2vec": Word2Vec, "fasttext": FastText}[algorithm]
    # One worker: with more, the order of the updates is the scheduler's.
    trained = model(
        sentences,
        vector_size=dimensions,
        window=window,
        epochs=epochs,
        seed=seed,
        sg=1,
        min_count=1,
        workers=1,
    ).wv
    vectors = np.zeros((len(tokens), dimensions))
    for row, token in zip(vectors, tokens, strict=True):
        if token in trained.key_to_index:
            row[:] = trained[token]
    return unit_length(vectors)


def _largest_singular(matrix: csr_array, number: int) -> tuple[Floats, Floats]:
    """Left singular vectors, (types, number), and their values, largest first."""
    from scipy.sparse.linalg import svds

    if number < min(matrix.shape) - 1:
        start = np.random.default_rng(0).standard_normal(min(matrix.shape))
        left, values, _ = svds(matrix, k=number, v0=start, return_singular_vectors="u")
    else:
        # ARPACK cannot find all the triplets of a small matrix.
        left, values, _ = np.linalg.svd(matrix.toarray())
    order = np.argsort(values)[::-1][:number]
    return np.asarray(left[:, order], dtype=np.float64), np.asarray(values[order], dtype=np.float64)


def _representatives(matrix: csr_array) -> Integers:
    """First row that is identical to each row, to the bit, (rows,)."""
    matrix = matrix.sorted_indices()
    first: dict[tuple[bytes, bytes], int] = {}
    rows = zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    return np.array(
        [
            first.setdefault((matrix.indices[start:stop].tobytes(), matrix.data[start:stop].tobytes()), row)
            for row, (start, stop) in enumerate(rows)
        ],
        dtype=np.int64,
    )
