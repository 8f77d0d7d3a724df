"""Pages from templates and tables: the laboratory, the report, and the summary in the README.

Templates and texts are given as strings; no number stands in them.
"""

from __future__ import annotations

import base64
import fnmatch
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import numpy as np

from attnkernel.claims import FAILED, HOLDS, NOT_RUN, REPORTED, REPRODUCED, STATUSES
from attnkernel.errors import InputError
from attnkernel.table import Columns, Table

SCRIPTS: Final = ("main", "kernel", "charts", "circle", "lookup", "census", "text", "start")
CHARTS: Final = ("smoother", "gains", "risk", "census")

DASH: Final = "–"

_VERBS: Final = {
    REPRODUCED: "come out to the printed digit",
    HOLDS: "hold as they must",
    REPORTED: "stand beside ours",
    FAILED: "do not hold",
    NOT_RUN: "are not run",
}
_CHECKS: Final = {"round": "rounds to the printed digits", "equality": "equal", "true": "true"}
_HEADLINE: Final = (
    "held-out documents",
    "tokens",
    "Kneser–Ney",
    "unigram cache",
    "kernel cache",
    "bigram cache",
    "learned kernel",
    "gain",
    "gain on known words",
)
_COMMENT: Final = re.compile(r"^\s*#\s?(.*)$")
_SETTING: Final = re.compile(r"^(\s*)([\w-]+):([^#]*)(?:#\s*(.*))?$")
_DATA: Final = re.compile(r'<script type="application/json" id="payload">(.*?)</script>', re.DOTALL)


def laboratory(
    template: str, style: str, scripts: Sequence[str], charts: Mapping[str, str], library: str, payload: str
) -> str:
    """The laboratory: one page that holds its style, its scripts, their library and its data.

    Parameters
    ----------
    template, style
        Of the page.
    scripts
        In the order in which they run.
    charts
        Specifications by name, JSON.
    library
        The script that draws them.
    payload
        The data, JSON.
    """
    page: str = (
        _environment()
        .from_string(template)
        .render(
            style=style,
            script="\n".join(scripts),
            charts=_inside_html(json.dumps({name: json.loads(text) for name, text in charts.items()})),
            library=library,
            payload=_inside_html(payload),
            text_corpus=json.loads(payload)["text"]["corpus"],
        )
    )
    return page


def payload_of(page: str) -> Any:
    """The data that a laboratory page holds, read back from the page.

    Raises
    ------
    ValueError
        The page holds none.
    """
    found = _DATA.search(page)
    if found is None:
        raise ValueError("the page holds no data")
    return json.loads(found.group(1))


def harness_table(checks: Mapping[str, bool]) -> Table:
    """Table `harness`: what a check looks at, and whether it holds. Columns: check, holds."""
    return {"check": np.array(list(checks), dtype=object), "holds": np.array(list(checks.values()), dtype=np.bool_)}


def report(
    template: str,
    style: str,
    texts: Mapping[str, Any],
    *,
    claims: Columns,
    tables: Mapping[str, Columns],
    figures: Mapping[str, str],
    config: str,
) -> str:
    """The report of a run: one page, chapter by chapter.

    Parameters
    ----------
    template, style
        Of the page.
    texts
        What `chapters.yaml` holds: chapters, kinds, own, caveats.
    claims
        Table `claims`.
    tables, figures
        By name; figures are SVG. What a chapter names and the run has not made is left out.
    config
        Text of the config, whose comments say what was chosen.
    """
    judged = _judged(claims, texts)
    statuses = Counter(claim["status"] for claim in judged)
    page: str = (
        _environment(autoescape=True)
        .from_string(template)
        .render(
            style=style,
            chapters=[_chapter(chapter, judged, tables, figures) for chapter in texts["chapters"]],
            counts={"total": len(judged), "by_status": [(s, statuses[s]) for s in STATUSES if statuses[s]]},
            caveats=texts["caveats"],
            calibrated=[claim for claim in judged if claim["kind"] == "corpus"],
            chosen=chosen_settings(config),
        )
    )
    return page


