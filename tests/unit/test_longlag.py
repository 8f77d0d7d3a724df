from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attnkernel.figures import longlag as figures
from attnkernel.gradients import central_difference, complex_step, relative_error
from attnkernel.longlag import bound, census, lyapunov, training
from attnkernel.longlag.attention import Attention, constructive_weights
from attnkernel.longlag.elman import Elman
from attnkernel.longlag.lstm import LSTM
from attnkernel.longlag.models import FRESH, families, one_replica
from attnkernel.longlag.recurrent import Recurrent
from attnkernel.longlag.task import BITS, Sizes, child, cross_entropy, draw_sequences, streams

TOY = Sizes(noise_symbols=5, dimension=3, hidden=4, embedding_sd=0.5)
SEED = np.random.SeedSequence(11)
SEEDS = [np.random.SeedSequence(12), np.random.SeedSequence(13)]
BIASES = {"lstm_fb1": 1.0, "lstm_fb3": 3.0}
MODELS = {"attention": Attention, "elman": Elman, "lstm": lambda: LSTM([1.0, 3.0])}


@pytest.fixture(params=list(MODELS))
def model(request: pytest.FixtureRequest) -> Any:
    return MODELS[request.param]()


def generators(count: int = 2, key: int = 0) -> list[np.random.Generator]:
    return streams([child(SEED, replica) for replica in range(count)], key)


def total_loss(model: Any, weights: Any, symbols: Any, name: str, value: Any) -> Any:
    """Sum of the replicas' losses, with one weight replaced and all in its number type."""
    cast = {key: weight.astype(value.dtype) for key, weight in weights.items()} | {name: value}
    return cross_entropy(model.logits(cast, symbols), symbols[0])[0].mean(axis=-1).sum()


# The models, written again position by position and step by step, as a textbook has them.


def plain_attention(weights: dict[str, Any], tokens: Any) -> Any:
    query, keys, values = weights["query"] @ tokens[-1], tokens @ weights["key"].T, tokens @ weights["value"].T
    scores = np.exp(keys @ query / np.sqrt(len(query)))
    return weights["readout"] @ (scores @ values / scores.sum())


def plain_elman(weights: dict[str, Any], tokens: Any, state: Any) -> Any:
    (hidden,) = state
    for token in tokens:
        hidden = np.tanh(weights["recurrent"] @ hidden + weights["input"] @ token)
    return (hidden,)


def plain_lstm(weights: dict[str, Any], tokens: Any, state: Any) -> Any:
    def sigma(z: Any) -> Any:
        return 1.0 / (1.0 + np.exp(-z))

    hidden, cell = state
    for token in tokens:
        out, forget, write, new = np.split(weights["recurrent"] @ hidden + weights["input"] @ token, 4)
        cell = sigma(forget + weights["forget_bias"]) * cell + sigma(write) * np.tanh(new)
        hidden = sigma(out) * np.tanh(cell)
    return hidden, cell


def plain_logits(model: Any, weights: dict[str, Any], tokens: Any) -> Any:
    if isinstance(model, Attention):
        return plain_attention(weights, tokens)
    step = plain_elman if isinstance(model, Elman) else plain_lstm
    return weights["readout"] @ step(weights, tokens, (np.zeros(TOY.hidden),) * model.parts)[0]


def test_a_sequence_is_a_bit_and_then_noise() -> None:
    symbols = draw_sequences(generators(3), 20, 50, 5)
    assert symbols.shape == (21, 3, 50)
    assert set(np.unique(symbols[0])) == {0, 1}
    assert set(np.unique(symbols[1:])) == set(range(BITS, BITS + 5))
    np.testing.assert_array_equal(symbols[:, 1:2], draw_sequences(generators(3)[1:2], 20, 50, 5))


def test_a_lag_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        draw_sequences(generators(), 0, 1, 5)


