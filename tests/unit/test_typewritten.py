"""Filings of before HTML: text broken into lines and pages, with tables set in blanks and a few SGML tags."""

import textwrap
from pathlib import Path

import numpy as np
import pytest

from attnkernel.filings import documents, typewritten

FIXTURES = Path(__file__).resolve().parents[1] / "workflow" / "filings"
WORDS = ["company", "mill", "timber", "pulp", "sales", "costs", "rose", "fell", "year", "paper", "demand", "the"]

SUBMISSION = """-----BEGIN PRIVACY-ENHANCED MESSAGE-----
Proc-Type: 2001,MIC-CLEAR

<SEC-DOCUMENT>0000912057-96-004321.txt : 19960329
<SEC-HEADER>0000912057-96-004321.hdr.sgml : 19960329
ACCESSION NUMBER:\t\t0000912057-96-004321
CONFORMED SUBMISSION TYPE:\t10-K
FILER:
\tCOMPANY DATA:
\t\tCOMPANY CONFORMED NAME:\t\t\tALDER PAPER CO
</SEC-HEADER>
<DOCUMENT>
<TYPE>10-K
<SEQUENCE>1
<DESCRIPTION>FORM 10-K
<TEXT>

<PAGE>

                       SECURITIES AND EXCHANGE COMMISSION
                             WASHINGTON, D.C. 20549

                               TABLE OF CONTENTS

ITEM 1.  BUSINESS ....................................................... 1
ITEM 7.  MANAGEMENT'S DISCUSSION AND ANALYSIS OF FINANCIAL CONDITION
         AND RESULTS OF OPERATIONS ...................................... 2

<PAGE>
ALDER PAPER CO                                                  FORM 10-K

                                     PART I

ITEM 1.   BUSINESS

GENERAL

     Alder Paper Co (the "Company") makes paper &amp; pulp at two mills in New
Hampshire. The Company's long-
term plan is to sell the short- and
long-fibre grades to customers abroad.
     In 1995 the Company bought a third mill on the river above the town of
Berlin, which it has since rebuilt and now runs at a yearly capacity of

                                       -1-

<PAGE>
ALDER PAPER CO                                                  FORM 10-K

61,000 tons a year. The following table sets forth sales by grade:

<TABLE>
<CAPTION>
                                              YEAR ENDED DECEMBER 31,
                                         --------------------------------
                                            1995       1994       1993
                                         ----------  ---------  ---------
<S>                                      <C>         <C>        <C>
Fine paper.............................  $   40,210  $  37,114  $  33,008
Market pulp............................      12,031      9,876      8,954
                                         ----------  ---------  ---------
</TABLE>

The Company competes on

     (a) the price of its grades, which follow the price of pulp, and on the
         distance to the customer;

     (b) quality.

Employees at year end:

     Mills                               412         398
     Offices                              31          30

                                       -2-

<PAGE>
ALDER PAPER CO                                                  FORM 10-K

ITEM 7.   MANAGEMENT'S DISCUSSION AND ANALYSIS OF FINANCIAL CONDITION
          AND RESULTS OF OPERATIONS

     Sales rose by 8%. See "Item 1. Business" above, and Note 3 (page F-4).
                                       -3-

<PAGE>
ALDER PAPER CO                                                  FORM 10-K

                                   SIGNATURES

</TEXT>
</DOCUMENT>
<DOCUMENT>
<TYPE>EX-27
<TEXT>
<ARTICLE> 5
</TEXT>
</DOCUMENT>
"""


def filing(text):
    return documents.Filing("a", "A", "10-K", "1995", "folder", "a.txt", text.encode())


def test_a_submission_of_1996_becomes_paragraphs_without_tables_and_page_furniture():
    found, paragraphs = documents.prose_of(filing(SUBMISSION), ["1", "7"])
    assert found == ["1", "7"]
    assert paragraphs == [
        "ITEM 1. BUSINESS",
        "GENERAL",
        'Alder Paper Co (the "Company") makes paper & pulp at two mills in New Hampshire. The Company\'s long-term '
        "plan is to sell the short- and long-fibre grades to customers abroad.",
        "In 1995 the Company bought a third mill on the river above the town of Berlin, which it has since rebuilt and "
        "now runs at a yearly capacity of 61,000 tons a year. The following table sets forth sales by grade:",
        "The Company competes on",
        "(a) the price of its grades, which follow the price of pulp, and on the distance to the customer;",
        "(b) quality.",
        "Employees at year end:",
        "ITEM 7. MANAGEMENT'S DISCUSSION AND ANALYSIS OF FINANCIAL CONDITION AND RESULTS OF OPERATIONS",
        'Sales rose by 8%. See "Item 1. Business" above, and Note 3 (page F-4).',
        "SIGNATURES",
    ]


def test_line_ends_of_every_system_read_alike():
    _, paragraphs = documents.prose_of(filing(SUBMISSION), ["1"])
    for end in ("\r\n", "\r"):
        assert documents.prose_of(filing(SUBMISSION.replace("\n", end)), ["1"])[1] == paragraphs


@pytest.mark.parametrize("indent", ["", "     "], ids=["spaced", "indented"])
@pytest.mark.parametrize("page", [17, 54])
def test_a_typewriter_takes_nothing_from_prose(indent, page):
    """Paragraphs laid out in lines and pages, with a page number at each break, come back as they were."""
    generator = np.random.default_rng(page)
    wanted = [f"{' '.join(generator.choice(WORDS, generator.integers(30, 90)))}." for _ in range(40)]
    wanted = [text[0].upper() + text[1:] for text in wanted]
    lines = []
    for text in wanted:
        lines += [*textwrap.wrap(text, 72, initial_indent=indent), ""][: None if not indent else -1]
    pages = ["\n".join(lines[start : start + page]) for start in range(0, len(lines), page)]
    laid_out = "".join(f"{text}\n\n{'':36}{number}\n\n<PAGE>\n" for number, text in enumerate(pages, start=1))
    assert typewritten.is_typewritten(laid_out)
    assert typewritten.paragraphs(laid_out) == wanted


def test_lines_that_blank_lines_part_are_one_paragraph_where_they_go_on_in_lower_case():
    text = "The mill, which the Company bought in\n\nthe spring, was idle.\n\nIt runs again.\n"
    assert typewritten.paragraphs(text) == [
        "The mill, which the Company bought in the spring, was idle.",
        "It runs again.",
    ]


def test_a_table_that_is_not_closed_ends_with_its_page_and_one_that_encloses_text_is_text():
    assert typewritten.paragraphs("One.\n<TABLE>\n<S> <C>\nSales  3\n<PAGE>\nTwo.\n") == ["One.", "Two."]
    assert typewritten.paragraphs("One.\n<TABLE>\nThe mill runs\nagain.\n</TABLE>\n") == [
        "One.",
        "The mill runs again.",
    ]


def test_text_with_a_paragraph_a_line_is_not_taken_for_typewritten():
    assert not typewritten.is_typewritten((FIXTURES / "cedar.txt").read_text(encoding="utf-8"))
    assert not typewritten.is_typewritten("Item 1A. Risk Factors\nSales may fall.\nCosts may rise; and so on.\n" * 50)