def summary(claims: Columns, tables: Mapping[str, Columns]) -> str:
    """The results in short, as Markdown: corpora, statuses by chapter, and the numbers that differ.

    Parameters
    ----------
    claims
        Table `claims`.
    tables
        Tables `corpora` and `heldout`.
    """
    judged = _judged(claims, {"kinds": {}, "own": ""})
    sections = list(dict.fromkeys(claim["section"] for claim in judged))
    statuses = [status for status in STATUSES if any(claim["status"] == status for claim in judged)]
    by_section = [
        [section, *(sum(c["section"] == section and c["status"] == status for c in judged) for status in statuses)]
        for section in sections
    ]
    differing = [
        [f"`{claim['id']}`", claim["quantity"], claim["published"], claim["ours"], claim["why"]]
        for claim in judged
        if claim["why"]
    ]
    parts = [
        "Held-out loss in nats per token; the gain is the dev-chosen kernel's over Kneser–Ney, paired, with its "
        "standard error clustered by document, or by group where a corpus has groups.",
        _markdown(["corpus", *_HEADLINE], _headlines(tables)),
        "Published numbers by status: *reproduced* to the printed digit; *holds*: what must hold does; *reported* "
        "beside ours, held to nothing.",
        _markdown(["section", *statuses], by_section),
    ]
    if differing:
        heads = ["number", "what", "published", "ours", "why"]
        parts += ["Numbers that differ for a reason of their own:", _markdown(heads, differing)]
    return "\n\n".join(parts) + "\n"


def spliced(readme: str, block: str, name: str = "results") -> str:
    """A README with the block between the markers of that name replaced.

    Raises
    ------
    InputError
        It has no markers.
    """
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, opened, rest = readme.partition(start)
    _, closed, after = rest.partition(end)
    if not (opened and closed):
        raise InputError(f"README.md: there is no place for the {name}; put {start} and {end} on lines of their own")
    return f"{before}{start}\n\n{block}\n{end}{after}"


def chosen_settings(config: str) -> list[dict[str, str]]:
    """Settings whose comment, above or beside them, says `(chosen)`: setting (dotted), value, comment."""
    found, path, above = [], list[tuple[int, str]](), list[str]()
    for line in config.splitlines():
        if comment := _COMMENT.match(line):
            above.append(comment.group(1))
            continue
        if setting := _SETTING.match(line):
            indent, name, value, beside = setting.groups()
            path = [(depth, key) for depth, key in path if depth < len(indent)] + [(len(indent), name)]
            said = " ".join([*above, beside or ""]).strip()
            if "(chosen" in said:
                comment_text = said.replace("(chosen) ", "").replace(" (chosen)", "").replace("(chosen)", "")
                found.append(
                    {
                        "setting": ".".join(key for _, key in path),
                        "value": value.strip(),
                        "comment": comment_text.replace("(chosen: ", "("),
                    }
                )
        above = []
    return found


def _inside_html(data: str) -> str:
    r"""JSON that no HTML parser takes for markup: `<` can only stand inside a string, where \u003c is the same."""
    return data.replace("<", r"\u003c")


def _environment(autoescape: bool = False) -> Any:
    import jinja2

    return jinja2.Environment(autoescape=autoescape, undefined=jinja2.StrictUndefined, keep_trailing_newline=True)


def _judged(claims: Columns, texts: Mapping[str, Any]) -> list[dict[str, str]]:
    """Each claim as it is written: id, section, quantity, published, ours, deviation, status, check, why."""
    rows = zip(*(column.tolist() for column in claims.values()), strict=True)
    return [_written(dict(zip(claims, row, strict=True)), texts) for row in rows]


def _written(claim: Mapping[str, Any], texts: Mapping[str, Any]) -> dict[str, str]:
    computed, published, printed = claim["computed"], claim["published"], claim["printed"]
    form = "true" if claim["column"] == "holds" else printed
    compared = printed and published and not math.isnan(computed)
    return {
        **{key: claim[key] or "" for key in ("id", "section", "quantity", "kind", "status")},
        "published": printed or DASH,
        "ours": DASH if math.isnan(computed) else as_printed(computed, form),
        "deviation": f"{100.0 * (computed / published - 1.0):+.1f}%" if compared else "",
        "check": _CHECKS.get(claim["check"], claim["check"]),
        "why": claim["reason"] or _why(claim["status"], claim["kind"], printed, texts),
    }


def _why(status: str, kind: str, printed: str, texts: Mapping[str, Any]) -> str:
    if status in (REPRODUCED, NOT_RUN):
        return ""
    return str(texts["kinds"].get(kind, "") if printed else texts["own"])


