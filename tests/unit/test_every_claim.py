"""Verification is able to fail: for every published number, one at a time, what must be caught is caught.

Each claim of config/published.csv gets a table of its own, with a value that meets its test; then one thing is spoilt.
"""

import hashlib
import math
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from attnkernel import claims

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = claims.read_claims(ROOT / "config" / "published.csv")
BY_ID = {claim["id"]: claim for claim in PUBLISHED}
RUN = [claim["id"] for claim in PUBLISHED if claim["table"]]
# Over id and value of each printed number: the transcription is not edited by accident. Renew it with a new number.
NO_NUMBER = ("", "true")
TRANSCRIPTION = "b509770c3c7c4ff75717776df793c7ac43d39b0c27563cc388896753bd7071cf"


def forms(identifier):
    return [form.split() for form in BY_ID[identifier]["test"].split(" and ")]


def mentioned(identifier):
    """Ids of the claims that a claim is held against."""
    words = [word for form in forms(identifier) for word in form if "@" in word]
    return [word.rpartition("@")[2] for word in words]


class Instance:
    """A value for a claim, the columns beside it, and the interval in which the value meets the claim's test."""

    def __init__(self, identifier):
        self.printed = BY_ID[identifier]["published"]
        self.published = claims.printed_value(self.printed)
        self.beside = {}
        self.low, self.high = -math.inf, math.inf
        for word, *rest in forms(identifier):
            low, high = self.interval(word, rest)
            self.low, self.high = max(self.low, low), min(self.high, high)
        self.value = self.inside()

    def anchor(self):
        return 1.0 if math.isnan(self.published) else self.published

    def interval(self, word, rest):
        if word == "true":
            return 1.0, 1.0
        if word == "round":
            return self.around(self.published, claims.half_unit(self.printed))
        if word == "within":
            target = self.operand(rest[2]) if rest[1:] else self.published
            relative = rest[0].endswith("%")
            return self.around(target, float(rest[0].rstrip("%")) * (abs(target) / 100.0 if relative else 1.0))
        if word == "factor":
            edges = self.published / float(rest[0]), self.published * float(rest[0])
            return min(edges), max(edges)
        if word == "se":
            self.beside |= {rest[1]: self.anchor(), rest[2]: 0.01 * abs(self.anchor())}
            return self.around(self.anchor(), float(rest[0]) * self.beside[rest[2]])
        if word in ("<", "<="):
            return -math.inf, self.operand(rest[0])
        if word in (">", ">="):
            return self.operand(rest[0]), math.inf
        if word == "=":
            return (self.operand(rest[0]),) * 2
        assert word in ("with", "reported"), word
        return -math.inf, math.inf

    def operand(self, text):
        factor, times, operand = text.partition("*")
        if times:
            return float(factor) * self.operand(operand)
        if text.startswith("@"):
            return instance(text[1:]).value
        if text.startswith(":"):
            return self.beside.setdefault(text[1:], self.anchor())
        return float(text)

    def inside(self):
        if self.low < self.anchor() < self.high:
            return self.anchor()
        if math.isfinite(self.low) and math.isfinite(self.high):
            return (self.low + self.high) / 2.0
        edge, sign = (self.low, 1.0) if math.isfinite(self.low) else (self.high, -1.0)
        return edge + sign * 0.1 * max(1e-12, abs(edge))

    def around(self, target, tolerance):
        return target - tolerance, target + tolerance

    def outside(self):
        """Values just beyond either end of the interval."""
        ends = [(self.low, -1.0), (self.high, 1.0)]
        return [end + sign * max(1e-6 * abs(end), 1e-15) for end, sign in ends if math.isfinite(end)]


INSTANCES = {}


def instance(identifier):
    if identifier not in INSTANCES:
        INSTANCES[identifier] = Instance(identifier)
    return INSTANCES[identifier]


def table_of(identifier, value):
    claim = BY_ID[identifier]
    row = {"corpus": claim["corpus"]} if claim["corpus"] else {}
    for part in filter(None, claim["row"].split(";")):
        key, wanted = part.split("=", 1)
        row[key] = wanted
    row |= instance(identifier).beside | {claim["column"]: value}
    return {key: np.array([entry], dtype=object if isinstance(entry, str) else None) for key, entry in row.items()}


