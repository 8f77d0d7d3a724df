"""Filings from EDGAR, through edgartools, as the SEC wants to be asked: by name, slowly, and once.

edgartools takes the addresses to ask from its own variables EDGAR_BASE_URL and EDGAR_DATA_URL.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from attnkernel import table
from attnkernel.errors import InputError
from attnkernel.filings import prose
from attnkernel.filings.documents import Filing
from attnkernel.filings.sources import IDENTITY, UnavailableError, identity

log = logging.getLogger("attnkernel")

Answer = TypeVar("Answer")

REQUESTS_A_SECOND: Final = 9  # the SEC allows 10
LONGEST_WAIT: Final = 60.0  # seconds
WAITS: Final = (1.0, 4.0, 16.0, LONGEST_WAIT)
_BUSY: Final = frozenset((429, 500, 502, 503, 504))


def read_edgar(
    settings: Mapping[str, Any], environment: Mapping[str, str], waits: Sequence[float] = WAITS
) -> list[Filing]:
    """The primary documents of the filings that the config names; what was fetched once is read from the cache.

    Parameters
    ----------
    settings
        The stanza `filings` of the config.
    environment
        Declares the identity.
    waits
        Seconds before the second try of a request, the third, and so on; EDGAR's own Retry-After may lengthen them.

    Raises
    ------
    InputError
        No identity is declared, edgartools is not installed, there is no such filing, or EDGAR refuses.
    UnavailableError
        EDGAR cannot be reached.
    """
    if not settings["documents"]:
        raise InputError("`filings.documents` is empty; name the filings that EDGAR is to be asked for")
    os.environ |= {IDENTITY: identity(environment), "EDGAR_RATE_LIMIT_PER_SEC": str(REQUESTS_A_SECOND)}
    # edgartools keeps whatever comes with status 200, refusals too: its own cache must not outlive the job.
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EDGAR_LOCAL_DATA_DIR"] = folder
        return [_read(document, Path(settings["cache"]) / "edgar", waits) for document in settings["documents"]]


def _read(document: Mapping[str, Any], cache: Path, waits: Sequence[float]) -> Filing:
    absent = [key for key in ("cik", "form", "year") if not document.get(key)]
    if absent:
        raise InputError(f"filings.documents, {document['id']}: EDGAR needs its {' and '.join(absent)}")
    path = cache / f"{document['cik']}-{document['form'].replace('/', '')}-{document['year']}.html"
    if not path.is_file():
        # Only what was seen to be no refusal is kept.
        data = _fetch(document, waits)
        with table.atomic(path, "wb") as file:
            file.write(data)
    return Filing(
        document["id"],
        document.get("company") or document["id"],
        document["form"],
        str(document["year"]),
        "edgar",
        str(path),
        path.read_bytes(),
    )


def _fetch(document: Mapping[str, Any], waits: Sequence[float]) -> bytes:
    try:
        from edgar import Company
        from edgar.httprequests import get_with_retry
    except ImportError:
        raise InputError("EDGAR is asked through edgartools; install it with: pip install .[filings]") from None

    def listed() -> list[Any]:
        return list(Company(document["cik"]).get_filings(form=document["form"], amendments=False))

    def fetched() -> bytes:
        response = get_with_retry(address)
        response.raise_for_status()
        return bytes(response.content)

    place = f"EDGAR, {document['id']}"
    filings = _patiently(listed, place, waits)
    of_year = [filing for filing in filings if str(filing.report_date).startswith(str(document["year"]))]
    if not of_year:
        years = ", ".join(sorted({str(filing.report_date)[:4] for filing in filings})) or "none at all"
        raise InputError(
            f"{place}: no {document['form']} of a fiscal year that ended in {document['year']}; there is {years}"
        )
    address = f"{of_year[0].base_dir}/{of_year[0].primary_document}"
    data = _patiently(fetched, place, waits)
    _require_no_refusal(prose.decode(data), place)
    return data


def _patiently(ask: Callable[[], Answer], place: str, waits: Sequence[float]) -> Answer:
    """An answer of EDGAR, asked for again with growing pauses while it says that it is busy."""
    for wait in (*waits, None):
        try:
            return ask()
        except Exception as error:
            status, page, retry_after = _answer_in(error)
            _require_no_refusal(page, place)
            if status not in _BUSY:
                raise _explained(error, status, place) from error
            if wait is None or retry_after > LONGEST_WAIT:
                raise InputError(f"{place}: EDGAR is busy (status {status}); run again in ten minutes") from None
            pause = max(wait, retry_after)
            log.info("%s: status %d, asking again in %g s", place, status, pause)
            time.sleep(pause)
    raise AssertionError("the last try returns or raises")


def _answer_in(error: Exception) -> tuple[int | None, str, float]:
    """Status, page and Retry-After, in seconds, of the answer behind an error of edgartools or of its transport."""
    cause = error.__cause__ if getattr(error.__cause__, "response", None) is not None else error
    response = getattr(cause, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    page = response.text if response is not None else getattr(error, "doc", "")
    header = "" if response is None else response.headers.get("Retry-After", "")
    seconds = getattr(error, "retry_after", None) or (float(header) if header.isdigit() else 0.0)
    return status, str(page), seconds


def _explained(error: Exception, status: int | None, place: str) -> Exception:
    from edgar.httprequests import is_unreachable

    if status is not None:
        return InputError(f"{place}: EDGAR answers with status {status}")
    if isinstance(error, json.JSONDecodeError):
        return InputError(f"{place}: EDGAR's answer is no list of filings ({error})")
    if is_unreachable(error):
        return UnavailableError(f"{place}: EDGAR cannot be reached ({error})")
    return error


def _require_no_refusal(page: str, place: str) -> None:
    refused = prose.refusal(page)
    if refused:
        raise InputError(
            f"{place}: EDGAR refuses ({refused!r}); declare a real name and e-mail, and run again in ten minutes"
        )
