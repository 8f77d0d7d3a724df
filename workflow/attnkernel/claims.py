"""Every published number beside ours: where ours is, what must hold between the two, and whether it does.

A claim is a row of `config/published.csv`. Its `table`, `corpus`, `row` and `column` say where the pipeline computes
the number (`row` is a list of conditions, such as `spectrum=smooth;n=32`, that exactly one row meets); its `test` says
what must hold, in one of these forms, where X is a number, `@id` (what another claim computed), `:column` (another
column of the same row), or a multiple of these such as `0.85*@id`:

    round           the computed number, rounded to the printed digits, is the printed one
    < X, <= X, > X, >= X, = X
    within T        of the published number; `within T of X` of X instead; T may be relative, as in `within 5% of X`
    factor T        within this factor of the published number, either way
    se T MEAN SE    published and computed lie within T standard errors (column SE) of the expectation (column MEAN)
    true            the computed truth value is true
    with @id        another claim, usually a shape, is computed and true
    reported        nothing must hold; the two numbers stand side by side

Forms joined by ` and ` must all hold. A test that ends with ` if @id` binds only where that claim is computed and
true; elsewhere its number is reported: what holds of this project's documents may not hold of others. A claim without a
table belongs to a chapter that is not built.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import numpy as np

from attnkernel.errors import InputError
from attnkernel.table import Columns, Table

FIELDS: Final = [
    "id",
    "section",
    "quantity",
    "published",
    "unit",
    "kind",
    "check",
    "test",
    "table",
    "corpus",
    "row",
    "column",
    "reason",
]
REPRODUCED: Final = "reproduced"
HOLDS: Final = "holds"
REPORTED: Final = "reported"
FAILED: Final = "failed"
NOT_RUN: Final = "not run"
STATUSES: Final = (REPRODUCED, HOLDS, REPORTED, FAILED, NOT_RUN)

_COLUMNS: Final = [
    "id",
    "section",
    "quantity",
    "published",
    "printed",
    "computed",
    "unit",
    "kind",
    "check",
    "test",
    "tolerance",
    "margin",
    "status",
    "corpus",
    "table",
    "row",
    "column",
    "reason",
]
_NUMBERS: Final = ("published", "computed", "tolerance", "margin")
_NO_SOURCE: Final = "no filing could be had; with a source: snakemake --cores 2 --forcerun filings_documents"
_COMPARISONS: Final = ("<=", ">=", "<", ">", "=")


@dataclass(frozen=True)
class Verdict:
    """Whether a form holds, its tolerance, and how far inside (positive) or outside (negative) the number lies."""

    holds: bool
    tolerance: float = math.nan
    margin: float = math.nan


@dataclass(frozen=True)
class _Found:
    value: float = math.nan
    row: Mapping[str, Any] | None = None
    fault: str = ""
    absent: bool = False


def compare(
    claims: Sequence[Mapping[str, str]], tables: Mapping[str, Columns], place: str | Path = "published.csv"
) -> Table:
    """Published and computed numbers with their verdicts, one row a claim; it never fails on a number.

    Parameters
    ----------
    claims
        Rows of `config/published.csv`, with `FIELDS`.
    tables
        Tables by name.
    place
        The file that the claims are from, for messages.

    Raises
    ------
    InputError
        The claims themselves are malformed: a field or id is missing or repeated, or a test has no meaning.
    """
    _check_fields(claims, place)
    found = {claim["id"]: _look_up(claim, tables) for claim in claims}
    try:
        rows = [_judge(claim, found) for claim in claims]
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    return {
        name: np.array([row[name] for row in rows], dtype=np.float64 if name in _NUMBERS else object)
        for name in _COLUMNS
    }


def summary(comparison: Columns) -> str:
    """One line: how many claims have each status."""
    counts = Counter(comparison["status"].tolist())
    return f"{len(comparison['id'])} numbers: " + ", ".join(f"{counts[status]} {status}" for status in STATUSES)


def calibration(comparison: Columns) -> Table:
    """The corpus card of the synthetic corpus: what it was calibrated to, what it is, and how far apart they are.

    Returns
    -------
    One row a number of kind `corpus`: id, quantity, target, ours, deviation, relative (deviation over target),
    tolerance (missing where the deviation is reported only), status.
    """
    here = comparison["kind"] == "corpus"
    target, ours = comparison["published"][here], comparison["computed"][here]
    return {
        "id": comparison["id"][here],
        "quantity": comparison["quantity"][here],
        "target": target,
        "ours": ours,
        "deviation": ours - target,
        "relative": (ours - target) / target,
        "tolerance": comparison["tolerance"][here],
        "status": comparison["status"][here],
    }


def failures(comparison: Columns) -> list[str]:
    """One line for each claim that does not hold."""
    keys = ("id", "printed", "computed", "test", "reason", "status")
    rows = zip(*(comparison[key].tolist() for key in keys), strict=True)
    return [
        f"{identifier}: published {printed or '-'}, computed {computed:.6g}, must hold: {test}"
        + (f" ({reason})" if reason else "")
        for identifier, printed, computed, test, reason, status in rows
        if status == FAILED
    ]


def printed_value(printed: str) -> float:
    """The number behind its printed form; a truth value is 1 or 0, an empty field NaN."""
    truths = {"true": 1.0, "false": 0.0, "": math.nan}
    return truths[printed] if printed in truths else float(printed)


def half_unit(printed: str) -> float:
    """Half a unit in the last printed place: 0.005 of `0.92`, 0.005e-4 of `2.22e-4`."""
    exponent = Decimal(printed).as_tuple().exponent
    return 0.5 * 10.0 ** int(exponent)


def read_claims(path: str | Path) -> list[dict[str, str]]:
    """The rows of a file of claims.

    Raises
    ------
    InputError
        The file is not UTF-8, not CSV, or holds no claim.
    """
    try:
        text = Path(path).read_bytes().decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        wrong = f"0x{error.object[error.start]:02x}"
        raise InputError(f"{path}: not UTF-8 at byte {error.start} ({wrong}); save it as CSV in UTF-8") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); set `published` in the config") from None
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        claims = list(reader)
    except csv.Error as error:
        raise InputError(
            f"{path}, after line {reader.line_num}: not CSV ({error}); quote fields that hold commas, quotes or lines"
        ) from None
    repeated = [name for name, count in Counter(reader.fieldnames or []).items() if count > 1]
    if repeated:
        raise InputError(f"{path}: column {repeated[0]!r} occurs more than once; rename or remove one")
    if not claims:
        raise InputError(f"{path}: there is no number in it; its columns are {', '.join(FIELDS)}")
    return claims


def _check_fields(claims: Sequence[Mapping[str, str]], place: str | Path) -> None:
    for number, claim in enumerate(claims, start=2):
        if None in claim:
            raise InputError(f"{place}, line {number}: more fields than columns; quote a field that holds a comma")
        absent = [field for field in FIELDS if claim.get(field) is None]
        if absent:
            raise InputError(f"{place}, line {number}: column {absent[0]!r} is missing; add it, empty if need be")
        if not _is_printed(claim["published"]):
            raise InputError(
                f"{place}, line {number}: published is {claim['published']!r}; a number, true or false is needed"
            )
        odd = next((part for part in claim["row"].split(";") if part and "=" not in part), None)
        if odd is not None:
            raise InputError(f"{place}, line {number}: the condition {odd!r} has no meaning; write column=value;...")
    repeated = [name for name, count in Counter(claim["id"] for claim in claims).items() if count > 1]
    if repeated:
        raise InputError(f"{place}: id {repeated[0]!r} occurs more than once; rename one of the rows")


def _is_printed(text: str) -> bool:
    try:
        return text == "" or math.isfinite(printed_value(text))
    except ValueError:
        return False


def _look_up(claim: Mapping[str, str], tables: Mapping[str, Columns]) -> _Found:
    name, column = claim["table"], claim["column"]
    if not name:
        return _Found()
    if name not in tables:
        return _Found(fault=f"there is no table {name}")
    table = tables[name]
    # Only the filings depend on what a machine can reach; any other table without rows is a failure.
    if claim["kind"] == "filings" and not any(len(values) for values in table.values()):
        return _Found(absent=True)
    if column not in table:
        return _Found(fault=f"table {name} has no column {column}")
    conditions = [part.split("=", 1) for part in claim["row"].split(";") if part]
    if claim["corpus"]:
        conditions.insert(0, ["corpus", claim["corpus"]])
    keep = np.ones(len(table[column]), dtype=np.bool_)
    for key, wanted in conditions:
        if key not in table:
            return _Found(fault=f"table {name} has no column {key}")
        try:
            keep &= _equals(table[key], wanted)
        except ValueError:
            return _Found(fault=f"column {key} of table {name} holds numbers, and {wanted!r} is none")
    if keep.sum() != 1:
        where = ";".join("=".join(condition) for condition in conditions)
        return _Found(fault=f"{int(keep.sum())} rows of table {name} have {where}")
    row = {key: values[keep].tolist()[0] for key, values in table.items()}
    value = row[column]
    if not isinstance(value, int | float) or math.isnan(value):
        return _Found(row=row, fault=f"table {name} has {value!r} there")
    return _Found(float(value), row)


def _equals(column: Any, wanted: str) -> Any:
    if column.dtype.kind in "OU":
        return column == wanted
    return column == printed_value(wanted)


def _judge(claim: Mapping[str, str], found: Mapping[str, _Found]) -> dict[str, Any]:
    ours = found[claim["id"]]
    result = {
        **claim,
        "printed": claim["published"],
        "published": printed_value(claim["published"]),
        "computed": ours.value,
        "tolerance": math.nan,
        "margin": math.nan,
    }
    if not claim["table"]:
        return {**result, "status": NOT_RUN}
    if ours.absent:
        return {**result, "status": NOT_RUN, "reason": _NO_SOURCE}
    test, _, condition = claim["test"].partition(" if ")
    if condition and not _verdict(f"with {condition}", claim, ours, found).holds:
        return {**result, "status": REPORTED}
    if ours.fault:
        return {**result, "status": FAILED, "reason": ours.fault}
    verdicts = [_verdict(form, claim, ours, found) for form in test.split(" and ")]
    closest = min(verdicts, key=lambda verdict: (verdict.holds, verdict.margin))
    if not all(verdict.holds for verdict in verdicts):
        status = FAILED
    elif _same_digits(claim["published"], ours.value):
        status = REPRODUCED
    else:
        status = REPORTED if test == "reported" else HOLDS
    return {**result, "tolerance": closest.tolerance, "margin": closest.margin, "status": status}


def _same_digits(printed: str, computed: float) -> bool:
    if printed in ("", "true", "false"):
        return bool(printed) and computed == printed_value(printed)
    # The printed number is a decimal: a computed number on the very edge must not fail by binary rounding.
    return abs(computed - float(printed)) <= half_unit(printed) * (1.0 + 1e-9)


def _verdict(form: str, claim: Mapping[str, str], ours: _Found, found: Mapping[str, _Found]) -> Verdict:
    word, *rest = form.split() or [""]
    published = printed_value(claim["published"])
    try:
        if word == "reported":
            return Verdict(True)
        if word == "true":
            return Verdict(ours.value == 1.0)
        if word == "round":
            return _inside(ours.value - published, half_unit(claim["published"]) * (1.0 + 1e-9))
        if word == "with":
            return Verdict(_operand(rest[0], ours, found) == 1.0)
        if word == "within":
            target = _operand(rest[2], ours, found) if rest[1:2] == ["of"] else published
            return _inside(ours.value - target, _tolerance(rest[0], target))
        if word == "factor":
            if ours.value <= 0.0:
                return Verdict(False)
            return _inside(math.log(ours.value / published), math.log(float(rest[0])))
        if word == "se" and ours.row is not None:
            tolerance = float(rest[0]) * ours.row[rest[2]]
            deviations = [value - ours.row[rest[1]] for value in (ours.value, published) if not math.isnan(value)]
            return _inside(max(deviations, key=abs), tolerance)
        if word in _COMPARISONS:
            return _compared(word, ours.value, _operand(rest[0], ours, found))
    except (ArithmeticError, IndexError, KeyError, ValueError, TypeError):
        pass
    raise InputError(f"claim {claim['id']}: the test {form!r} has no meaning; see the test of other rows")


def _inside(deviation: float, tolerance: float) -> Verdict:
    return Verdict(abs(deviation) <= tolerance, tolerance, tolerance - abs(deviation))


def _tolerance(text: str, target: float) -> float:
    return float(text[:-1]) / 100.0 * abs(target) if text.endswith("%") else float(text)


def _operand(text: str, ours: _Found, found: Mapping[str, _Found]) -> float:
    factor, times, operand = text.partition("*")
    if times:
        return float(factor) * _operand(operand, ours, found)
    if text.startswith("@"):
        return found[text[1:]].value
    if text.startswith(":"):
        row: Mapping[str, Any] = ours.row or {}
        return float(row[text[1:]])
    return float(text)


def _compared(sign: str, value: float, bound: float) -> Verdict:
    holds = {
        "<": value < bound,
        "<=": value <= bound,
        ">": value > bound,
        ">=": value >= bound,
        "=": value == bound,
    }[sign]
    distance = bound - value if sign.startswith("<") else value - bound
    return Verdict(holds, bound, -abs(distance) if sign == "=" else distance)
