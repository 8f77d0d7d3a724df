"""Pages from templates and tables: nothing typed in, nothing lost, the same bytes every time."""

import copy
import csv
import json
import re
import runpy
from pathlib import Path

import nbformat
import numpy as np
import pytest
import yaml

import small_run
from attnkernel import claims, render
from attnkernel.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
PAGE, REPORT, NOTEBOOK = (ROOT / "workflow" / name for name in ("page", "report", "notebook"))
TEXTS = yaml.safe_load((REPORT / "chapters.yaml").read_text(encoding="utf-8"))


def page(data):
    return small_run.page_of(ROOT, data, library="window.vegaEmbed = null;")


def test_the_page_holds_its_data_exactly(small):
    assert render.payload_of(page(small.data)) == small.data
    with pytest.raises(ValueError, match="no data"):
        render.payload_of("<html></html>")


def test_no_token_of_a_document_can_end_the_data_or_become_markup(small):
    data = copy.deepcopy(small.data)
    data["documents"][0]["token"][0] = "</script><script>alert(1)</script><!--"
    made = page(data)
    assert render.payload_of(made) == data
    assert made.count("<script>alert") == 0


def test_the_page_names_no_address_to_load_from(small):
    made = page(small.data)
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!data:)""", made)
    assert "default-src 'none'" in made


def comparison():
    rows = [
        ("a.exact", "A weighted lookup", "a digit", "0.929", "exact", "round", "round", "numbers", "k=1", "value"),
        ("a.shape", "This project", "a shape", "", "language", "true", "true", "numbers", "k=1", "holds"),
        ("a.draw", "A weighted lookup", "a draw", "1.50", "montecarlo", "any", "reported", "numbers", "k=2", "value"),
        ("a.absent", "Overview", "a missing part", "2", "filings", "any", "reported", "", "", ""),
    ]
    names = ("id", "section", "quantity", "published", "kind", "check", "test", "table", "row", "column")
    published = [dict(zip(names, row, strict=True)) | {"unit": "", "corpus": "", "reason": ""} for row in rows]
    published[2]["reason"] = "another | draw <of ours>"
    tables = {
        "numbers": {
            "k": np.array([1, 2]),
            "value": np.array([0.92874, 1.75]),
            "holds": np.array([True, False]),
        }
    }
    return claims.compare(published, tables)


def report(**changes):
    figures = {"circle_gains": "<svg xmlns='http://www.w3.org/2000/svg'/>"}
    tables = {"harness": {"check": np.array(["payload"], dtype=object), "holds": np.array([True])}}
    arguments = {"texts": TEXTS, "claims": comparison(), "tables": tables, "figures": figures, "config": "a: 1\n"}
    return render.report(
        (REPORT / "report.html.j2").read_text(encoding="utf-8"),
        (REPORT / "report.css").read_text(encoding="utf-8"),
        **(arguments | changes),
    )


def test_the_report_is_the_same_bytes_every_time():
    assert report() == report()


def test_the_report_puts_ours_beside_the_published_with_status_and_reason():
    made = report()
    row = re.search(r"<tr><td>a digit.*?</tr>", made, re.DOTALL).group()
    assert re.findall(r'"number">([^<]*)<', row) == ["0.929", "0.929"]
    assert "reproduced" in row
    assert "rounds to the printed digits" in row
    assert "another | draw &lt;of ours&gt;" in made  # escaped, not interpreted
    assert "not run" in made
    assert "data:image/svg+xml;base64," in made
    assert 'src="http' not in made


def test_a_table_of_a_chapter_keeps_the_rows_and_columns_that_it_names():
    table = {"k": np.array(["a", "b", "a"], dtype=object), "x": np.array([0.1234, np.nan, np.inf]), "y": np.arange(3)}
    described = {"name": "t", "caption": "c", "columns": {"x": "ξ"}, "where": {"k": ["a"]}}
    texts = {**TEXTS, "chapters": [{"title": "One", "claim": "", "sections": [], "tables": [described]}]}
    made = report(texts=texts, tables={"t": table})
    assert re.findall(r'<td class="number">(.*?)</td>', made.partition("Caveats</h2>")[0]) == ["0.1234", "∞"]
    described["rows"] = 1
    assert "∞" not in report(texts=texts, tables={"t": table})
    described["columns"]["z"] = "ζ"
    with pytest.raises(InputError, match="table t has no column 'z'"):
        report(texts=texts, tables={"t": table})


def test_every_chapter_of_the_published_numbers_is_in_the_report():
    sections = {section for chapter in TEXTS["chapters"] for section in chapter["sections"]}
    published = (ROOT / "config" / "published.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert {row[1] for row in csv.reader(published)} <= sections


def test_no_result_is_typed_into_a_template_a_text_or_the_notebook():
    with (ROOT / "config" / "published.csv").open(encoding="utf-8", newline="") as file:
        printed = {row["published"] for row in csv.DictReader(file)}
    results = {number for number in printed if re.fullmatch(r"\d+\.\d{2,}(e-?\d+)?|\d{4,}", number)}
    assert len(results) > 50
    places = [PAGE / "index.html.j2", *PAGE.glob("*.js"), REPORT / "report.html.j2", REPORT / "chapters.yaml"]
    cells = json.loads((NOTEBOOK / "companion.ipynb").read_text(encoding="utf-8"))["cells"]
    texts = {str(path): path.read_text(encoding="utf-8") for path in places}
    texts["notebook"] = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    texts |= {"readme": re.sub(r"<!-- (\w+) -->.*?<!-- /\1 -->", "", (ROOT / "README.md").read_text(), flags=re.S)}
    for place, text in texts.items():
        found = results & set(re.findall(r"(?<![\w.])\d+\.?\d*(?:e-?\d+)?(?![\w.]*\d)", text))
        assert not found, f"{place} has {found}"


def test_digits_are_those_of_the_printed_number():
    assert render.as_printed(0.92874, "0.929") == "0.929"
    assert render.as_printed(2.9175e-4, "2.22e-4") == "2.92e-04"
    assert render.as_printed(3.0, "12") == "3"
    assert render.as_printed(1.0, "true") == "true"
    assert render.as_printed(0.0, "false") == "false"
    assert render.as_printed(1.4e-17, "0") == "1.4e-17"
    assert render.as_printed(0.123456, "") == "0.1235"


def test_a_chosen_setting_is_found_with_its_place_value_and_comment():
    config = """
