"""Figures of the long lag."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from attnkernel.figures import style

Columns = Mapping[str, NDArray[Any]]

_COLOURS: Final = (style.BLUE, style.VERMILION, style.ORANGE, style.GREEN, style.PURPLE, style.SKY)


def _appearance(models: NDArray[Any]) -> dict[str, str]:
    """Colour of each model, in the order in which a table names them."""
    return dict(zip(dict.fromkeys(models.tolist()), _COLOURS, strict=False))


def _label(model: str) -> str:
    """Name a model as the article does: `lstm_fb3` is the LSTM with forget bias 3."""
    name, _, bias = model.partition("_fb")
    return f"LSTM, forget bias {bias}" if bias else {"attention": "attention", "elman": "Elman"}.get(name, name)


def _powers(axes: Axes) -> None:
    """Label a linear axis of log10 values with powers of ten."""
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: style.power_of_ten(value)))


def _draw_census(axes: Axes, summary: Columns, *, references: bool) -> None:
    for model, colour in _appearance(summary["model"]).items():
        rows = summary["model"] == model
        lags, median = summary["lag"][rows], summary["log10_median"][rows]
        low, high = summary["log10_q25"][rows], summary["log10_q75"][rows]
        axes.fill_between(lags, low, high, color=colour, alpha=0.18, linewidth=0)
        axes.plot(lags, median, "o-", color=colour, label=_label(model))
        if references:
            axes.plot(lags, summary["log10_typical_median"][rows], ":", color=colour)
        reference = summary["reference"][rows].astype(np.float64)
        if references and np.isfinite(reference).all():
            dense = np.geomspace(lags[0], lags[-1], 200)
            # 1/(L+1) is a power of L + 1, sigma(b)^L of sigma(b): two values of the table give the whole curve.
            shape = np.log10(dense + 1) if model == "attention" else dense
            line = median[0] + np.interp(shape, shape[[0, -1]], np.log10(reference[[0, -1]] / reference[0]))
            axes.plot(dense, line, "--", color=colour, linewidth=0.9)
            bias = model.partition("_fb")[2]
            text = f"σ({bias})ᴸ" if bias else "1/(L + 1)"
            place = int(np.argmin(np.abs(line - median[0] + (3.6 if bias else 0.06))))
            offset, side = ((-14, -3), "right") if bias else ((2, 2), "left")
            axes.annotate(text, (dense[place], line[place]), offset, textcoords="offset points", color=colour, ha=side)
    ticks = np.unique(summary["lag"])
    style.logarithmic(axes, "x")
    axes.xaxis.set_major_locator(FixedLocator(ticks.tolist()))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    axes.set_xlabel("lag L (noise symbols)")
    _powers(axes)


def census(summary: Columns) -> Figure:
    """Draw the census: medians and quartile bands, and near the top the slopes 1/(L+1) and sigma(b)^L.

    The slopes start from the first median; dotted is the median of the typical sequence of a batch.

    Parameters
    ----------
    summary
        Table `longlag_census_summary`.
    """
    drawing = style.figure(style.DOUBLE, 3.0)
    whole, near = drawing.subplots(1, 2)
    _draw_census(whole, summary, references=False)
    _draw_census(near, summary, references=True)
    attention = summary["log10_median"][summary["model"] == "attention"]
    near.set_ylim(attention.min() - 4.0, max(summary["log10_q75"].max(), attention.max()) + 0.7)
    near.plot([], [], ":", color=style.INK, label="typical sequence")
    handles, labels = near.get_legend_handles_labels()
    near.legend(handles[-1:], labels[-1:], loc="upper right")
    whole.set_ylabel("gradient norm at the bit")
    whole.legend(loc="lower left")
    style.panel_letter(whole, "A")
    style.panel_letter(near, "B")
    return drawing


def lyapunov(exponents: Columns) -> Figure:
    """Draw the slope of the census against the one that the exponent predicts, one point an initialization.

    Parameters
    ----------
    exponents
        Table `longlag_lyapunov`.
    """
    drawing = style.figure(style.DOUBLE, 3.2)
    whole, near = drawing.subplots(1, 2)
    last = exponents["model"] == exponents["model"][-1]
    for axes, shown in ((whole, np.full(len(last), True)), (near, last)):
        slopes = np.concatenate(
            [exponents[name][shown] for name in ("predicted_slope", "typical_slope", "census_slope")]
        )
        axes.axline((slopes.max(), slopes.max()), slope=1.0, color=style.GREY, linewidth=0.8)
        for model, colour in _appearance(np.insert(exponents["model"], 0, "attention")).items():
            rows = shown & (exponents["model"] == model)
            predicted = exponents["predicted_slope"][rows]
            filled = {"label": _label(model)} if axes is whole and rows.any() else {}
            axes.plot(predicted, exponents["typical_slope"][rows], "o", color=colour, **filled)
            axes.plot(predicted, exponents["census_slope"][rows], "o", color=colour, markerfacecolor="none")
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.set_xlabel("predicted by the Lyapunov exponent (log₁₀ a step)")
    whole.plot([], [], "o", color=style.INK, label="typical sequence")
    whole.plot([], [], "o", color=style.INK, markerfacecolor="none", label="batch average")
    whole.set_ylabel("slope of the census (log₁₀ a step)")
    whole.legend(loc="upper left")
    near.set_title(_label(exponents["model"][-1]))
    style.panel_letter(whole, "A")
    style.panel_letter(near, "B")
    return drawing


def attention(looks: Columns) -> Figure:
    """Draw where the layer looks, untrained and trained, a panel a lag.

    Parameters
    ----------
    looks
        Table `longlag_attention`.
    """
    lags = np.unique(looks["lag"]).tolist()
    drawing = style.figure(style.DOUBLE, 2.8)
    panels = drawing.subplots(1, len(lags), sharey=True, squeeze=False)[0]
    looked = (("untrained", 0, style.GREY), ("trained", 0, style.BLUE), ("trained", 1, style.VERMILION))
    for axes, lag in zip(panels, lags, strict=True):
        for state, bit, colour in looked:
            rows = (looks["state"] == state) & (looks["lag"] == lag) & (looks["bit"] == bit)
            weight, position = looks["weight"][rows], looks["position"][rows]
            label = "untrained" if state == "untrained" else f"trained, bit {bit}"
            axes.plot(position[1:], weight[1:], ".", color=colour, markersize=2.5, alpha=0.8)
            # Bit 0 is drawn larger: where both bits take all weight, one diamond would hide the other.
            size = 6.5 if (state, bit) == ("trained", 0) else 3.5
            axes.plot(position[:1], weight[:1], "D", color=colour, markersize=size, label=label)
        axes.axhline(1.0 / (lag + 1), color=style.INK, linewidth=0.8, linestyle="--", label="uniform, 1/(L + 1)")
        style.logarithmic(axes, "y")
        axes.set_title(f"lag {lag}")
        axes.set_xlabel("position (the bit stands at 0)")
    panels[0].set_ylabel("softmax weight")
    drawing.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=4)
    return drawing