def as_printed(computed: float, printed: str) -> str:
    """A number with the digits of the printed one beside it; with four where those would not show it."""
    if printed in ("true", "false"):
        return "true" if computed == 1.0 else "false"
    if not printed:
        return f"{computed:.4g}"
    number = Decimal(printed)
    mantissa, exponent, _ = printed.partition("e")
    if exponent:
        return f"{computed:.{max(len(mantissa.partition('.')[2]), 1)}e}"
    places = max(-int(number.as_tuple().exponent), 0)
    text = f"{computed:.{places}f}"
    return text if float(text) != 0.0 or computed == 0.0 else f"{computed:.3g}"


def _chapter(
    chapter: Mapping[str, Any],
    judged: Sequence[Mapping[str, str]],
    tables: Mapping[str, Columns],
    figures: Mapping[str, str],
) -> dict[str, Any]:
    claims = [claim for claim in judged if claim["section"] in chapter["sections"]]
    statuses = Counter(claim["status"] for claim in claims)
    shown = [table for table in chapter.get("tables", []) if table["name"] in tables]
    drawn = [
        {"name": name, "caption": figure["caption"], "source": _data_address(figures[name])}
        for figure in chapter.get("figures", [])
        for name in sorted(fnmatch.filter(figures, figure["name"]))
    ]
    return {
        "id": re.sub(r"[^a-z0-9]+", "-", chapter["title"].lower()).strip("-"),
        "title": chapter["title"],
        "claim": chapter["claim"],
        "differs": chapter.get("differs", ""),
        "tables": [_html_table(table, tables[table["name"]]) for table in shown],
        "figures": drawn,
        "claims": claims,
        "score": f"Of {len(claims)} numbers "
        + ", ".join(f"{statuses[status]} {_VERBS[status]}" for status in STATUSES if statuses[status])
        + ".",
    }


def _html_table(described: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
    heads = described.get("columns") or {name: name.replace("_", " ") for name in columns}
    where = described.get("where", {})
    absent = [name for name in (*heads, *where) if name not in columns]
    if absent:
        raise InputError(f"chapters.yaml: table {described['name']} has no column {absent[0]!r}; mend it there")
    keep = np.ones(len(next(iter(columns.values()))), dtype=np.bool_)
    for name, values in where.items():
        keep &= np.isin(columns[name].astype(str), values)
    shown = np.flatnonzero(keep)[: described.get("rows")]
    cells = [[_cell(value) for value in columns[name][shown].tolist()] for name in heads]
    return {
        "name": described["name"],
        "caption": described["caption"],
        "heads": [{"text": text, "number": columns[name].dtype.kind in "fi"} for name, text in heads.items()],
        "rows": [list(row) for row in zip(*cells, strict=True)],
    }


def _cell(value: Any) -> dict[str, Any]:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return {"text": DASH, "number": True}
    if isinstance(value, bool):
        return {"text": "yes" if value else "no", "number": False}
    if isinstance(value, int):
        return {"text": f"{value:,}", "number": True}
    if isinstance(value, float):
        return {"text": "∞" if value == math.inf else f"{value:.4g}", "number": True}
    return {"text": str(value), "number": False}


def _data_address(svg: str) -> str:
    """A picture as an address: inside `img` its ids meet those of no other picture."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode("ascii")


def _headlines(tables: Mapping[str, Columns]) -> list[list[Any]]:
    corpora, heldout = tables["corpora"], tables["heldout"]
    lines = []
    for corpus in dict.fromkeys(heldout["corpus"].tolist()):
        card = (corpora["corpus"] == corpus) & (corpora["split"] == "heldout")

        def cell(model: str, column: str, group: str = "all", corpus: str = corpus) -> float:
            here = (heldout["corpus"] == corpus) & (heldout["group"] == group) & (heldout["model"] == model)
            return float(heldout[column][here][0]) if here.any() else math.nan

        models = ("kn", "unigram cache", "mixture", "bigram cache", "learned")
        lines.append(
            [
                corpus,
                *(f"{int(corpora[name][card][0]):,}" for name in ("documents", "tokens")),
                *(_decimals(cell(model, "loss"), 3) for model in models),
                f"{_decimals(cell('mixture', 'gain'), 4)} ± {_decimals(cell('mixture', 'gain_se'), 4)}",
                _decimals(cell("mixture", "gain", "in vocabulary"), 4),
            ]
        )
    return lines


def _decimals(value: float, places: int) -> str:
    return DASH if math.isnan(value) else f"{value:.{places}f}"


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [list(heads), ["---"] * len(heads), *([str(cell).replace("|", r"\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
