"""Put the results of the last run into the README, between its markers; run by `make readme`.

python workflow/scripts/readme.py            write README.md
python workflow/scripts/readme.py --check    fail if it is not what the run would write
python workflow/scripts/readme.py --worth    write the table of `make worth` instead
python workflow/scripts/readme.py --codes    write the table of `make codes` instead
"""

import argparse
import sys
from pathlib import Path

from attnkernel import render, table
from attnkernel.errors import InputError
from attnkernel.language import filing_tables, worth

ROOT = Path(__file__).resolve().parents[2]


def main(check: bool, block: str) -> str | None:
    readme, results = ROOT / "README.md", ROOT / "results"
    before = readme.read_text(encoding="utf-8")
    try:
        if block == "worth":
            text = worth.markdown(table.read(results / "tables" / "worth.parquet"))
        elif block == "codes":
            text = filing_tables.markdown(table.read(results / "tables" / "filings.parquet"))
        else:
            text = (results / "summary.md").read_text(encoding="utf-8")
        after = render.spliced(before, text, block)
    except FileNotFoundError:
        return "results/summary.md is not there yet: make run"
    except InputError as error:
        return str(error)
    if check:
        return None if after == before else "README.md does not show the results of this run: make readme"
    readme.write_text(after, encoding="utf-8")
    return None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    for name in ("worth", "codes"):
        parser.add_argument(f"--{name}", action="store_const", dest="block", const=name, default="results")
    given = parser.parse_args()
    sys.exit(main(given.check, given.block))
