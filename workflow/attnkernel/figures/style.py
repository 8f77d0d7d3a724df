"""The shared look of every figure, and the saving that gives identical bytes at every run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final, cast

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from attnkernel import table

# Okabe and Ito (2008): distinguishable with every common colour-vision deficiency, and in grey.
BLUE: Final = "#0072B2"
ORANGE: Final = "#E69F00"
GREEN: Final = "#009E73"
VERMILION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"
SKY: Final = "#56B4E9"
GREY: Final = "#777777"
INK: Final = "#222222"

# Column widths of a two-column journal page, in inches.
SINGLE: Final = 3.5
DOUBLE: Final = 7.2

_STYLE: Final[dict[str, Any]] = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.labelsize": 8.5,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 9,
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",  # ships with matplotlib, so it is the same on every machine
    "font.size": 8.5,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "savefig.dpi": 200,
    "svg.fonttype": "path",
    # A fixed salt: element ids would otherwise be random, and the same picture would differ at every run.
    "svg.hashsalt": "attnkernel",
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
}


_RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# What each format would say of when and by what it was written.
_NOT_VOLATILE: Final = {".svg": {"Date": None}, ".png": {"Software": None}, ".pdf": {"CreationDate": None}}


def figure(width: float = SINGLE, height: float = 2.6) -> Figure:
    """An empty figure of the shared style, `width` x `height` inches; no pyplot, which is slow to import."""
    mpl.rcParams.update(cast("Any", _STYLE))
    return Figure(figsize=(width, height))


def power_of_ten(exponent: float) -> str:
    """Write 10 to a whole power in plain characters: mathtext would be parsed anew at every layout, and is slow."""
    return f"10{f'{exponent:.0f}'.translate(_RAISED)}"


def logarithmic(axes: Axes, which: str) -> None:
    """Make the axes named in `which` ("x", "y" or "xy") logarithmic, with a mark at each whole power of ten."""
    for name in which:
        axes.set(**{f"{name}scale": "log"})
        axis = {"x": axes.xaxis, "y": axes.yaxis}[name]
        axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(math.log10(value))))
        axis.set_minor_locator(NullLocator())


def panel_letter(axes: Axes, letter: str) -> None:
    """Mark a panel with a bold letter at its upper left, outside the axes."""
    axes.text(-0.02, 1.03, letter, transform=axes.transAxes, fontweight="bold", ha="right", va="bottom")


def save(drawing: Figure, *paths: str | Path) -> None:
    """Write a figure as .svg, .png or .pdf without dates or random ids: the same figure gives the same bytes.

    It is laid out for the first path, and so drawn for the others.
    """
    for path in map(Path, paths):
        with table.atomic(path, "wb") as file:
            drawing.savefig(file, format=path.suffix[1:], metadata=_NOT_VOLATILE[path.suffix])
        drawing.set_layout_engine("none")
