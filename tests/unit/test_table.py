import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attnkernel import table
from attnkernel.errors import InputError

ORIGIN = {"rule": "test", "params": {"beta": "inf"}}


def assert_same(ours, reference):
    assert list(ours) == list(reference)
    for name, column in reference.items():
        np.testing.assert_array_equal(np.ma.getmaskarray(ours[name]), np.ma.getmaskarray(column), err_msg=name)
        np.testing.assert_array_equal(ours[name], column, err_msg=name)


@pytest.fixture
def columns():
    return {
        "name": np.array(["naïve", None, ""], dtype=object),
        "value": np.array([1.5, np.nan, -0.0]),
        "count": np.ma.MaskedArray([2**62 + 1, 0, -3], [False, True, False]),
        "flag": np.array([True, False, True]),
        "vector": np.arange(6.0).reshape(3, 2),
    }


def test_what_is_written_is_read_back(tmp_path, columns):
    table.write(tmp_path / "a.parquet", columns, ORIGIN)
    assert_same(table.read(tmp_path / "a.parquet"), columns)


def test_an_empty_table_keeps_its_columns(tmp_path):
    columns = {"name": np.array([], dtype=object), "value": np.zeros(0), "count": np.zeros(0, np.int64)}
    table.write(tmp_path / "a.parquet", columns, ORIGIN)
    assert_same(table.read(tmp_path / "a.parquet"), columns)
    assert table.read_codes(tmp_path / "a.parquet", "name")[1] == []


def test_only_the_named_columns_are_read_in_the_order_asked(tmp_path, columns):
    table.write(tmp_path / "a.parquet", columns, ORIGIN)
    assert list(table.read(tmp_path / "a.parquet", ["flag", "name"])) == ["flag", "name"]


def test_integers_with_nulls_stay_exact_beyond_the_floats(tmp_path, columns):
    table.write(tmp_path / "a.parquet", columns, ORIGIN)
    assert table.read(tmp_path / "a.parquet")["count"][0] == 2**62 + 1


def test_a_nan_is_stored_as_null(tmp_path, columns):
    table.write(tmp_path / "a.parquet", columns, ORIGIN)
    assert pq.read_table(tmp_path / "a.parquet").column("value").null_count == 1


def test_other_readers_see_the_same_values(tmp_path, columns):
    table.write(tmp_path / "a.parquet", columns, ORIGIN)
    other = pq.read_table(tmp_path / "a.parquet").to_pydict()
    assert other["name"] == ["naïve", None, ""]
    assert other["count"] == [2**62 + 1, None, -3]
    assert other["flag"] == [True, False, True]
    assert other["vector"] == [[0, 1], [2, 3], [4, 5]]


def test_parquet_of_other_tools_is_read(tmp_path):
    frame = pd.DataFrame(
        {"text": pd.Categorical(["b", "a", "b"]), "n": pd.array([1, None, 3], "Int32")}, index=[7, 8, 9]
    )
    frame.to_parquet(tmp_path / "pandas.parquet", row_group_size=2)
    ours = table.read(tmp_path / "pandas.parquet")
    assert list(ours) == ["text", "n"]
    assert ours["text"].tolist() == ["b", "a", "b"]
    assert ours["n"].tolist() == [1, None, 3]


def test_plain_and_dictionary_columns_give_the_same_codes(tmp_path):
    strings = ["b", "a", "b", "c"]
    for kind in (pa.string(), pa.dictionary(pa.int8(), pa.string()), pa.large_string()):
        pq.write_table(pa.table({"token": pa.array(strings, kind)}), tmp_path / "a.parquet", row_group_size=2)
        codes, values = table.read_codes(tmp_path / "a.parquet", "token")
        assert [values[code] for code in codes] == strings


def test_a_sliced_column_is_read_at_its_offset(tmp_path):
    sliced = pa.table({"n": pa.array([1, None, 3, None, 5]), "b": pa.array([True, None, False, True, None])}).slice(
        1, 3
    )
    pq.write_table(sliced, tmp_path / "a.parquet")
    ours = table.read(tmp_path / "a.parquet")
    assert ours["n"].tolist() == [None, 3, None]
    assert ours["b"].tolist() == [None, False, True]


def test_a_missing_file_or_column_is_named(tmp_path, columns):
    with pytest.raises(InputError, match=r"none\.parquet: there is no such file"):
        table.read(tmp_path / "none.parquet")
    table.write(tmp_path / "a.parquet", columns, ORIGIN)
    with pytest.raises(InputError, match=r"a\.parquet: column 'beta' is missing; it has name, value"):
        table.read(tmp_path / "a.parquet", ["beta"])
    with pytest.raises(InputError, match="not strings"):
        table.read_codes(tmp_path / "a.parquet", "flag")


