"""`snakemake --report`: every table and figure with its caption, in its chapter, with no network."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def page(finished, tmp_path_factory):
    place = tmp_path_factory.mktemp("report") / "report.html"
    nowhere = "http://127.0.0.1:9"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
            patch.setenv(name, nowhere)
        done = finished.snakemake("--report", str(place))
    assert "WARNING" not in done.stderr
    return place.read_text(encoding="utf-8")


def test_every_table_and_figure_is_in_the_report(finished, page):
    kinds = [*finished.folder.glob("results/tables/*.csv"), *finished.folder.glob("results/figures/*.svg")]
    results = [path.relative_to(finished.folder).as_posix() for path in kinds]
    assert len(results) > 40
    assert [result for result in [*results, "results/claims.csv"] if result not in page] == []


def test_the_report_fetches_nothing(page):
    assert not re.search(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=[\"']?https?:", page)


def test_every_chapter_of_the_article_is_a_category(page):
    for chapter in ("1 A weighted lookup", "2 Temperature is bandwidth", "5 Attention over a document"):
        assert chapter in page


def test_captions_link_tables_and_figures_that_there_are():
    captions = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "workflow" / "report").glob("*.rst")}
    tables = {name.removeprefix("table-") for name in captions if name.startswith("table-")}
    figures = {name.removeprefix("figure-") for name in captions if name.startswith("figure-")}
    for name, text in captions.items():
        assert set(re.findall(r"([\w-]+)\.csv_(?!\w)", text)) <= tables, name
        assert set(re.findall(r"([\w-]+)\.svg_(?!\w)", text)) <= figures, name
