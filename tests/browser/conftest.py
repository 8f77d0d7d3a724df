"""A headless Chromium, and the pages that it looks at: one of a small run, and that of the last run if there is one."""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import small_run
from attnkernel import render, table

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No first-run pages, no component updates, no telemetry: the browser itself must ask for nothing either.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}


# Not for the session: Playwright keeps an event loop running, and Snakemake, which other tests call, starts its own.
@pytest.fixture(scope="module")
def browser():
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        message = "left out: no Chromium found; on Debian: apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    playwright = pytest.importorskip("playwright.sync_api", reason="left out: pip install 'attnkernel[test]'")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=executable, args=FLAGS)
        yield running
        running.close()


@dataclass
class Laboratory:
    """A page on disk, the tables behind it, and what a browser asked for and complained of while it was open."""

    address: str
    tables: dict
    data: dict
    asked: list = field(default_factory=list)
    complaints: list = field(default_factory=list)

    def opened(self, browser, size, state="", **settings):
        context = browser.new_context(viewport=SIZES[size], **settings)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(f"{self.address}#{state}")
        page.evaluate("laboratory.ready")
        return page


@pytest.fixture(scope="session")
def library():
    made = RESULTS / "lab" / "vega.js"
    if made.exists():
        return made.read_text(encoding="utf-8")
    import vl_convert

    return vl_convert.javascript_bundle()


def of_a_small_run(small, library, folder):
    page = folder / "index.html"
    page.write_text(small_run.page_of(ROOT, small.data, library), encoding="utf-8")
    return Laboratory(page.as_uri(), small.tables, small.data)


def of_the_last_run():
    page = RESULTS / "lab" / "index.html"
    names = ("circle_risk_curve", "circle_optimum", "denoiser", "circle_smoother", "laboratory")
    tables = {name.removeprefix("circle_"): table.read(RESULTS / "tables" / f"{name}.parquet") for name in names}
    return Laboratory(page.as_uri(), tables, render.payload_of(page.read_text(encoding="utf-8")))


RUNS = ["small run", "last run"] if (RESULTS / "lab" / "index.html").exists() else ["small run"]


@pytest.fixture
def small_laboratory(small, library, tmp_path):
    return of_a_small_run(small, library, tmp_path)


@pytest.fixture(params=RUNS)
def laboratory(request, small_laboratory):
    return of_the_last_run() if request.param == "last run" else small_laboratory


@pytest.fixture(params=list(SIZES))
def page(request, browser, laboratory):
    """The page at both sizes; whatever a test did, it asked for nothing but the file and logged nothing."""
    page = laboratory.opened(browser, request.param)
    yield page
    page.context.close()
    assert {address.partition("#")[0] for address in laboratory.asked} == {laboratory.address}
    assert laboratory.complaints == []
