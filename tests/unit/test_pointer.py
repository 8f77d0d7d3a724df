"""The learned kernel (Definition 4): its loss, its gradient, its training."""

import numpy as np
import pytest

from attnkernel.gradient_checks import pointer_loss as loss_by_positions
from attnkernel.gradients import central_difference, complex_step, relative_error
from attnkernel.language import pointer
from attnkernel.language.cache import cache_probabilities, mixture
from attnkernel.language.pointer import (
    epoch_losses,
    epoch_mixtures,
    epoch_table,
    pointer_blocks,
    pointer_gradient,
    pointer_loss,
    train,
)

TYPES, DIMENSIONS = 25, 4


def example(seed, tokens=60):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(TYPES, DIMENSIONS))
    vectors[0] = 0.0
    document = np.minimum(rng.zipf(1.3, size=tokens) - 1, TYPES - 1)
    return document, vectors, *rng.normal(size=(2, DIMENSIONS, DIMENSIONS))


@pytest.mark.parametrize("block", [512, 7, 1])
def test_the_loss_is_the_definition_however_it_is_cut_into_blocks(monkeypatch, block):
    monkeypatch.setattr(pointer, "_BLOCK", block)
    document, vectors, A, B = example(1)
    ours = pointer_loss(pointer_blocks(document), vectors, A, B)
    assert ours == pytest.approx(loss_by_positions(document, vectors, A, B), rel=1e-12)


def test_the_loss_is_that_of_the_cache_on_tokens_it_can_copy():
    document, vectors, A, B = example(2, tokens=200)
    cache = cache_probabilities([document], vectors @ A.T, vectors @ B.T, [1.0])[0][0]
    copied = cache[cache > 0.0]
    assert pointer_loss(pointer_blocks(document), vectors, A, B) == pytest.approx(-np.log(copied).mean(), rel=1e-12)


@pytest.mark.parametrize("block", [512, 7])
@pytest.mark.parametrize("map_name", ["A", "B"])
def test_the_hand_written_gradient_is_the_derivative(monkeypatch, block, map_name):
    monkeypatch.setattr(pointer, "_BLOCK", block)
    document, vectors, A, B = example(3)
    gradient = pointer_gradient(pointer_blocks(document), vectors, A, B)
    ours = getattr(gradient, map_name) / gradient.positions
    maps = {"A": A, "B": B}

    def loss(matrix):
        return loss_by_positions(document, vectors, **(maps | {map_name: matrix}))

    assert relative_error(ours, complex_step(loss, maps[map_name])) <= 1e-10
    assert relative_error(ours, central_difference(loss, maps[map_name])) <= 1e-6


def test_documents_add_up():
    vectors, A, B = example(4)[1:]
    documents = [example(seed)[0] for seed in (5, 6)]
    both = pointer_gradient([b for d in documents for b in pointer_blocks(d)], vectors, A, B)
    parts = [pointer_gradient(pointer_blocks(d), vectors, A, B) for d in documents]
    assert both.loss == pytest.approx(sum(part.loss for part in parts))
    assert both.positions == sum(part.positions for part in parts)
    np.testing.assert_allclose(both.A, parts[0].A + parts[1].A)


def test_a_match_far_below_the_best_context_keeps_a_finite_loss():
    document = np.array([1, 2, 3, 3, 3, 1, 3, 2, 3, 2])
    vectors = np.zeros((4, 1))
    vectors[1:, 0] = (1.0, 50.0, -50.0)
    blocks = pointer_blocks(document)
    gradient = pointer_gradient(blocks, vectors, np.eye(1), np.eye(1))
    assert gradient.loss > 1000.0
    assert np.isfinite([gradient.loss, *gradient.A.ravel(), *gradient.B.ravel()]).all()


