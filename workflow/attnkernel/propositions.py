"""Propositions 1 to 5 and 7 to 9, each held against random instances: the table `propositions`.

Every check computes a statement in two ways that share no code beyond NumPy, or both sides of an inequality,
and keeps the worst of its instances.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnkernel import features, smoother
from attnkernel.errors import InputError
from attnkernel.gradients import Scalar, central_difference, complex_step, relative_error

Array = NDArray[np.float64]
Table = dict[str, NDArray[np.generic]]

ROUNDING: Final = 1e-12


class Check(NamedTuple):
    """One statement on its instances."""

    statement: str
    check: str
    instances: int
    worst: float
    sense: str
    """`at most` or `above`: how `worst` should stand to `bound`."""
    bound: float

    @property
    def holds(self) -> bool:
        """Whether the worst instance respects the bound."""
        return self.worst <= self.bound if self.sense == "at most" else self.worst > self.bound


def propositions_table(sentence: Array, instances: int, draws: int, seed: np.random.SeedSequence) -> Table:
    """Table `propositions`: one row a check.

    Columns: statement, check, instances, worst (residual, z statistic or ratio of a quantity to its bound),
    sense (`at most` or `above`), bound, holds.

    Parameters
    ----------
    sentence
        Token vectors of a corpus sentence for Proposition 3, shape (T, p), T >= 3.
    instances
        Random instances of each check but those of Proposition 2 and of the sentence.
    draws
        Monte Carlo draws for Propositions 2 and 8.
    """
    generators = [np.random.default_rng(own) for own in seed.spawn(8)]
    checks = [
        *kernel_identities(instances, generators[0]),
        *conditional_mean(draws, generators[1]),
        *order_blindness(instances, generators[2]),
        *sentence_order(sentence, generators[3]),
        *temperature_limits(instances, generators[4]),
        *derivatives(instances, generators[5]),
        *low_rank(instances, generators[6]),
        *random_features(instances, draws, generators[7]),
    ]
    names = ("statement", "check", "instances", "worst", "sense", "bound")
    columns: Table = {name: np.array([getattr(check, name) for check in checks]) for name in names}
    return columns | {"holds": np.array([check.holds for check in checks])}


def sentence_vectors(sentences: Iterable[Sequence[str]], vectors: Mapping[str, Array], words: int) -> Array:
    """Token vectors of the first sentence with at least `words` words, all of which have a vector, shape (T, p).

    Parameters
    ----------
    sentences
        Words of each sentence, its end symbol last.
    vectors
        Vector of each token, shape (p,); a zero vector counts as none.

    Raises
    ------
    InputError
        There is no such sentence.
    """
    for sentence in sentences:
        found = np.array([vectors[word] for word in sentence[:-1]])
        if len(found) >= words and found.any(axis=1).all():
            return found
    raise InputError(f"no sentence has {words} words with a vector each; ask for fewer in config propositions.words")


def kernel_identities(instances: int, rng: np.random.Generator) -> list[Check]:
    """Proposition 1: attention as Nadaraya and Watson's estimator, and its kernel taken apart."""
    tau = 2.0
    q, k, v = (rng.standard_normal((instances, n, d)) for n, d in ((5, 4), (9, 4), (9, 3)))
    kernel = np.exp(np.einsum("btd,bnd->btn", q, k) / tau)
    estimate = np.einsum("btn,bnv->btv", kernel, v) / kernel.sum(axis=2, keepdims=True)
    tilted = smoother.attention_weights(smoother.gaussian_scores(q, k) + smoother.design_scores(k), tau)
    unit = k / np.linalg.norm(k, axis=2, keepdims=True)
    untilted = smoother.attention_weights(smoother.gaussian_scores(q, unit), tau)

    around = rng.standard_normal((instances, 2, 4))
    pair = q[:, :1] + around / np.linalg.norm(around, axis=2, keepdims=True)
    pair_weights = _weights(q[:, :1], pair, tau)[:, 0]
    longer = np.diff(np.square(pair).sum(axis=2), axis=1)[:, 0] / (2.0 * tau)
    residuals = (
        ("1 (i)", "attention - Nadaraya-Watson", smoother.attention(q, k, v, tau) - estimate),
        ("1 (ii)", "weights - Gaussian x design", _weights(q, k, tau) - tilted),
        ("1 (ii)", "log weight ratio of two keys equally far", np.diff(np.log(pair_weights))[:, 0] - longer),
        ("1 (iii)", "keys of one length: weights - Gaussian", _weights(q, unit, tau) - untilted),
    )
    return [
        _at_most(statement, check, instances, float(np.abs(residual).max())) for statement, check, residual in residuals
    ]