def test_cross_entropy_keeps_its_digits_when_the_model_is_sure() -> None:
    logits = np.array([[0.0, 0.0, 0.0], [800.0, -800.0, 40.0]])
    loss, gradient = cross_entropy(logits, np.array([1, 1, 1]))
    np.testing.assert_allclose(loss, [0.0, 800.0, np.exp(-40.0)], rtol=1e-14)
    np.testing.assert_allclose(gradient[1], [0.0, -1.0, -np.exp(-40.0)], rtol=1e-14)


def test_logits_are_those_of_the_plain_model(model: Any) -> None:
    weights, symbols = model.initialize(TOY, generators()), draw_sequences(generators(key=1), 80, 3, 5)
    logits = model.logits(weights, symbols)
    for replica, sequence in np.ndindex(2, 3):
        own = {name: value[replica] for name, value in weights.items()}
        tokens = own["embedding"].T[symbols[:, replica, sequence]]
        np.testing.assert_allclose(logits[replica, :, sequence], plain_logits(model, own, tokens), rtol=1e-11)


def test_gradients_in_all_weights_are_exact(model: Any) -> None:
    weights, symbols = model.initialize(TOY, generators()), draw_sequences(generators(key=1), 5, 4, 5)
    loss, gradients = model.loss_and_gradients(weights, symbols)
    assert gradients.keys() == weights.keys()
    for name, value in weights.items():

        def replaced(point: Any, name: str = name) -> Any:
            return total_loss(model, weights, symbols, name, point)

        np.testing.assert_allclose(loss.sum(), replaced(value), rtol=1e-14)
        assert relative_error(gradients[name], complex_step(replaced, value)) <= 1e-10
        assert relative_error(gradients[name], central_difference(replaced, value)) <= 1e-6


def test_gradients_in_the_inputs_are_exact(model: Any) -> None:
    weights = model.initialize(TOY, generators(1)) if not isinstance(model, LSTM) else None
    weights = weights or one_replica(model.initialize(TOY, generators()), 1)
    # With every symbol read once, the gradient in the embedding's columns is the one in the positions.
    symbols = np.array([1, 3, 2, 5, 4, 6])[:, None, None]
    _, gradients = model.loss_and_gradients(weights, symbols)
    own = {name: value[0] for name, value in weights.items()}

    def loss(tokens: Any) -> Any:
        return cross_entropy(plain_logits(model, own, tokens)[:, None], np.array([1]))[0][0]

    tokens = own["embedding"].T[symbols[:, 0, 0]]
    ours = gradients["embedding"][0].T[symbols[:, 0, 0]]
    assert relative_error(ours, complex_step(loss, tokens)) <= 1e-10
    assert relative_error(ours, central_difference(loss, tokens)) <= 1e-6


def test_the_census_measures_the_gradient_at_the_bit(model: Any) -> None:
    weights, symbols = model.initialize(TOY, generators()), draw_sequences(generators(key=1), 12, 3, 5)
    lags = (4, 12)
    ours = model.log_bit_gradients(weights, symbols, lags)
    for index, replica, sequence in np.ndindex(2, 2, 3):
        own = {name: value[replica] for name, value in weights.items()}
        read = symbols[: lags[index] + 1, replica, sequence]
        tokens = own["embedding"].T[read]

        def loss_from(bit: Any, own: Any = own, read: Any = read, tokens: Any = tokens) -> Any:
            if isinstance(model, Attention):
                logits = plain_attention(own, np.concatenate([bit[None], tokens[1:]]))
            else:
                step = plain_elman if isinstance(model, Elman) else plain_lstm
                logits = own["readout"] @ step(own, tokens[1:], tuple(bit))[0]
            return cross_entropy(logits[:, None], read[:1])[0][0]

        if isinstance(model, Attention):
            bit = tokens[0]
        else:
            step = plain_elman if isinstance(model, Elman) else plain_lstm
            bit = np.array(step(own, tokens[:1], (np.zeros(TOY.hidden),) * model.parts))
        expected = np.log(np.linalg.norm(complex_step(loss_from, bit)))
        np.testing.assert_allclose(ours[index, replica, sequence], expected, rtol=1e-10)


