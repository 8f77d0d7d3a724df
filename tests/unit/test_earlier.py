"""Sums over earlier members by blocks: what they are, and that the future cannot touch them."""

import numpy as np
import pytest

from attnkernel.language.earlier import PANEL, Earlier, by_first_appearance


def sequence(members, types, seed):
    """Contexts numbered by first appearance, and scores of a table that fills whole panels."""
    rng = np.random.default_rng(seed)
    distinct, contexts, _ = by_first_appearance(np.minimum(rng.zipf(1.2, size=members), types))
    return contexts, rng.normal(size=(len(distinct) + -len(distinct) % PANEL,) * 2)


def as_it_is(scores, kernel):
    np.copyto(kernel, scores)


def squared(_, kernel):
    np.multiply(kernel, kernel, out=kernel)


def one_by_one(contexts, kernel):
    counts, masses = np.zeros(len(kernel)), []
    for context in contexts:
        masses.append(kernel[context] @ counts)
        counts[context] += 1
    return np.array(masses)


@pytest.mark.parametrize("members", [1, 2, 64, 65, 700, 1024, 1025, 9000])
def test_masses_are_sums_over_the_members_before(members):
    contexts, scores = sequence(members, 300, seed=members)
    ours = Earlier(contexts).masses(scores, [as_it_is, squared])
    np.testing.assert_allclose(ours[0], one_by_one(contexts, scores), atol=1e-9)
    np.testing.assert_allclose(ours[1], one_by_one(contexts, scores**2), rtol=1e-11)


@pytest.mark.parametrize("members", [50, 1500])
def test_some_members_sum_over_each_other_alone(members):
    contexts, scores = sequence(4000, 300, seed=1)
    chosen = np.sort(np.random.default_rng(2).permutation(4000)[:members])
    ours = Earlier(contexts, chosen).masses(scores, [as_it_is])[0]
    np.testing.assert_allclose(ours, one_by_one(contexts[chosen], scores), atol=1e-10)


@pytest.mark.parametrize("until", [1, 63, 500, 1024, 1030, 8191, 8193])
def test_later_members_change_no_bit(until):
    contexts, scores = sequence(9000, 300, seed=3)
    whole = Earlier(contexts).masses(scores, [as_it_is])
    known = contexts[:until].max() + 1
    fewer = known + -known % PANEL
    start = Earlier(contexts[:until]).masses(scores[:fewer, :fewer].copy(), [as_it_is])
    np.testing.assert_array_equal(start, whole[:, :until])
