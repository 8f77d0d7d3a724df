"""Figures of the circle: the smoother, its gains, its risk, and how the optimum grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from attnkernel.figures import style

Columns = Mapping[str, NDArray[Any]]

# Light to dark: the lines stay in order without colour.
_SHARPER: Final = (style.SKY, style.BLUE, style.VERMILION, style.PURPLE, style.INK)
_BESIDE: Final[dict[str, Any]] = {"textcoords": "offset points", "va": "center", "fontsize": 7.5}


def smoother(table: Columns, spectrum: str, n: int) -> Figure:
    """Attention at each concentration of the table `circle_smoother`, with the true function and the dots."""
    rows = _where(table, spectrum=spectrum, n=n)
    true, noisy = _where(rows, series="true"), _where(rows, series="noisy")
    concentrations = np.unique(rows["c"][rows["series"] == "smoothed"])
    drawing = style.figure(style.DOUBLE, 2.4)
    panels = drawing.subplots(1, len(concentrations), sharey=True, squeeze=False)[0]
    for axes, c in zip(panels, concentrations, strict=True):
        smoothed = _where(rows, series="smoothed", c=c)
        axes.plot(noisy["theta"], noisy["value"], "o", color=style.GREY, ms=3, mew=0, label="noisy values")
        axes.plot(true["theta"], true["value"], color=style.INK, lw=1.0, ls=(0, (4, 2)), label="true function")
        axes.plot(smoothed["theta"], smoothed["value"], color=style.BLUE, lw=1.8, label="attention")
        axes.set_title(f"c = {c:.3g}")
        axes.set_xticks([0.0, np.pi, 2.0 * np.pi], ["0", "π", "2π"])
        axes.set_xlabel("angle θ (radians)")
    panels[0].set_ylabel("value")
    drawing.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=3)
    return drawing


def gains(table: Columns, n: int, concentrations: Sequence[float], modes: int = 16) -> Figure:
    """Fourier gains of the table `circle_gains` over frequency, one named line a concentration."""
    drawing = style.figure(style.SINGLE, 2.6)
    axes = drawing.subplots()
    for c, colour in zip(concentrations, _SHARPER, strict=False):
        rows = _where(table, n=n, c=c)
        shown = rows["mode"] <= modes
        mode, gain = rows["mode"][shown], rows["gain"][shown]
        axes.plot(mode, gain, "o-", color=colour, ms=3)
        foot = np.argmin(np.abs(gain - 0.1))
        axes.annotate(f"c = {c:g}", (mode[foot], gain[foot]), (4, 6), color=colour, **_BESIDE)
    axes.set(xlabel="frequency k (cycles a turn)", ylabel="gain ρₖ", ylim=(-0.04, 1.04))
    axes.set_xticks(np.arange(0, modes + 1, 4))
    return drawing


def risk(curve: Columns, optimum: Columns, trained: Columns) -> Figure:
    """Risk, squared bias and variance over c, one panel a setting, with c* and the trained layers.

    Parameters
    ----------
    curve, optimum, trained
        Tables `circle_risk_curve`, `circle_optimum` and `denoiser`.
    """
    settings = list(dict.fromkeys(zip(curve["spectrum"].tolist(), curve["n"].tolist(), strict=True)))
    drawing = style.figure(style.DOUBLE, 2.5)
    panels = drawing.subplots(1, len(settings), sharey=True, squeeze=False)[0]
    for axes, (spectrum, n) in zip(panels, settings, strict=True):
        rows = _where(curve, spectrum=spectrum, n=n)
        # A logarithmic axis has no place for c = 0.
        rows = {name: column[rows["c"] >= 0.5] for name, column in rows.items()}
        best = _where(optimum, spectrum=spectrum, n=n)
        learned = _where(trained, spectrum=spectrum, n=n)["learned_c"]
        axes.axvline(best["c_star"][0], color=style.GREY, lw=0.8, ls=(0, (3, 2)), label="c*")
        axes.plot(rows["c"], rows["bias2"], color=style.BLUE, label="bias²")
        axes.plot(rows["c"], rows["variance"], color=style.ORANGE, label="variance")
        axes.plot(rows["c"], rows["risk"], color=style.INK, lw=1.8, label="risk")
        height = np.interp(learned, rows["c"], rows["risk"])
        axes.plot(learned, height, "o", color=style.VERMILION, ms=5, mec="white", mew=0.7, label="trained layer")
        style.logarithmic(axes, "xy")
        axes.set(xlim=(0.5, rows["c"][-1]), ylim=(3e-3, 3.0))
        axes.set_title(f"{spectrum} functions, n = {n}")
        axes.set_xlabel("concentration c")
    panels[0].set_ylabel("mean squared error")
    drawing.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=5)
    return drawing


def asymptote(optimum: Columns) -> Figure:
    """Exact optimum of the table `circle_optimum` over Corollary 1's asymptote, by the number of keys."""
    drawing = style.figure(style.SINGLE, 2.4)
    axes = drawing.subplots()
    axes.axhline(1.0, color=style.GREY, lw=0.8, ls=(0, (3, 2)))
    colours = style.BLUE, style.VERMILION
    for spectrum, colour in zip(dict.fromkeys(optimum["spectrum"].tolist()), colours, strict=False):
        rows = _where(optimum, spectrum=spectrum)
        order = np.argsort(rows["n"])
        n, ratio = rows["n"][order], rows["ratio"][order]
        axes.plot(n, ratio, "o-", color=colour)
        axes.annotate(spectrum, (n[0], ratio[0]), (-6, 0), color=colour, ha="right", **_BESIDE)
    style.logarithmic(axes, "x")
    axes.set(xlim=(1.0, None), xlabel="keys n", ylabel="c*(n) over its asymptote")
    return drawing


def _where(table: Columns, **values: object) -> dict[str, NDArray[Any]]:
    """Rows of a table whose columns have the given values."""
    keep = np.logical_and.reduce([table[name] == value for name, value in values.items()])
    return {name: column[keep] for name, column in table.items()}