def test_lags_that_share_a_pass_measure_what_they_measure_alone(model: Any) -> None:
    weights, symbols = model.initialize(TOY, generators()), draw_sequences(generators(key=1), 30, 3, 5)
    together = model.log_bit_gradients(weights, symbols, (3, 30, 17))
    for index, lag in enumerate((3, 30, 17)):
        alone = model.log_bit_gradients(weights, symbols[: lag + 1], (lag,))
        np.testing.assert_allclose(together[index], alone[0], rtol=1e-12)


@pytest.mark.parametrize("name", ["elman", "lstm"])
def test_gradients_below_the_range_of_floats_keep_their_logarithm(name: str) -> None:
    model = MODELS[name]()
    weights = model.initialize(TOY, generators())
    if name == "lstm":
        weights["forget_bias"] -= 12.0
    weights["recurrent"] *= 1e-3
    symbols = draw_sequences(generators(key=1), 480, 2, 5)
    logs = model.log_bit_gradients(weights, symbols, (240, 480))
    assert np.isfinite(logs).all()
    assert (logs[1] < np.log(1e-300)).all()
    # Far past the transient the decay goes on at its own rate: a clipped product would bend.
    np.testing.assert_allclose(logs[1] / logs[0], 2.0, rtol=0.05)


def test_stacked_replicas_train_bit_for_bit_as_apart(model: Any) -> None:
    schedule = training.Schedule(lag=6, steps=4, batch=8, step_size=0.01)
    stacked = model.initialize(TOY, generators())
    apart = [{k: v.copy() for k, v in one_replica(stacked, replica).items()} for replica in range(2)]
    losses = training.train(model, stacked, generators(key=1), schedule, 5)
    for replica, weights in enumerate(apart):
        own = training.train(model, weights, generators(key=1)[replica : replica + 1], schedule, 5)
        np.testing.assert_array_equal(own[:, 0], losses[:, replica])
        for name, value in weights.items():
            np.testing.assert_array_equal(value[0], stacked[name][replica])


def test_lstms_differ_in_their_forget_bias_alone() -> None:
    lstm = families(BIASES, 2)[2]
    weights = lstm.initialize(TOY, SEEDS)
    np.testing.assert_array_equal(weights["forget_bias"][:, 0], [1.0, 1.0, 3.0, 3.0])
    for name in weights.keys() - {"forget_bias"}:
        np.testing.assert_array_equal(weights[name][:2], weights[name][2:])


def test_results_outlive_the_arrays_that_a_model_reuses() -> None:
    model = LSTM(1.0)
    weights, symbols = model.initialize(TOY, generators()), draw_sequences(generators(key=1), 9, 4, 5)
    results = model.loss_and_gradients(weights, symbols)
    kept = results[0].copy(), {name: value.copy() for name, value in results[1].items()}
    model.loss_and_gradients({name: 2.0 * value for name, value in weights.items()}, symbols)
    np.testing.assert_array_equal(results[0], kept[0])
    for name, value in results[1].items():
        np.testing.assert_array_equal(value, kept[1][name])


def test_attention_does_not_see_the_order_of_the_noise() -> None:
    model = Attention()
    weights, symbols = model.initialize(TOY, generators()), draw_sequences(generators(key=1), 20, 3, 5)
    shuffled = symbols[[0, *np.random.default_rng(3).permutation(np.arange(1, 20)), 20]]
    np.testing.assert_allclose(model.logits(weights, shuffled), model.logits(weights, symbols), rtol=1e-13)