# Shares (chosen: the article is silent).
splits:
  train: 0.7
language:
  vectors:
    dimensions: 50 # (chosen) enough
    plain: 1 # a comment
  # (chosen) Converged
  # by then.
  steps: 4000
"""
    assert [tuple(row.values()) for row in render.chosen_settings(config)] == [
        ("splits", "", "Shares (the article is silent)."),
        ("language.vectors.dimensions", "50", "enough"),
        ("language.steps", "4000", "Converged by then."),
    ]


def test_every_chosen_setting_of_the_config_is_found():
    config = (ROOT / "config" / "config.yaml").read_text(encoding="utf-8")
    # The first line of the file explains the mark.
    assert len(render.chosen_settings(config)) >= config.count("(chosen") - 1 - config.count("(chosen)\n  # (chosen)")


def headlines():
    models = ["kn", "mixture", "mixture"]
    return {
        "corpora": {
            "corpus": np.array(["toy"], dtype=object),
            "split": np.array(["heldout"], dtype=object),
            "documents": np.array([95]),
            "tokens": np.array([16892]),
        },
        "heldout": {
            "corpus": np.array(["toy"] * 3, dtype=object),
            "group": np.array(["all", "all", "in vocabulary"], dtype=object),
            "model": np.array(models, dtype=object),
            "loss": np.array([2.855, 2.828, 2.7]),
            "gain": np.array([0.0, 0.0269, 0.0123]),
            "gain_se": np.array([0.0, 0.0025, 0.001]),
        },
    }


def test_the_summary_has_a_row_a_corpus_and_every_number_that_differs():
    made = render.summary(comparison(), headlines())
    assert "| toy | 95 | 16,892 | 2.855 | – | 2.828 | – | – | 0.0269 ± 0.0025 | 0.0123 |" in made
    assert r"| `a.draw` | a draw | 1.50 | 1.75 | another \| draw <of ours> |" in made
    assert "a.exact" not in made
    assert made == render.summary(comparison(), headlines())


def test_the_summary_goes_between_the_markers_and_twice_is_once():
    readme = "# Title\n\n<!-- results -->\nold\n<!-- /results -->\n\nend\n"
    once = render.spliced(readme, "new\n")
    assert once == "# Title\n\n<!-- results -->\n\nnew\n\n<!-- /results -->\n\nend\n"
    assert render.spliced(once, "new\n") == once
    with pytest.raises(InputError, match="no place for the results"):
        render.spliced("# Title\n", "new\n")


def notebook():
    return json.loads((NOTEBOOK / "companion.ipynb").read_text(encoding="utf-8"))


def test_the_notebook_is_kept_without_outputs():
    for cell in notebook()["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_what_a_cell_prints_is_one_output_however_long_it_takes():
    script = runpy.run_path(str(ROOT / "workflow" / "scripts" / "notebook.py"))
    source = "import time\nprint('first', flush=True)\ntime.sleep(0.5)\nprint('second')\n3"
    printing = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    script["execute"](printing)
    printed, value = printing.cells[0].outputs
    assert printed["text"] == "first\nsecond\n"
    assert value["data"]["text/plain"] == "3"


def test_the_rule_names_every_module_and_table_that_the_notebook_uses():
    source = "\n".join("".join(cell["source"]) for cell in notebook()["cells"] if cell["cell_type"] == "code")
    used = {
        f"{package}.{name}"
        for package, names in re.findall(r"^from (attnkernel[\w.]*) import (.+)$", source, re.MULTILINE)
        for name in names.split(", ")
    }
    modules = {
        name if (ROOT / "workflow" / f"{name.replace('.', '/')}.py").exists() else name.rpartition(".")[0]
        for name in used
    }
    rules = (ROOT / "workflow" / "rules" / "report.smk").read_text(encoding="utf-8")
    assert set(re.findall(r'"(attnkernel\.[\w.]+)"', rules)) == modules
    tables = set(re.findall(r'table\("(\w+)"', source))
    assert tables == set(re.findall(r'"(\w+)"', re.search(r"NOTEBOOK_TABLES = \[(.*?)\]", rules, re.DOTALL).group(1)))