def test_a_file_that_is_not_parquet_is_named(tmp_path):
    for content in (b"", b"plain text, no Parquet"):
        (tmp_path / "a.parquet").write_bytes(content)
        with pytest.raises(InputError, match=r"a\.parquet: not a readable Parquet file"):
            table.read(tmp_path / "a.parquet")


def test_columns_of_different_length_or_odd_type_are_refused(tmp_path):
    with pytest.raises(ValueError, match="differ in length"):
        table.write(tmp_path / "a.parquet", {"a": np.zeros(2), "b": np.zeros(3)}, ORIGIN)
    with pytest.raises(ValueError, match="complex"):
        table.write(tmp_path / "a.parquet", {"a": np.zeros(2, complex)}, ORIGIN)
    with pytest.raises(ValueError, match="mixes strings with int"):
        table.write(tmp_path / "a.parquet", {"a": np.array(["x", 1], dtype=object)}, ORIGIN)
    assert list(tmp_path.iterdir()) == []


def test_the_origin_travels_with_the_table(tmp_path, columns):
    table.write(tmp_path / "a.parquet", columns, ORIGIN)
    origin = table.origin(tmp_path / "a.parquet")
    assert origin["rule"] == "test"
    assert origin["content"] == table.content_hash(columns)


def test_the_same_table_gives_the_same_bytes(tmp_path, columns):
    for name in "ab":
        table.write(tmp_path / f"{name}.parquet", columns, ORIGIN)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_a_table_is_the_same_however_it_is_cut(tmp_path, columns):
    pieces = [
        {name: column[part] for name, column in columns.items()} for part in (slice(0, 1), slice(1, 1), slice(1, 3))
    ]
    assert table.write_pieces(tmp_path / "a.parquet", iter(pieces), ORIGIN) == 3
    assert_same(table.read(tmp_path / "a.parquet"), columns)
    assert table.origin(tmp_path / "a.parquet") == {**ORIGIN, "content": table.content_hash(columns)}
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_no_piece_and_pieces_of_another_kind_are_refused(tmp_path, columns):
    with pytest.raises(ValueError, match="no piece"):
        table.write_pieces(tmp_path / "a.parquet", [], ORIGIN)
    with pytest.raises(ValueError, match="different columns"):
        table.write_pieces(tmp_path / "a.parquet", [columns, {"name": columns["name"]}], ORIGIN)
    assert list(tmp_path.iterdir()) == []


def test_the_content_hash_follows_values_and_names_only(tmp_path, columns):
    table.write(tmp_path / "a.parquet", columns, ORIGIN)
    reference = table.content_hash(columns)
    assert table.content_hash(table.read(tmp_path / "a.parquet")) == reference
    for name, change in (("name", "x"), ("value", 2.5), ("count", 7), ("flag", False)):
        changed = {key: column.copy() for key, column in columns.items()}
        changed[name][0] = change
        assert table.content_hash(changed) != reference, name
    renamed = {("other" if key == "flag" else key): column for key, column in columns.items()}
    assert table.content_hash(renamed) != reference


def test_an_error_while_writing_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError), table.atomic(path, "w") as file:
        file.write("half \ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_csv_twin_gives_every_float_back(tmp_path):
    values = np.array([0.1 + 0.2, 1e-300, np.inf, np.nan, np.pi])
    table.write_csv(tmp_path / "a.csv", {"value": values, "name": np.array(["a,b", 'q"', None, "", "ü"], dtype=object)})
    frame = pd.read_csv(tmp_path / "a.csv")
    np.testing.assert_array_equal(frame["value"], values)
    assert frame["name"].tolist()[:2] == ["a,b", 'q"']


def test_tables_are_stacked_only_if_their_columns_agree():
    stacked = table.concatenate([{"a": np.array([1])}, {"a": np.ma.MaskedArray([2], [True])}])
    assert stacked["a"].tolist() == [1, None]
    with pytest.raises(ValueError, match="different columns"):
        table.concatenate([{"a": np.zeros(1)}, {"b": np.zeros(1)}])


def test_reading_and_writing_do_not_import_pandas(tmp_path):
    import subprocess
    import sys

    code = (
        "import sys, numpy as np; from attnkernel import table\n"
        f"path = {str(tmp_path / 'a.parquet')!r}\n"
        "table.write(path, {'a': np.arange(3.0), 's': np.array(['x', 'y', 'x'], object), 'n': np.arange(3),"
        " 'b': np.ones(3, bool), 'v': np.ones((3, 2))}, {})\n"
        "table.read(path); table.read_codes(path, 's'); assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