@pytest.mark.parametrize("document", [[], [1], [1, 2], [1, 2, 3], [1, 1, 2]])
def test_a_document_with_nothing_to_copy_has_no_positions(document):
    # In 1, 1, 2 the first 1 has no previous token, so that not even the second can be copied.
    blocks = pointer_blocks(np.array(document, dtype=np.int64))
    assert blocks == []
    assert np.isnan(pointer_loss(blocks, np.ones((4, 2)), np.eye(2), np.eye(2)))


def successor_corpus(seed):
    """What follows a type is nearly fixed within a document, so that sharper kernels copy better."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(TYPES, DIMENSIONS)) / np.sqrt(DIMENSIONS)
    documents = []
    for _ in range(20):
        follows = rng.permutation(TYPES)
        document = [int(rng.integers(TYPES))]
        while len(document) < 80:
            document.append(int(follows[document[-1]] if rng.random() < 0.8 else rng.integers(TYPES)))
        documents.append(np.array(document))
    return documents, vectors


def test_training_starts_from_the_fixed_kernel_and_lowers_the_loss():
    documents, vectors = successor_corpus(7)
    history = train(documents, vectors, 2.0, epochs=4, step=0.02, batch=4, generator=np.random.default_rng(8))
    np.testing.assert_array_equal(history.A[0], np.sqrt(2.0) * np.eye(DIMENSIONS))
    np.testing.assert_array_equal(history.B[0], np.sqrt(2.0) * np.eye(DIMENSIONS))
    loss = epoch_losses(history, vectors, documents).means()
    assert (np.diff(loss) < 0.0).all()
    every = [block for document in documents for block in pointer_blocks(document)]
    assert loss[-1] == pytest.approx(pointer_loss(every, vectors, history.A[-1], history.B[-1]), rel=1e-12)


def test_blocks_made_anew_for_each_step_train_the_same_bits(monkeypatch):
    documents, vectors = successor_corpus(9)
    settings = {"epochs": 2, "step": 0.02, "batch": 4, "window": 50}
    held = train(documents, vectors, 1.0, **settings, generator=np.random.default_rng(10))
    monkeypatch.setattr(pointer, "_HELD", 0)
    anew = train(documents, vectors, 1.0, **settings, generator=np.random.default_rng(10))
    for one, other in zip(held, anew, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_same_seed_trains_the_same_bits():
    documents, vectors = successor_corpus(9)
    runs = [
        train(documents, vectors, 1.0, epochs=2, step=0.02, batch=4, generator=np.random.default_rng(10))
        for _ in range(2)
    ]
    for one, other in zip(*runs, strict=True):
        np.testing.assert_array_equal(one, other)


def test_development_chooses_the_epoch_and_its_lambda():
    documents, vectors = successor_corpus(11)
    history = train(documents, vectors, 1.0, epochs=3, step=0.02, batch=4, generator=np.random.default_rng(12))
    dev, lambdas = successor_corpus(13)[0], np.array([0.3, 0.6, 0.9])
    kneser_ney = np.full(sum(map(len, dev)), 1.0 / TYPES)
    table = epoch_table(
        epoch_losses(history, vectors, documents),
        epoch_losses(history, vectors, dev),
        epoch_mixtures(history, vectors, dev, kneser_ney, lambdas),
        lambdas,
    )
    assert table["epoch"].tolist() == [0, 1, 2, 3]
    row = 1 + table["dev_mixture"][1:].argmin()
    assert np.flatnonzero(table["chosen"]).tolist() == [row]
    cache = cache_probabilities(dev, vectors @ history.A[row].T, vectors @ history.B[row].T, [1.0])
    mixed = mixture(kneser_ney, np.concatenate(cache, axis=1)[0], float(table["lambda"][row]))
    assert table["dev_mixture"][row] == pytest.approx(-np.log(mixed).mean())
    blocks = [block for document in dev for block in pointer_blocks(document)]
    assert table["dev"][row] == pytest.approx(pointer_loss(blocks, vectors, history.A[row], history.B[row]))
