import numpy as np
import pytest

from attnkernel import claims
from attnkernel.errors import InputError

TABLES = {
    "circle": {
        "spectrum": np.array(["smooth", "smooth", "rough"], dtype=object),
        "n": np.array([32, 64, 32]),
        "value": np.array([0.9294, 0.7456, np.nan]),
        "expectation": np.array([0.93, 0.7, 0.5]),
        "standard_error": np.array([0.001, 0.01, 0.1]),
        "holds": np.array([True, False, True]),
    }
}


def claim(published, test, row="spectrum=smooth;n=32", column="value", identifier="a", table="circle"):
    values = {
        "id": identifier,
        "published": published,
        "test": test,
        "table": table,
        "row": row,
        "column": column,
    }
    return {field: values.get(field, "") for field in claims.FIELDS}


def status(*given):
    return claims.compare(given, TABLES)["status"].tolist()


@pytest.mark.parametrize(
    ("published", "test", "expected"),
    [
        ("0.929", "round", "reproduced"),
        ("0.930", "round", "failed"),
        ("0.93", "round", "reproduced"),
        ("9.29e-1", "round", "reproduced"),
        ("9.30e-1", "round", "failed"),
        ("1", "<= 1", "reproduced"),
        ("2", "<= 1", "holds"),
        ("2", "<= 0.9", "failed"),
        ("2", "< 0.9294", "failed"),
        ("2", "> 0.9 and < 0.95", "holds"),
        ("2", "> 0.9 and < 0.92", "failed"),
        ("2", "reported", "reported"),
        ("0.94", "within 0.02", "holds"),
        ("0.94", "within 0.01", "failed"),
        ("0.94", "within 2%", "holds"),
        ("0.94", "within 1%", "failed"),
        ("9", "within 0.001 of :expectation", "holds"),
        ("9", "within 0.01% of :expectation", "failed"),
        ("0.5", "factor 2", "holds"),
        ("0.4", "factor 2", "failed"),
        ("0.931", "se 3 expectation standard_error", "holds"),
        ("0.934", "se 3 expectation standard_error", "failed"),
        ("9", "< :expectation", "holds"),
        ("9", "<= 0.99*:expectation", "failed"),
    ],
)
def test_each_form_of_test_holds_and_fails_where_it_should(published, test, expected):
    assert status(claim(published, test)) == [expected]


def test_a_number_may_be_held_against_another_claim():
    other = claim("0.75", "round", row="n=64", identifier="b")
    assert status(claim("9", "> @b"), other) == ["holds", "reproduced"]
    assert status(claim("9", "< @b"), other) == ["failed", "reproduced"]
    assert status(claim("9", "<= 1.3*@b"), other)[0] == "holds"


def test_a_truth_value_must_be_true():
    assert status(claim("true", "true", column="holds")) == ["reproduced"]
    assert status(claim("true", "true", row="n=64", column="holds")) == ["failed"]


def test_a_number_may_stand_or_fall_with_a_shape():
    shape = claim("", "true", column="holds", identifier="shape")
    broken = claim("", "true", row="n=64", column="holds", identifier="shape")
    assert status(claim("9", "with @shape"), shape)[0] == "holds"
    assert status(claim("9", "with @shape"), broken)[0] == "failed"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"table": "none"}, "there is no table none"),
        ({"column": "none"}, "table circle has no column none"),
        ({"row": "place=3"}, "table circle has no column place"),
        ({"row": "n=128"}, "0 rows of table circle have n=128"),
        ({"row": "spectrum=smooth"}, "2 rows of table circle have spectrum=smooth"),
        ({"row": "spectrum=rough"}, "table circle has nan there"),
    ],
)
def test_a_missing_table_row_column_or_number_is_a_failure_with_its_name(change, reason):
    comparison = claims.compare([{**claim("9", "reported"), **change}], TABLES)
    assert comparison["status"].tolist() == ["failed"]
    assert comparison["reason"].tolist() == [reason]
    assert reason in claims.failures(comparison)[0]


def test_a_claim_without_a_table_is_not_run():
    comparison = claims.compare([claim("9", "round", table="")], TABLES)
    assert claims.summary(comparison) == "1 numbers: 0 reproduced, 0 holds, 0 reported, 0 failed, 1 not run"
    assert claims.failures(comparison) == []


def test_the_margin_is_the_distance_to_the_rounding_edge():
    comparison = claims.compare([claim("0.929", "round")], TABLES)
    assert comparison["margin"][0] == pytest.approx(0.0005 - 0.0004)


def test_a_number_on_the_rounding_edge_is_reproduced():
    tables = {"t": {"value": np.array([0.1235])}}
    assert claims.compare([claim("0.123", "round", row="", table="t")], tables)["status"].tolist() == ["reproduced"]


@pytest.mark.parametrize("test", ["about 3", "<=", "within", "< @none", "se 3 a b", "< :none", "", "<= x"])
def test_a_test_without_meaning_is_an_error_that_names_the_claim(test):
    with pytest.raises(InputError, match="claim a: the test"):
        claims.compare([claim("9", test)], TABLES)


def test_malformed_claims_are_named():
    with pytest.raises(InputError, match="line 2: column 'test' is missing"):
        claims.compare([{key: value for key, value in claim("9", "round").items() if key != "test"}], TABLES)
    with pytest.raises(InputError, match="line 2: more fields than columns; quote a field that holds a comma"):
        claims.compare([claim("9", "round") | {None: ["rest"]}], TABLES)
    with pytest.raises(InputError, match="line 2: published is 'many'"):
        claims.compare([claim("many", "round")], TABLES)
    with pytest.raises(InputError, match="id 'a' occurs more than once"):
        claims.compare([claim("9", "round")] * 2, TABLES)


def test_the_calibration_sets_targets_beside_ours():
    rows = [{**claim("0.9", "within 0.05"), "kind": "corpus"}, {**claim("1", "reported"), "id": "b", "kind": "exact"}]
    card = claims.calibration(claims.compare(rows, TABLES))
    assert card["id"].tolist() == ["a"]
    assert card["deviation"][0] == pytest.approx(0.0294)
    assert card["relative"][0] == pytest.approx(0.0294 / 0.9)
    assert card["tolerance"].tolist() == [0.05]


def test_filings_without_a_source_are_not_run_and_say_how_to_run_them():
    empty = {"circle": {"value": np.zeros(0)}}
    given = claim("9", "round", row="")
    comparison = claims.compare([{**given, "kind": "filings"}, {**given, "id": "b", "kind": "exact"}], empty)
    assert comparison["status"].tolist() == ["not run", "failed"]
    assert "--forcerun filings_documents" in comparison["reason"][0]


@pytest.mark.parametrize(("condition", "status"), [("> 1e9", "failed"), ("true if @b", "reported")])
def test_a_test_with_a_condition_binds_only_where_the_condition_is_true(condition, status):
    given = {**claim("1", condition), "published": ""}
    other = {**claim("1", "reported"), "id": "b", "published": ""}
    assert claims.compare([given, other], TABLES)["status"][0] == status
