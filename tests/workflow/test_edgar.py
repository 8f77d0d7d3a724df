"""The network step, against a local server that answers, throttles and refuses as EDGAR does."""

import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("edgar")

ROOT = Path(__file__).resolve().parents[2]
FILING = "<html><body><p>Item 1A. Risk Factors</p><p>The mill may burn.</p></body></html>"
REFUSAL = "<html><head><title>SEC.gov | {}</title></head><body><h1>{}</h1></body></html>"
UNDECLARED = "Your Request Originates from an Undeclared Automated Tool"
THRESHOLD = "Request Rate Threshold Exceeded"
ANSWERS, THROTTLES, REFUSES, FORBIDS, BUSY, REFUSES_LIST, OTHER_YEAR, BLOCKS = range(1, 9)


def submissions(company):
    """What EDGAR's list of a company's filings holds, as far as a client reads it."""
    year = 2023 if company == OTHER_YEAR else 2024
    recent = {
        "accessionNumber": [f"0000000001-{year % 100}-000001", f"0000000001-{year % 100}-000002"],
        "filingDate": [f"{year}-11-01", f"{year}-12-01"],
        "reportDate": [f"{year}-09-28", f"{year}-09-28"],
        "acceptanceDateTime": [f"{year}-11-01T06:01:36.000Z"] * 2,
        "act": ["34"] * 2,
        "form": ["10-K", "10-K/A"],
        "fileNumber": ["001-1"] * 2,
        "filmNumber": ["1"] * 2,
        "items": [""] * 2,
        "size": [1] * 2,
        "isXBRL": [1] * 2,
        "isInlineXBRL": [1] * 2,
        "primaryDocument": ["report.htm", "amended.htm"],
        "primaryDocDescription": ["10-K"] * 2,
    }
    address = dict.fromkeys(
        ("street1", "street2", "city", "stateOrCountry", "zipCode", "stateOrCountryDescription"), ""
    )
    texts = (
        "category description ein fiscalYearEnd flags investorWebsite phone sic sicDescription stateOfIncorporation "
        "stateOfIncorporationDescription website"
    )
    return {
        **dict.fromkeys(texts.split(), ""),
        "cik": str(company),
        "name": f"Company {company}",
        "entityType": "operating",
        "tickers": [],
        "exchanges": [],
        "formerNames": [],
        "insiderTransactionForOwnerExists": 0,
        "insiderTransactionForIssuerExists": 0,
        "addresses": {"mailing": address, "business": address},
        "filings": {"recent": recent, "files": []},
    }


class Edgar(BaseHTTPRequestHandler):
    """The server keeps, in `requests`, when each request came, for what, and who said to ask."""

    def do_GET(self):
        listing = self.path.startswith("/submissions/")
        company = int(self.path.split("CIK")[1][:10] if listing else self.path.split("/")[4])
        kind = (company, "list" if listing else "document")
        asked = [request[1] for request in self.server.requests].count(kind)
        self.server.requests.append((time.monotonic(), kind, self.headers.get("User-Agent"), self.path))
        status, page, headers = self.reply(company, listing, asked)
        body = page.encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": len(body)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def reply(self, company, listing, asked):
        if listing:
            if company == REFUSES_LIST:
                return 200, REFUSAL.format(UNDECLARED, UNDECLARED), {}
            return 200, json.dumps(submissions(company)), {"Content-Type": "application/json"}
        if company == THROTTLES and asked < 2:
            return (429, "slow down", {"Retry-After": "1"}) if asked == 0 else (503, "busy", {})
        if company == BLOCKS:
            return 429, "slow down", {"Retry-After": "600"}
        if company == BUSY:
            return 503, "busy", {}
        if company == REFUSES:
            return 200, REFUSAL.format(UNDECLARED, UNDECLARED), {}
        if company == FORBIDS:
            return 403, REFUSAL.format(THRESHOLD, THRESHOLD), {}
        return 200, FILING, {"Content-Type": "text/html"}

    def log_message(self, *_):
        pass


def client(server, cache, *companies):
    address = f"http://127.0.0.1:{server.server_port}"
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "workflow"),
        "EDGAR_BASE_URL": address,
        "EDGAR_DATA_URL": address,
        "EDGAR_IDENTITY": "Ada Lovelace ada@example.org",
        "NO_PROXY": "127.0.0.1",
    }
    command = [sys.executable, str(Path(__file__).with_name("edgar_client.py")), str(cache), *map(str, companies)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {int(company): result for company, result in json.loads(done.stdout).items()}


@pytest.fixture(scope="module")
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Edgar)
    server.requests = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def results(server, cache):
    return client(server, cache, *range(ANSWERS, BLOCKS + 1))


def asked(server, company, what="document"):
    return [request for request in server.requests if request[1] == (company, what)]


def test_the_report_itself_is_fetched_and_no_amendment(server, results):
    assert results[ANSWERS] == ["filing", FILING]
    (request,) = asked(server, ANSWERS)
    assert request[3] == "/Archives/edgar/data/1/000000000124000001/report.htm"


def test_every_request_says_who_asks(server, results):
    assert {request[2] for request in server.requests} == {"Ada Lovelace ada@example.org"}


def test_a_throttled_request_is_asked_again_after_the_pause_that_was_named(server, results):
    assert results[THROTTLES] == ["filing", FILING]
    first, second, _ = (request[0] for request in asked(server, THROTTLES))
    assert second - first >= 1.0


@pytest.mark.parametrize("company", [REFUSES, FORBIDS, REFUSES_LIST])
def test_a_refusal_is_an_error_whatever_its_status_and_is_not_asked_again(server, results, company):
    kind, message = results[company]
    assert kind == "InputError"
    assert "EDGAR refuses" in message
    assert len(asked(server, company, "list" if company == REFUSES_LIST else "document")) == 1


def test_a_busy_server_is_asked_a_few_times_and_then_it_is_an_error(server, results):
    assert results[BUSY] == ["InputError", "EDGAR, 5: EDGAR is busy (status 503); run again in ten minutes"]
    assert len(asked(server, BUSY)) == 3


def test_a_block_of_ten_minutes_is_not_waited_for(server, results):
    assert results[BLOCKS][0] == "InputError"
    assert len(asked(server, BLOCKS)) == 1


def test_a_missing_year_is_an_error_that_names_the_years_there_are(results):
    assert results[OTHER_YEAR] == [
        "InputError",
        "EDGAR, 7: no 10-K of a fiscal year that ended in 2024; there is 2023",
    ]


def test_only_filings_are_kept_and_what_is_kept_is_not_asked_for_again(server, cache, results):
    kept = sorted(path.name for path in (cache / "edgar").iterdir())
    assert kept == ["1-10-K-2024.html", "2-10-K-2024.html"]
    before = len(server.requests)
    assert client(server, cache, ANSWERS) == {ANSWERS: ["filing", FILING]}
    assert len(server.requests) == before


def test_there_are_at_most_ten_requests_in_any_second(server, results):
    times = [request[0] for request in server.requests]
    assert len(times) > 10
    assert all(later - earlier > 0.99 for earlier, later in zip(times, times[10:], strict=False))


def test_a_server_that_is_not_there_makes_the_filings_unavailable(tmp_path, server, monkeypatch):
    class Gone:
        server_port = 9  # the discard port: nothing listens

    kind, message = client(Gone, tmp_path, ANSWERS)[ANSWERS]
    assert kind == "UnavailableError"
    assert "cannot be reached" in message
