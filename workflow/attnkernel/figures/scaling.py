"""Figure of the scale: how the softmax saturates with the dimension, and how 1/sqrt(d) prevents it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from numpy.typing import NDArray

from attnkernel.figures import style

Columns = Mapping[str, NDArray[Any]]


def scaling(table: Columns, limits: Columns) -> Figure:
    """Both statistics over the dimension: means of the draws with two standard errors, over the expectations.

    Parameters
    ----------
    table, limits
        Tables `scaling` and `scaling_limits`.
    """
    drawing = style.figure(style.DOUBLE, 2.5)
    panels = drawing.subplots(1, 2)
    names = {"one_minus_max": "1 − largest weight", "jacobian": "‖J‖₂"}
    columns, by_root = ("d", "mean", "standard_error", "expectation"), "scaled by 1/√d"
    for axes, (quantity, label) in zip(panels, names.items(), strict=True):
        limit = limits["value"][limits["quantity"] == f"limit {quantity}"][0]
        axes.axhline(limit, color=style.GREY, lw=0.8, ls=(0, (3, 2)))
        for scaled, name, colour, above in (
            (False, "unscaled", style.VERMILION, 5),
            (True, by_root, style.BLUE, 12),
        ):
            keep = (table["quantity"] == quantity) & (table["scaled"] == scaled)
            d, mean, error, expectation = (table[column][keep] for column in columns)
            axes.plot(d, expectation, color=colour, lw=1.0)
            axes.errorbar(d, mean, 2.0 * error, fmt="o", color=colour, capsize=2, elinewidth=0.8)
            middle = len(d) // 2
            axes.annotate(name, (d[middle], expectation[middle]), (8, above), textcoords="offset points", color=colour)
        axes.set_xscale("log", base=2)
        axes.set_xticks(d, [f"{value:,}" for value in d.tolist()])
        axes.set(xlabel="dimension d", ylabel=f"mean {label}")
        axes.set_ylim(0.0, 1.25 * table["mean"][table["quantity"] == quantity].max())
    return drawing
