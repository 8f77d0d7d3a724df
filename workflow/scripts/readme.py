"""Put the results of the last run into the README, between its markers; run by `make readme`.

python workflow/scripts/readme.py            write README.md
python workflow/scripts/readme.py --check    fail if it is not what the run would write
"""

import argparse
import sys
from pathlib import Path

from attnkernel import render
from attnkernel.errors import InputError

ROOT = Path(__file__).resolve().parents[2]


def main(check: bool) -> str | None:
    readme, summary = ROOT / "README.md", ROOT / "results" / "summary.md"
    before = readme.read_text(encoding="utf-8")
    try:
        after = render.spliced(before, summary.read_text(encoding="utf-8"))
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
    sys.exit(main(parser.parse_args().check))
