"""Ask a local EDGAR for one filing of each company named, in a process of its own: edgartools binds addresses early."""

import json
import os
import sys

import stamina

from attnkernel.errors import InputError
from attnkernel.filings.edgar import read_edgar
from attnkernel.filings.sources import UnavailableError

stamina.set_testing(True)  # edgartools itself would go on for 20 s where there is no server
cache, *companies = sys.argv[1:]
results = {}
for company in companies:
    settings = {"cache": cache, "documents": [{"id": company, "cik": int(company), "form": "10-K", "year": 2024}]}
    try:
        (filing,) = read_edgar(settings, os.environ, waits=(0.01, 0.02))
        results[company] = ["filing", filing.data.decode()]
    except (InputError, UnavailableError) as error:
        results[company] = [type(error).__name__, str(error)]
print(json.dumps(results))
