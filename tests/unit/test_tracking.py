import os

import numpy as np
import pytest

from attnkernel import tracking
from attnkernel.seeding import seed_sequence


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package of three modules, of which `top` imports `middle` and `middle` imports `bottom` in a function."""
    folder = tmp_path / "attnkernel"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "inner" / "__init__.py").write_text("")
    (folder / "top.py").write_text("from attnkernel import middle\nX = 1\n")
    (folder / "middle.py").write_text("def f():\n    from attnkernel.inner.bottom import y\n    return y\n")
    (folder / "inner" / "bottom.py").write_text('"""Doc."""\n\n\ndef y():\n    """Doc."""\n    return 1\n')
    (folder / "alone.py").write_text("import numpy\n")
    monkeypatch.setattr(tracking, "PACKAGE_FOLDER", folder)
    clear()
    yield folder
    clear()


def clear():
    tracking._kept.cache_clear()
    tracking._read.cache_clear()
    tracking._parsed.clear()


def edited(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    clear()


def test_imports_are_followed_through_modules_and_functions(package):
    assert tracking.modules_of("attnkernel.top") == [
        "attnkernel",
        "attnkernel.inner",
        "attnkernel.inner.bottom",
        "attnkernel.middle",
        "attnkernel.top",
    ]


def test_an_edit_changes_the_digest_of_users_and_of_nobody_else(package):
    before = {name: tracking.code_digest(f"attnkernel.{name}") for name in ("top", "middle", "alone")}
    edited(package / "inner" / "bottom.py", "return 1", "return 2")
    after = {name: tracking.code_digest(f"attnkernel.{name}") for name in before}
    assert [name for name in before if before[name] != after[name]] == ["top", "middle"]


def test_comments_docstrings_and_layout_change_nothing(package):
    before = tracking.code_digest("attnkernel.top")
    edited(package / "inner" / "bottom.py", '"""Doc."""', '"""Another."""')
    edited(package / "inner" / "bottom.py", "return 1", "return (\n        1\n    )  # why")
    assert tracking.code_digest("attnkernel.top") == before


def test_a_string_that_is_no_docstring_counts(package):
    before = tracking.code_digest("attnkernel.top")
    edited(package / "inner" / "bottom.py", "return 1", 'return "1"')
    assert tracking.code_digest("attnkernel.top") != before


def test_an_import_is_found_in_every_kind_of_statement(package):
    places = (
        "if 1:\n    pass\nelse:\n    {}\n",
        "try:\n    pass\nexcept ValueError:\n    {}\n",
        "try:\n    pass\nfinally:\n    {}\n",
        "with open('x'):\n    {}\n",
        "for i in ():\n    pass\nelse:\n    {}\n",
        "match 1:\n    case 1:\n        {}\n",
        "class A:\n    async def f(self):\n        {}\n",
    )
    for place in places:
        (package / "alone.py").write_text(place.format("from attnkernel.inner import bottom"))
        clear()
        assert "attnkernel.inner.bottom" in tracking.modules_of("attnkernel.alone"), place


def test_a_script_counts_with_what_it_imports(package, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from attnkernel import top\n")
    before = tracking.code_digest(script)
    edited(package / "inner" / "bottom.py", "return 1", "return 2")
    between = tracking.code_digest(script)
    edited(script, "import top", "import top as t")
    assert len({before, between, tracking.code_digest(script)}) == 3


def test_what_cannot_be_tracked_is_refused(package):
    with pytest.raises(ValueError, match="no such file to track"):
        tracking.code_digest("attnkernel.nowhere")
    (package / "top.py").write_text("from . import middle\n")
    clear()
    with pytest.raises(ValueError, match=r"top\.py:1: a relative import"):
        tracking.code_digest("attnkernel.top")


def test_a_job_keeps_its_stream_whatever_other_jobs_there_are():
    state = seed_sequence(1, "census").generate_state(4)
    np.testing.assert_array_equal(seed_sequence(1, "census").generate_state(4), state)
    others = [seed_sequence(2, "census"), seed_sequence(1, "training"), seed_sequence(1, "census", "0")]
    assert all((other.generate_state(4) != state).any() for other in others)


@pytest.fixture
def record(package, tmp_path, monkeypatch):
    """Where what was read is kept; the files that are parsed are listed in it."""
    monkeypatch.setattr(tracking, "_RECORD", tmp_path / "record.json")
    parsed, parse = [], tracking._parse
    monkeypatch.setattr(tracking, "_parse", lambda path: parsed.append(path.name) or parse(path))
    tracking.code_digest("attnkernel.top")
    tracking.remember()
    parsed.clear()
    clear()
    return parsed


def test_what_was_read_is_not_parsed_again_by_another_process(record):
    tracking.code_digest("attnkernel.top")
    assert record == []


def test_an_edit_that_sets_back_the_time_is_seen(package, record):
    before, path = tracking.code_digest("attnkernel.top"), package / "inner" / "bottom.py"
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    edited(path, "return 1", "return 2")
    os.utime(path, ns=times)
    assert tracking.code_digest("attnkernel.top") != before
    assert record == ["bottom.py"]


def test_a_module_that_appears_is_followed_though_its_importer_is_not_parsed_again(package, record):
    edited(package / "alone.py", "import numpy", "from attnkernel import later")
    assert "attnkernel.later" not in tracking.modules_of("attnkernel.alone")
    tracking.remember()
    (package / "later.py").write_text("")
    clear()
    assert "attnkernel.later" in tracking.modules_of("attnkernel.alone")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"by": 1, "files": {}}'])
def test_a_spoilt_record_is_made_anew(record, text):
    digest = tracking.code_digest("attnkernel.top")
    tracking._RECORD.write_text(text)
    clear()
    assert tracking.code_digest("attnkernel.top") == digest
    assert "top.py" in record