def conditional_mean(draws: int, rng: np.random.Generator) -> list[Check]:
    """Proposition 2: V - o(Q) is uncorrelated with 1, Q_1, Q_2, and not so without the design weights."""
    tau = 1.0
    directions = rng.standard_normal((6, 2))
    # Lengths from 0.5 to 2.5: the design weights then differ by a factor of twenty.
    keys = directions / np.linalg.norm(directions, axis=1, keepdims=True) * np.linspace(0.5, 2.5, 6)[:, None]
    values = rng.standard_normal((6, 1))
    Q, V = smoother.mixture_draws(keys, values, tau, draws, rng)
    regressors = np.column_stack([np.ones(draws), Q])
    with_design = V - smoother.attention(Q, keys, values, tau)
    without = V - smoother.nadaraya_watson(smoother.gaussian_scores(Q, keys) / tau, values)
    worst = [np.abs(smoother.orthogonality(residual, regressors)).max() for residual in (with_design, without)]
    return [
        Check("2", "|z| of the residual against 1, Q1, Q2", draws, float(worst[0]), "at most", 4.0),
        Check("2", "the same without the design weights", draws, float(worst[1]), "above", 4.0),
    ]


def order_blindness(instances: int, rng: np.random.Generator) -> list[Check]:
    """Proposition 3 on random sequences: equivariance both ways, and a causal layer's last position."""
    equivariance, last = 0.0, 0.0
    for _ in range(instances):
        x, layer = rng.standard_normal((7, 4)), _random_layer(4, rng)
        order = rng.permutation(7)
        difference = _read(x[order], layer, causal=False) - _read(x, layer, causal=False)[order]
        equivariance = max(equivariance, float(np.abs(difference).max()))
        prefix = np.append(rng.permutation(6), 6)
        change = _read(x[prefix], layer, causal=True)[-1] - _read(x, layer, causal=True)[-1]
        last = max(last, float(np.abs(change).max()))
    return [
        _at_most("3 (i)", "bidirectional: permuted output - output permuted", instances, equivariance),
        _at_most("3 (ii)", "causal, earlier positions permuted: change at t", instances, last),
    ]


def sentence_order(sentence: Array, rng: np.random.Generator) -> list[Check]:
    """Proposition 3 on a sentence, its prefix reversed and its last word kept: one causal layer, then two."""
    width = sentence.shape[1]
    first, second = _random_layer(width, rng), _random_layer(width, rng)
    reversed_prefix = np.concatenate([sentence[-2::-1], sentence[-1:]])
    once, once_reversed = (_read(x, first, causal=True) for x in (sentence, reversed_prefix))
    twice, twice_reversed = (_read(x, second, causal=True) for x in (once, once_reversed))
    change = [float(np.abs(a[-1] - b[-1]).max()) for a, b in ((once, once_reversed), (twice, twice_reversed))]
    return [
        Check("3 (ii)", "sentence, one causal layer: change at the last word", 1, change[0], "at most", ROUNDING),
        Check("3 (ii)", "sentence, two causal layers: change at the last word", 1, change[1], "above", 1e-3),
    ]


def temperature_limits(instances: int, rng: np.random.Generator) -> list[Check]:
    """Proposition 4: each quantity over its bound, at temperatures from a lookup to an average."""
    values = rng.standard_normal((8, 3))
    worst, count = np.zeros(4), 0
    for tau in np.geomspace(0.2, 20.0, 9):
        scores = rng.standard_normal((instances, 8))
        # Gaps beyond 20 tau are left out: there the error of the output is rounding, and the bound below it.
        scores = scores[np.diff(np.sort(scores, axis=1)[:, -2:], axis=1)[:, 0] < 20.0 * tau]
        count += len(scores)
        weights, bounds = smoother.attention_weights(scores, tau), smoother.rate_bounds(scores, values, tau)
        outputs = weights @ values
        missed = np.sort(weights, axis=1)[:, :-1].sum(axis=1)
        ratios = (
            missed / bounds.missed_weight,
            np.linalg.norm(outputs - values[scores.argmax(axis=1)], axis=1) / bounds.lookup_error,
            np.maximum(bounds.least_weight / weights.min(axis=1), weights.max(axis=1) / bounds.largest_weight),
            np.linalg.norm(outputs - values.mean(axis=0), axis=1) / bounds.average_error,
        )
        worst = np.maximum(worst, [ratio.max() for ratio in ratios])
    names = (
        ("4 (i)", "1 - alpha_max over its bound"),
        ("4 (i)", "|o - v_best| over its bound"),
        ("4 (ii)", "weights over their bounds"),
        ("4 (ii)", "|o - mean v| over its bound"),
    )
    return [Check(*name, count, float(ratio), "at most", 1.0) for name, ratio in zip(names, worst, strict=True)]


def derivatives(instances: int, rng: np.random.Generator) -> list[Check]:
    """Proposition 5: derivatives of one output against the complex step and central differences."""
    exact, differences, dilution = np.max([_derivative_errors(rng) for _ in range(instances)], axis=0)
    return [
        Check("5", "derivatives, complex step, relative", instances, float(exact), "at most", 1e-10),
        Check("5", "derivatives, central differences, relative", instances, float(differences), "at most", 1e-6),
        _at_most("5", "equal scores: factor - 1/n", instances, float(dilution)),
    ]


