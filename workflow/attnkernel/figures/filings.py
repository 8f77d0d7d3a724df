"""Figure of the filings: what each code has taken for a document so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from attnkernel.figures import style

Columns = Mapping[str, NDArray[Any]]

# Compressors are dashed.
_CODES: Final[dict[str, tuple[str, str, str]]] = {
    "kn": ("Kneser–Ney", style.GREY, "-"),
    "mixture": ("Kneser–Ney and the kernel cache", style.SKY, "-"),
    "blend": ("blend", style.BLUE, "-"),
    "zlib": ("zlib", style.GREY, "--"),
    "zstd-22": ("zstd", style.PURPLE, "--"),
    "lzma": ("lzma", style.VERMILION, "--"),
    "bz2": ("bz2", style.ORANGE, "--"),
    "brotli-11": ("brotli and its dictionary", style.GREEN, "--"),
    "ppmd-12": ("PPMd, order 12", style.INK, "--"),
}


def bits_along(growth: Columns, cold: str, companies: Mapping[str, str]) -> Figure:
    """Bits per character of each document's text so far, a panel a document, models solid and compressors dashed.

    Parameters
    ----------
    growth
        Columns of `filing_tables.growth_table`; with no rows the figure says so.
    cold
        What the models were trained on that know no filing: the others are called primed, and drawn lighter.
    companies
        Who filed each document.
    """
    documents = list(dict.fromkeys(growth["document"].tolist()))
    drawing = style.figure(style.DOUBLE, 3.2)
    if not documents:
        drawing.text(0.5, 0.5, "not run: there are no filings", ha="center", va="center", color=style.GREY)
        return drawing
    panels = drawing.subplots(1, len(documents), sharey=True, squeeze=False)[0]
    for axes, document in zip(panels, documents, strict=True):
        for training in dict.fromkeys(growth["training"].tolist()):
            for code, (label, colour, line) in _CODES.items():
                here = (growth["document"] == document) & (growth["training"] == training) & (growth["model"] == code)
                primed = line == "-" and training != cold
                axes.plot(
                    growth["characters"][here],
                    growth["bits_per_character"][here],
                    ":" if primed else line,
                    color=colour,
                    linewidth=1.8 if code == "blend" else 1.1,
                    label=f"{label}, primed" if primed else label,
                ) if here.any() else None
        style.logarithmic(axes, "x")
        axes.set_title(companies[document])
        axes.set_xlabel("characters so far")
    panels[0].set_ylabel("bits per character so far")
    panels[0].set_ylim(0, min(9.0, float(np.nanmax(growth["bits_per_character"])) * 1.05))
    handles, labels = panels[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=5)
    return drawing