def judged(identifier, value=None, published=None, spoil=None, others=None):
    """Status and reason of one claim, held against those it mentions."""
    names = closure(identifier)
    tables = {name: table_of(name, (others or {}).get(name, instance(name).value)) for name in names}
    if value is not None:
        tables[identifier] = table_of(identifier, value)
    if spoil is not None:
        spoil(tables)
    given = [{**BY_ID[name], "table": name} for name in names]
    if published is not None:
        given[names.index(identifier)]["published"] = published
    comparison = claims.compare(given, tables)
    at = comparison["id"].tolist().index(identifier)
    return comparison["status"][at], comparison["reason"][at], claims.failures(comparison)


def closure(identifier):
    names, waiting = [], [identifier]
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.append(name)
            waiting += mentioned(name)
    return names


@pytest.mark.parametrize("identifier", RUN)
def test_a_value_that_meets_the_test_passes(identifier):
    assert judged(identifier)[0] != claims.FAILED


@pytest.mark.parametrize("identifier", RUN)
def test_a_computed_value_just_beyond_its_tolerance_is_caught(identifier):
    for value in instance(identifier).outside():
        status, _, failures = judged(identifier, value)
        assert status == claims.FAILED, value
        assert any(line.startswith(f"{identifier}: ") for line in failures)


@pytest.mark.parametrize("identifier", [name for name in RUN if "with" in {form[0] for form in forms(name)}])
def test_a_value_that_stands_with_a_shape_falls_with_it(identifier):
    for shape in (rest[0].removeprefix("@") for word, *rest in forms(identifier) if word == "with"):
        assert judged(identifier, others={shape: 0.0})[0] == claims.FAILED


@pytest.mark.parametrize("identifier", RUN)
def test_a_published_value_off_by_more_than_its_tolerance_is_caught(identifier):
    printed = BY_ID[identifier]["published"]
    shifted = []
    for word, *rest in forms(identifier):
        if word == "round":
            unit = Decimal(1).scaleb(Decimal(printed).as_tuple().exponent)
            shifted += [str(Decimal(printed) + unit), str(Decimal(printed) - unit)]
        if word == "within" and not rest[1:]:
            tolerance = instance(identifier).high - instance(identifier).low
            shifted += [repr(float(printed) + 1.1 * tolerance), repr(float(printed) - 1.1 * tolerance)]
        if word == "factor":
            shifted += [repr(float(printed) * float(rest[0]) ** 2.1), repr(float(printed) / float(rest[0]) ** 2.1)]
        if word == "se" and printed:
            shifted += [repr(instance(identifier).outside()[0]), repr(instance(identifier).outside()[1])]
    for published in shifted:
        assert judged(identifier, published=published)[0] == claims.FAILED, published


def test_every_claim_can_fail_on_its_number_but_those_that_are_only_reported():
    powerless = [name for name in RUN if not instance(name).outside() and "with" not in {f[0] for f in forms(name)}]
    assert [name for name in powerless if BY_ID[name]["test"] != "reported"] == []


@pytest.mark.parametrize("identifier", RUN)
def test_a_missing_table_row_column_or_number_is_caught_with_its_name(identifier):
    column = BY_ID[identifier]["column"]

    def no_table(tables):
        del tables[identifier]

    def no_row(tables):
        tables[identifier] = {name: values[:0] for name, values in tables[identifier].items()}

    def no_column(tables):
        del tables[identifier][column]

    def no_number(tables):
        tables[identifier][column] = np.array([np.nan])

    for spoil, reason in (
        (no_table, f"there is no table {identifier}"),
        (no_row, f"0 rows of table {identifier}"),
        (no_column, f"table {identifier} has no column {column}"),
        (no_number, f"table {identifier} has nan there"),
    ):
        status, found, failures = judged(identifier, spoil=spoil)
        if spoil is no_row and BY_ID[identifier]["kind"] == "filings":
            # Without a filing there is nothing to judge, and that is no failure.
            assert status == claims.NOT_RUN
            continue
        assert status == claims.FAILED
        assert found.startswith(reason)
        assert any(line.startswith(f"{identifier}: ") and reason in line for line in failures)


def test_the_printed_numbers_are_those_that_were_transcribed():
    printed = sorted(
        f"{name}={claim['published']}" for name, claim in BY_ID.items() if claim["published"] not in NO_NUMBER
    )
    assert hashlib.sha256("\n".join(printed).encode()).hexdigest() == TRANSCRIPTION
