"""Figures of the language chapter: losses over the bandwidth, gains by distance, learning, random features."""

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
    """Loss of the mixture at each beta on both splits, with bands of one clustered standard error.

    Parameters
    ----------
    grid
        Columns of `evaluate.beta_grid`: beta, lambda, dev, dev_se, heldout, heldout_se, chosen.
    heldout
        Columns group, model and loss, of which the row `all`, `kn` is drawn as the level to beat.
    """
    drawing = style.figure(style.SINGLE, 2.9)
    axes = drawing.subplots()
    # Steps of beta are steps of the axis: its ends, 0 and infinity, have no place on a scale.
    x = np.arange(len(grid["beta"]))
    for split, label, colour in (("dev", "development", style.ORANGE), ("heldout", "held out", style.BLUE)):
        loss, se = grid[split], grid[f"{split}_se"]
        axes.fill_between(x, loss - se, loss + se, color=colour, alpha=0.15, linewidth=0)
        axes.plot(x, loss, "o-", color=colour, label=label)
    kneser_ney = heldout["loss"][(heldout["group"] == "all") & (heldout["model"] == "kn")]
    axes.axhline(float(kneser_ney[0]), color=style.GREY, linestyle="--", label="Kneser–Ney alone, held out")

    row = int(np.flatnonzero(grid["chosen"])[0])
    axes.plot(x[row], grid["heldout"][row], "o", markersize=9, markerfacecolor="none", color=style.BLUE)
    axes.axvline(x[row], color=style.GREY, linestyle=":", linewidth=0.8, zorder=0)
    axes.annotate(
        f"chosen on development: β = {_number(grid['beta'][row])}, λ = {grid['lambda'][row]:.2f}",
        (0.5, 0.03),
        xycoords="axes fraction",
        ha="center",
        va="bottom",
        fontsize=7.5,
        color=style.INK,
    )
    low, high = axes.get_ylim()
    axes.set_ylim(low - 0.12 * (high - low), high)
    axes.set_xticks(x, [_end_label(beta) for beta in grid["beta"]])
    axes.set_xlabel("inverse bandwidth β")
    axes.set_ylabel("loss (nats per token)")
    _legend_above(drawing, axes)
    return drawing


def gain_by_distance(distance: Columns) -> Figure:
    """Paired gain over Kneser-Ney on repeats, by the distance back to the previous mention, with one standard error.

    Parameters
    ----------
    distance
        Columns scope (all; in vocabulary), distance (such as 1-12), share (of the scope's repeats), gain, gain_se (nats
        per token).
    """
    drawing = style.figure(style.SINGLE, 2.6)
    axes = drawing.subplots()
    axes.axhline(0.0, color=style.INK, linewidth=0.6)
    looks = {"all": (-0.2, style.BLUE, "all repeats"), "in vocabulary": (0.2, style.SKY, "of known words")}
    for scope, (shift, colour, label) in looks.items():
        here = distance["scope"] == scope
        x, gain, error = np.arange(here.sum()) + shift, distance["gain"][here], distance["gain_se"][here]
        axes.bar(x, gain, width=0.36, color=colour, label=label)
        axes.errorbar(x, gain, error, fmt="none", ecolor=style.INK, elinewidth=1.0, capsize=3)
    whole = distance["scope"] == "all"
    labels = [
        f"{name.replace('-', '–')}\n{share:.0%} of repeats"
        for name, share in zip(distance["distance"][whole], distance["share"][whole], strict=True)
    ]
    axes.set_xticks(np.arange(len(labels)), labels)
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("tokens back to the previous mention")
    axes.set_ylabel("gain over Kneser–Ney\n(nats per token)")
    _legend_above(drawing, axes)
    return drawing


