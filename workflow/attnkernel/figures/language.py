"""Figures of the language chapter: losses over the bandwidth, and where the gain arises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from attnkernel.figures import style

Columns = Mapping[str, NDArray[Any]]


def losses_over_beta(grid: Columns, heldout: Columns) -> Figure:
    """Development and held-out loss over the inverse bandwidth, with bands of one standard error.

    The betas are evenly spaced, as they double; the ends are the unigram and the bigram cache.

    Parameters
    ----------
    grid, heldout
        A corpus's tables `grid` and `heldout`.
    """
    drawing = style.figure(style.DOUBLE, 2.9)
    place = np.arange(len(grid["beta"]))
    star = int(np.flatnonzero(grid["chosen"])[0])
    for axes, split, title in zip(drawing.subplots(1, 2), ("dev", "heldout"), ("Development", "Held out"), strict=True):
        loss, error = grid[split], grid[f"{split}_se"]
        axes.fill_between(place, loss - error, loss + error, color=style.BLUE, alpha=0.15, linewidth=0)
        axes.plot(place, loss, "o-", color=style.BLUE)
        axes.plot(place[star], loss[star], "o", color=style.VERMILION, markersize=7)
        axes.annotate(
            f"chosen, $\\beta$ = {grid['beta'][star]:g}",
            (place[star], loss[star]),
            (0, -14),
            textcoords="offset points",
            ha="center",
            color=style.VERMILION,
        )
        axes.set_xticks(place, [_beta_label(beta) for beta in grid["beta"].tolist()])
        axes.set(title=title, xlabel=r"inverse bandwidth $\beta$", ylabel="loss (nats per token)")
        axes.margins(y=0.25)
        _mark_end(axes, 0, loss[0], "unigram cache", "left", grid["beta"][0] == 0.0)
        _mark_end(axes, place[-1], loss[-1], "bigram cache", "right", np.isinf(grid["beta"][-1]))
    whole = heldout["group"] == "all"
    baseline = float(heldout["loss"][whole & (heldout["model"] == "kn")][0])
    drawing.axes[1].set_title(f"Held out (Kneser–Ney alone: {baseline:.3f})")
    return drawing


def gain_by_distance(distance: Columns) -> Figure:
    """Paired gain on repeats by the distance back to the previous mention, with two standard errors.

    Parameters
    ----------
    distance
        A corpus's table `distance`.
    """
    drawing = style.figure(style.SINGLE, 2.6)
    axes = drawing.subplots()
    scopes = {"all": ("all repeats", style.BLUE, "o"), "in vocabulary": ("known words only", style.ORANGE, "s")}
    for shift, (scope, (label, colour, marker)) in zip((-0.06, 0.06), scopes.items(), strict=True):
        here = distance["scope"] == scope
        place = np.arange(int(here.sum()))
        gain, error = distance["gain"][here], distance["gain_se"][here]
        axes.errorbar(
            place + shift, gain, 2.0 * error, fmt=f"{marker}-", color=colour, capsize=2.5, elinewidth=0.9, label=label
        )
    names = distance["distance"][distance["scope"] == "all"].tolist()
    axes.set_xticks(np.arange(len(names)), [name.replace("-", "–") for name in names])
    axes.set(xlabel="tokens back to the previous mention", ylabel="gain (nats per token)")
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    axes.margins(x=0.12)
    axes.legend()
    return drawing


def _beta_label(beta: float) -> str:
    return {0.5: "½", float("inf"): "∞"}.get(beta, f"{beta:g}")


def _mark_end(axes: Axes, x: float, y: float, name: str, side: str, is_end: bool) -> None:
    if is_end:
        offset = (2, 9) if side == "left" else (-2, 9)
        axes.annotate(name, (x, y), offset, textcoords="offset points", ha=side, fontsize=7.5, color=style.INK)
