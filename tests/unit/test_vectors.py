"""Word vectors: what the window counts, what the SVD keeps, and which types are twins."""

import numpy as np
import pytest

from attnkernel.language.vectors import (
    cooccurrences,
    gensim_vectors,
    ppmi,
    svd_vectors,
    twin_summary,
    twins,
    unit_length,
)

END = 2


def random_text(sentences, types, seed):
    rng = np.random.default_rng(seed)
    parts = [np.append(rng.integers(3, types, size=rng.integers(1, 12)), END) for _ in range(sentences)]
    return np.concatenate(parts)


def counted_naively(text, types, window):
    counts = np.zeros((types, types))
    sentence = 0
    sentences = []
    for token in text:
        sentences.append(sentence)
        sentence += token == END
    for i in range(len(text)):
        for j in range(max(0, i - window), min(len(text), i + window + 1)):
            if i != j and sentences[i] == sentences[j]:
                counts[text[i], text[j]] += 1
    return counts


@pytest.mark.parametrize("window", [1, 2, 5, 100])
def test_the_window_is_symmetric_and_stops_at_sentence_ends(window):
    text = random_text(30, 12, seed=1)
    counts = cooccurrences(text, 12, window).toarray()
    np.testing.assert_array_equal(counts, counted_naively(text, 12, window))
    np.testing.assert_array_equal(counts, counts.T)


def test_an_empty_text_counts_nothing():
    assert cooccurrences(np.array([], dtype=np.int64), 4, 2).nnz == 0


@pytest.mark.parametrize("smoothing", [1.0, 0.75])
def test_ppmi_is_the_positive_part_of_pointwise_mutual_information(smoothing):
    counts = cooccurrences(random_text(40, 15, seed=2), 15, 2)
    dense, total = counts.toarray(), counts.sum()
    smoothed = dense.sum(axis=0) ** smoothing
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.log((dense / total) / (dense.sum(axis=1) / total)[:, None] / (smoothed / smoothed.sum()))
    expected = np.where(dense > 0, np.maximum(expected, 0.0), 0.0)
    np.testing.assert_allclose(ppmi(counts, smoothing).toarray(), expected, atol=1e-12)


def test_all_dimensions_at_full_power_keep_the_geometry_of_the_matrix():
    matrix = ppmi(cooccurrences(random_text(60, 20, seed=3), 20, 2), 1.0)
    rows = unit_length(matrix.toarray())
    vectors = svd_vectors(matrix, 20, 1.0)
    np.testing.assert_allclose(vectors @ vectors.T, rows @ rows.T, atol=1e-10)


def test_truncation_agrees_with_the_dense_decomposition():
    matrix = ppmi(cooccurrences(random_text(200, 60, seed=4), 60, 2), 0.75)
    left, values, _ = np.linalg.svd(matrix.toarray())
    expected = unit_length(left[:, :10] * values[:10] ** 0.5)
    vectors = svd_vectors(matrix, 10, 0.5)
    np.testing.assert_allclose(vectors @ vectors.T, expected @ expected.T, atol=1e-9)


def test_the_same_matrix_gives_the_same_bits_and_signs():
    matrix = ppmi(cooccurrences(random_text(200, 60, seed=5), 60, 2), 1.0)
    vectors = svd_vectors(matrix, 10, 0.5)
    np.testing.assert_array_equal(vectors, svd_vectors(matrix, 10, 0.5))


def test_seen_types_have_unit_length_and_unseen_ones_stay_zero():
    vectors = svd_vectors(ppmi(cooccurrences(random_text(200, 60, seed=6), 64, 2), 1.0), 10, 0.5)
    lengths = np.linalg.norm(vectors, axis=1)
    np.testing.assert_allclose(lengths[3:60], 1.0, atol=1e-12)
    np.testing.assert_array_equal(vectors[[0, 1, 60, 61, 62, 63]], 0.0)


def test_more_dimensions_than_the_rank_add_zeros():
    vectors = svd_vectors(ppmi(cooccurrences(np.array([3, 4, END]), 8, 2), 1.0), 12, 0.0)
    assert vectors.shape == (8, 12)
    assert np.isfinite(vectors).all()


def test_words_seen_in_the_same_contexts_are_twins_with_the_same_bits():
    # 5 and 6 share their contexts, 5 three times as often; 7 has a context of its own.
    base = random_text(50, 5, seed=7)
    sentences = [[3, 5, 4, END]] * 3 + [[3, 6, 4, END]] + [[4, 7, 4, END]]
    text = np.concatenate([base, *map(np.array, sentences)])
    matrix = ppmi(cooccurrences(text, 9, 2), 1.0)
    assert [group.tolist() for group in twins(matrix)] == [[5, 6]]
    vectors = svd_vectors(matrix, 3, 0.5)
    np.testing.assert_array_equal(vectors[5], vectors[6])
    assert not np.array_equal(vectors[5], vectors[7])


def test_twins_are_counted_in_pairs_words_and_hapax_legomena():
    # 5, 6 and 7 are twins: three pairs; 5 is seen twice.
    text = np.concatenate(
        [
            random_text(50, 5, seed=8),
            *([[3, word, 4, END]] * count for word, count in ((5, 2), (6, 1), (7, 1))),
        ],
        axis=None,
    )
    matrix = ppmi(cooccurrences(text, 9, 2), 1.0)
    summary = twin_summary(matrix, np.bincount(text, minlength=9))
    assert summary == {"pairs": 3, "words": 3, "hapax": 2, "others": 1}


def test_types_never_seen_are_not_twins():
    assert twins(ppmi(cooccurrences(np.array([3, 4, END]), 20, 2), 1.0)) == []


@pytest.mark.parametrize("algorithm", ["word2vec", "fasttext"])
def test_trained_alternatives_are_deterministic_and_of_unit_length(algorithm):
    sentences = [["the", "net", "income"], ["the", "gross", "margin"]] * 20
    tokens = ["<unk>", "the", "income"]
    settings = {"dimensions": 6, "window": 2, "epochs": 2, "seed": 3}
    vectors = gensim_vectors(algorithm, sentences, tokens, **settings)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [0.0, 1.0, 1.0], atol=1e-6)
    np.testing.assert_array_equal(vectors, gensim_vectors(algorithm, sentences, tokens, **settings))