def _derivative_errors(rng: np.random.Generator) -> tuple[float, float, float]:
    """Worst errors of one instance: complex step, central differences, and the factor of equal scores."""
    tau, n, d_k, d_v = 1.7, 6, 3, 2
    q, k, v = rng.standard_normal(d_k), rng.standard_normal((n, d_k)), rng.standard_normal((n, d_v))
    along = rng.standard_normal(d_v)
    ours = smoother.lookup_derivatives(q, k, v, tau)
    pairs: tuple[tuple[Array, Scalar, Array], ...] = (
        (ours.value[:, None] * along, lambda x: _plain(k @ q / tau, x) @ along, v),
        (ours.score @ along, lambda x: _plain(x, v) @ along, k @ q / tau),
        (along @ ours.key, lambda x: _plain(x @ q / tau, v) @ along, k),
        (along @ ours.query, lambda x: _plain(k @ x / tau, v) @ along, q),
    )
    exact = [relative_error(gradient, complex_step(function, x)) for gradient, function, x in pairs]
    differences = [relative_error(gradient, central_difference(function, x)) for gradient, function, x in pairs]
    equal = smoother.lookup_derivatives(np.zeros(d_k), k, v, tau)
    return max(exact), max(differences), float(np.abs(equal.value - 1.0 / n).max())


def low_rank(instances: int, rng: np.random.Generator) -> list[Check]:
    """Proposition 7: ranks of scores and log-weights, and permutations in two dimensions."""
    n, d_k, tau = 24, 3, 1e-4
    excess, log_excess, missed = -d_k, -d_k, 0.0
    for _ in range(instances):
        scores = rng.standard_normal((n, d_k)) @ rng.standard_normal((d_k, n)) / np.sqrt(d_k)
        log_weights = np.log(smoother.attention_weights(scores))
        excess = max(excess, int(np.linalg.matrix_rank(scores)) - d_k)
        log_excess = max(log_excess, int(np.linalg.matrix_rank(log_weights)) - d_k - 1)
        permutation = rng.permutation(n)
        queries, keys = features.permutation_head(permutation)
        weights = smoother.attention_weights(queries @ keys.T, tau)
        missed = max(missed, float((1.0 - weights[np.arange(n), permutation]).max()))
    return [
        Check("7", "rank of the scores - d_k", instances, float(excess), "at most", 0.0),
        Check("7", "rank of the log-weights - (d_k + 1)", instances, float(log_excess), "at most", 0.0),
        _at_most("7", "random permutation, d_k = 2: weight missed", instances, missed),
    ]


def random_features(instances: int, draws: int, rng: np.random.Generator) -> list[Check]:
    """Propositions 8 and 9: mean and variance of the feature kernel; recurrence against weights."""
    x, y = rng.uniform(-0.4, 0.4, (2, 3))
    w = rng.standard_normal((draws, 3))
    # One feature a draw: its products are independent estimates of exp(<x, y>).
    estimates = draws * features.positive_features(x, w) * features.positive_features(y, w)
    centred = estimates - np.exp(x @ y)
    spread = np.square(centred) - features.feature_variance(x, y, 1)
    z = np.abs(smoother.orthogonality(np.column_stack([centred, spread]), np.ones((draws, 1))))

    worst = 0.0
    for _ in range(instances):
        shared = rng.standard_normal((32, 4))
        q, k = (features.positive_features(0.5 * rng.standard_normal((12, 4)), shared) for _ in range(2))
        v = rng.standard_normal((12, 2))
        difference = features.factored_attention(q, k, v) - features.factored_weights(q, k) @ v
        worst = max(worst, float(np.abs(difference).max()))
    return [
        Check("8", "|z| of the mean of the feature kernel", draws, float(z[0, 0]), "at most", 4.0),
        Check("8", "|z| of its variance", draws, float(z[1, 0]), "at most", 4.0),
        _at_most("9", "recurrence - weights x values", instances, worst),
    ]


def _at_most(statement: str, check: str, instances: int, worst: float) -> Check:
    return Check(statement, check, instances, worst, "at most", ROUNDING)


def _weights(queries: Array, keys: Array, tau: float) -> Array:
    return smoother.attention_weights(queries @ np.swapaxes(keys, -1, -2), tau)


def _plain(scores: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """Attention of one query as the formula is written, which the complex step can pass through."""
    mass = np.exp(scores)
    output: NDArray[Any] = mass @ values / mass.sum()
    return output


def _random_layer(width: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """W_Q, W_K, W_V of a random layer, each (width, width), entries N(0, 1 / width)."""
    W_Q, W_K, W_V = rng.standard_normal((3, width, width)) / np.sqrt(width)
    return W_Q, W_K, W_V


def _read(x: Array, layer: tuple[Array, Array, Array], causal: bool) -> Array:
    """Output of one attention layer without positions, shape (T, width)."""
    W_Q, W_K, W_V = layer
    return smoother.attention(x @ W_Q, x @ W_K, x @ W_V, readable=smoother.causal(len(x)) if causal else None)