def test_scores_of_absent_symbols_neither_weigh_nor_overflow() -> None:
    model = Attention()
    weights = model.initialize(TOY, generators(1))
    weights["embedding"][:, :, -1] *= 1e6
    symbols = np.minimum(draw_sequences(generators(1), 10, 4, 5), TOY.symbols - 2)
    mass = model.lookup(weights, symbols).mass
    np.testing.assert_allclose(mass.sum(axis=1), 1.0, rtol=1e-14)
    assert (mass[:, -1] == 0.0).all()


def test_the_bit_jacobian_is_proposition_5() -> None:
    model = Attention()
    weights, symbols = model.initialize(TOY, generators(1)), draw_sequences(generators(1, key=1), 7, 2, 5)
    own = {name: value[0] for name, value in weights.items()} | {"readout": np.eye(TOY.hidden)}
    jacobian = model.bit_jacobian(weights, symbols)[0]
    for sequence, unit in np.ndindex(2, TOY.hidden):
        tokens = own["embedding"].T[symbols[:, 0, sequence]]

        def output(bit: Any, tokens: Any = tokens, unit: int = unit) -> Any:
            return plain_attention(own, np.concatenate([bit[None], tokens[1:]]))[unit]

        assert relative_error(jacobian[sequence, unit], complex_step(output, tokens[0])) <= 1e-10


@pytest.mark.parametrize("lag", [1, 60, 5000])
def test_the_constructed_layer_answers_at_any_lag_with_the_weight_of_proposition_6(lag: int) -> None:
    model, weights = Attention(), constructive_weights(TOY, gap=5.0, margin=4.0)
    symbols = draw_sequences(generators(1), lag, 20, 5)
    read = model.lookup(weights, symbols)
    np.testing.assert_allclose(model.bit_weight(read, symbols), 1.0 / (1.0 + lag * np.exp(-5.0)), rtol=1e-12)
    accuracy, _ = training.evaluate(model, weights, symbols)
    assert accuracy == 1.0


def test_proposition_6_holds_untrained_trained_and_constructed() -> None:
    schedule = training.Schedule(lag=8, steps=60, batch=16, step_size=0.05)
    states = bound.attention_states(TOY, schedule, gap=6.0, margin=8.0, seeds=SEEDS)
    table = bound.bound_table(states, TOY, lags=(1, 10, 200), batch=32, seed=SEED)
    assert len(table["state"]) == (2 + 2 + 1) * 3
    assert (table["least_slack"] >= 1.0).all()
    assert (table["least_weight_slack"] >= 1.0 - 1e-12).all()
    summary = bound.bound_summary(table)
    assert summary["state"].tolist() == ["untrained", "trained", "constructed"]
    assert summary["least_accuracy"][2] == 1.0


def test_where_the_layer_looks_sums_to_one_over_positions() -> None:
    states = {"untrained": Attention().initialize(TOY, generators(1))}
    table = bound.attention_table(states, TOY, lags=(5, 9), seed=SEED)
    for lag in (5, 9):
        for bit in (0, 1):
            rows = (table["lag"] == lag) & (table["bit"] == bit)
            assert table["position"][rows].tolist() == list(range(lag + 1))
            assert table["symbol"][rows][0] == bit
            np.testing.assert_allclose(table["weight"][rows].sum(), 1.0, rtol=1e-13)