def learned_epochs(epochs: Columns) -> Figure:
    """Training of the learned kernel: pointer losses, and what the mixture makes of them on development.

    Parameters
    ----------
    epochs
        Columns of `pointer.epoch_table`: epoch, train, dev (pointer losses), dev_mixture, lambda, chosen.
    """
    drawing = style.figure(style.DOUBLE, 2.6)
    left, right = drawing.subplots(1, 2)
    epoch = epochs["epoch"]
    for split, label, colour in (("train", "training", style.VERMILION), ("dev", "development", style.ORANGE)):
        left.plot(epoch, epochs[split], "o-", color=colour, label=label)
    left.set_ylabel("pointer loss (nats per repeat)")
    left.legend()
    right.plot(epoch, epochs["dev_mixture"], "o-", color=style.ORANGE)
    row = int(np.flatnonzero(epochs["chosen"])[0])
    right.axvline(epoch[row], color=style.GREY, linestyle="--", linewidth=1.0)
    right.annotate(
        f"chosen: epoch {epoch[row]}, λ = {epochs['lambda'][row]:.2f}",
        (epoch[row], 0.97),
        xycoords=("data", "axes fraction"),
        xytext=(-4 if row > len(epoch) / 2 else 4, 0),
        textcoords="offset points",
        ha="right" if row > len(epoch) / 2 else "left",
        va="top",
        fontsize=7.5,
        color=style.GREY,
    )
    right.set_ylabel("mixture loss, development\n(nats per token)")
    for letter, axes in zip("AB", (left, right), strict=True):
        axes.set_xticks(epoch[:: max(1, len(epoch) // 6)])
        axes.set_xlabel("epoch (0: the fixed kernel)")
        style.panel_letter(axes, letter)
    return drawing


def feature_errors(features: Columns) -> Figure:
    """Total variation between attention through random features and exact attention.

    Parameters
    ----------
    features
        Columns of `random_features.total_variation`: beta, features, total_variation, se.
    """
    drawing = style.figure(style.SINGLE, 2.8)
    axes = drawing.subplots()
    colours = (style.SKY, style.BLUE, style.GREEN, style.ORANGE, style.VERMILION, style.PURPLE, style.GREY)
    betas = np.unique(features["beta"])
    for beta, colour in zip(betas, np.resize(colours, len(betas)), strict=True):
        mine = features["beta"] == beta
        m, error = features["features"][mine], features["total_variation"][mine]
        axes.errorbar(m, error, features["se"][mine], fmt="o-", color=colour, elinewidth=0.8)
        axes.annotate(
            f"β = {_number(beta)}",
            (m[-1], error[-1]),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            color=colour,
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    sizes = np.unique(features["features"])
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    ticks = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
    low, high = axes.get_ylim()
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_ylim(low, high)
    axes.set_xlim(sizes[0] / 1.3, sizes[-1] * 3.2)
    axes.set_xlabel("random features m")
    axes.set_ylabel("mean total variation")
    return drawing


def worth(table: Columns) -> Figure:
    """What each cache gains over Kneser-Ney on every corpus, with bars of two standard errors.

    Parameters
    ----------
    table
        Columns of `worth.worth_table`.
    """
    rows = np.arange(len(table["corpus"]))[::-1]
    drawing = style.figure(style.DOUBLE, 1.3 + 0.45 * len(rows))
    panels = drawing.subplots(1, 2, sharey=True)
    models = (
        ("unigram", "unigram cache", "s", style.SKY),
        ("bigram", "bigram cache", "D", style.ORANGE),
        ("kernel", "kernel cache", "o", style.BLUE),
        ("learned", "learned kernel", "^", style.VERMILION),
    )
    for axes, prefix, letter, title in zip(panels, ("", "known_"), "AB", ("all tokens", "known words"), strict=True):
        for place, (name, label, marker, colour) in zip((0.24, 0.08, -0.08, -0.24), models, strict=True):
            gain, se = (table[f"{prefix}{name}_{part}"] for part in ("gain", "gain_se"))
            axes.errorbar(
                gain, rows + place, xerr=2.0 * se, fmt=marker, color=colour, markersize=4, elinewidth=1.0, label=label
            )
        axes.axvline(0.0, color=style.INK, linewidth=0.6)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(f"gain over Kneser–Ney, {title}\n(nats per token)")
        style.panel_letter(axes, letter)
    labels = [f"{name}\n{tokens:,} tokens" for name, tokens in zip(table["corpus"], table["tokens"], strict=True)]
    panels[0].set_yticks(rows, labels)
    panels[0].set_ylim(-0.6, len(rows) - 0.4)
    handles, names = panels[0].get_legend_handles_labels()
    drawing.legend(handles, names, loc="outside upper center", ncols=4)
    return drawing


def _number(beta: float) -> str:
    return "∞" if np.isinf(beta) else f"{beta:g}"


def _end_label(beta: float) -> str:
    """Tick label of a beta; the two ends of the bandwidth carry the names of the models that they are."""
    ends = {0.0: "\nunigram\ncache", np.inf: "\nbigram\ncache"}
    return _number(beta) + ends.get(float(beta), "")


def _legend_above(drawing: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    drawing.legend(
        handles, labels, loc="outside upper left", ncols=3, columnspacing=1.0, handlelength=1.4, fontsize=6.8
    )