@pytest.mark.parametrize("quantile", [0.0, 0.25, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("count", [1, 5, 12])
def test_quantiles_of_logarithms_are_logarithms_of_quantiles(quantile: float, count: int) -> None:
    values = 10.0 ** np.random.default_rng(count).normal(-5.0, 3.0, count)
    expected = np.log10(np.quantile(values, quantile))
    np.testing.assert_allclose(census.log10_quantile(np.log10(values), quantile), expected, rtol=1e-12)


def test_means_of_logarithms_work_below_the_range_of_floats() -> None:
    logs = np.log([1e-3, 4e-3]) - 2000.0
    arithmetic, geometric = census.log10_batch_means(logs)
    np.testing.assert_allclose(arithmetic, np.log10(2.5e-3) - 2000.0 / np.log(10.0), rtol=1e-14)
    np.testing.assert_allclose(geometric, np.log10(2e-3) - 2000.0 / np.log(10.0), rtol=1e-14)


def test_a_forget_bias_of_3_keeps_0_054_over_60_steps() -> None:
    assert round(census.reference("lstm_fb3", 60, BIASES), 3) == 0.054
    assert census.reference("attention", 9, BIASES) == 0.1
    assert np.isnan(census.reference("elman", 9, BIASES))


def test_census_tables_have_a_row_a_draw_and_a_row_a_cell() -> None:
    draws = census.census_draws(TOY, BIASES, lags=(3, 10), replicas=3, batch=8, seed=SEED)
    assert {len(column) for column in draws.values()} == {4 * 2 * 3}
    assert (draws["log10_typical"] <= draws["log10_gradient"] + 1e-12).all()
    summary = census.census_summary(draws, BIASES)
    assert summary["model"].tolist() == [m for m in ("attention", "elman", *BIASES) for _ in range(2)]
    chosen = (draws["model"] == "elman") & (draws["lag"] == 10)
    np.testing.assert_allclose(summary["median"][3], np.median(10.0 ** draws["log10_gradient"][chosen]), rtol=1e-12)
    facts = census.census_facts(summary, gated="lstm_fb3", near_lag=3, far_lag=10)
    assert set(facts["value"][facts["fact"] == "average_ahead"]) <= {0.0, 1.0}


def test_the_exponent_of_a_symmetric_linear_map_is_the_log_of_its_radius() -> None:
    model, generator = Elman(), np.random.default_rng(5)
    weights = model.initialize(TOY, generators(1))
    basis = np.linalg.qr(generator.standard_normal((TOY.hidden, TOY.hidden)))[0]
    weights["recurrent"][0] = basis * [0.9, 0.5, 0.3, 0.1] @ basis.T
    weights["embedding"] *= 1e-6  # so small a state that tanh is linear
    noise = generator.integers(BITS, TOY.symbols, size=(400 + 2 * 60, 1, 3))
    np.testing.assert_allclose(lyapunov.growth_rates(model, weights, noise, 60, generator), np.log(0.9), rtol=1e-9)


@pytest.mark.parametrize("name", ["elman", "lstm"])
def test_the_exponent_is_that_of_explicit_jacobians_by_qr(name: str) -> None:
    model: Recurrent = MODELS[name]()
    weights = one_replica(model.initialize(TOY, generators()), 1)
    own = {key: value[0] for key, value in weights.items()}
    generator = np.random.default_rng(8)
    noise = generator.integers(BITS, TOY.symbols, size=(480, 1, 1))
    step = plain_elman if name == "elman" else plain_lstm
    state, jacobians = np.zeros((model.parts, TOY.hidden)), []
    for symbol in noise[:, 0, 0]:
        token = own["embedding"].T[[symbol]]
        units = np.eye(state.size).reshape(-1, *state.shape)
        columns = [np.imag(np.array(step(own, token, tuple(state + 1e-30j * unit)))) / 1e-30 for unit in units]
        jacobians.append(np.reshape(columns, (state.size, state.size)).T)
        state = np.array(step(own, token, tuple(state)))
    adjoint, growth = np.linalg.qr(generator.standard_normal((state.size, state.size)))[0], 0.0
    for pulled, jacobian in enumerate(reversed(jacobians[40:]), start=1):
        adjoint, triangle = np.linalg.qr(jacobian.T @ adjoint)
        growth += np.log(abs(triangle[0, 0])) if pulled > 40 else 0.0
    ours = lyapunov.growth_rates(model, weights, noise, 40, generator)
    np.testing.assert_allclose(ours, growth / 400, atol=2e-3)


def test_a_length_that_rescaling_does_not_divide_is_refused() -> None:
    model = Elman()
    with pytest.raises(ValueError, match="multiple"):
        lyapunov.growth_rates(
            model,
            model.initialize(TOY, generators(1)),
            np.full((21, 1, 1), 2),
            5,
            generators(1, FRESH)[0],
        )


def test_training_tables_have_every_model_replica_lag_and_step() -> None:
    schedule = training.Schedule(lag=4, steps=3, batch=4, step_size=0.01)
    outcome, curves = training.training_tables(
        TOY, BIASES, schedule, test_lags=(4, 70), test_sequences=20, seeds=dict(enumerate(SEEDS))
    )
    assert {len(column) for column in outcome.values()} == {4 * 2 * 2}
    assert {len(column) for column in curves.values()} == {4 * 2 * 3}
    assert ((outcome["accuracy"] >= 0.0) & (outcome["accuracy"] <= 1.0)).all()
    # The first family trained alone gives the first rows: no model disturbs another.
    _, losses = training.train_family(families(BIASES, 2)[0], TOY, schedule, SEEDS)
    np.testing.assert_array_equal(curves["loss"][:3], losses[:, 0])


def test_figures_draw_the_tables_without_a_warning() -> None:
    draws = census.census_draws(TOY, BIASES, lags=(3, 10), replicas=2, batch=8, seed=SEED)
    exponents = lyapunov.lyapunov_table(draws, TOY, BIASES, length=16, warmup=4, sequences=2, from_lag=3, seed=SEED)
    states = {name: Attention().initialize(TOY, generators(1)) for name in ("untrained", "trained")}
    looks = bound.attention_table(states, TOY, lags=(5, 9), seed=SEED)
    summary = census.census_summary(draws, BIASES)
    for drawing in (figures.census(summary), figures.lyapunov(exponents), figures.attention(looks)):
        assert len(drawing.axes) == 2
        drawing.canvas.draw()


def torch_logits(torch: Any, model: Any, leaves: dict[str, Any], tokens: Any) -> Any:
    """Logits of a batch, tokens (L + 1, B, d), with PyTorch's own operations."""
    if isinstance(model, Attention):
        query = tokens[-1] @ leaves["query"].T
        scores = torch.einsum("bh,lbh->bl", query, tokens @ leaves["key"].T) / query.shape[-1] ** 0.5
        read = torch.einsum("bl,lbh->bh", torch.softmax(scores, dim=-1), tokens @ leaves["value"].T)
        return read @ leaves["readout"].T
    hidden = cell = torch.zeros(tokens.shape[1], TOY.hidden, dtype=torch.float64)
    for token in tokens:
        rows = hidden @ leaves["recurrent"].T + token @ leaves["input"].T
        if isinstance(model, Elman):
            hidden = torch.tanh(rows)
            continue
        out, forget, write, new = rows.chunk(4, dim=-1)
        cell = torch.sigmoid(forget + leaves["forget_bias"]) * cell + torch.sigmoid(write) * torch.tanh(new)
        hidden = torch.sigmoid(out) * torch.tanh(cell)
    return hidden @ leaves["readout"].T


def test_gradients_agree_with_torch(model: Any) -> None:
    torch = pytest.importorskip("torch")
    weights, symbols = model.initialize(TOY, generators()), draw_sequences(generators(key=1), 6, 4, 5)
    loss, gradients = model.loss_and_gradients(weights, symbols)
    for replica in range(2):
        leaves = {k: torch.tensor(v[replica], requires_grad=True) for k, v in weights.items()}
        tokens = leaves["embedding"].T[torch.tensor(symbols[:, replica])]
        logits = torch_logits(torch, model, leaves, tokens)
        theirs = torch.nn.functional.cross_entropy(logits, torch.tensor(symbols[0, replica]))
        theirs.backward()
        np.testing.assert_allclose(loss[replica], theirs.item(), rtol=1e-12)
        for name, leaf in leaves.items():
            assert relative_error(gradients[name][replica], leaf.grad.numpy()) <= 1e-10
