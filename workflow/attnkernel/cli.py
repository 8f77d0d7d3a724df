"""The command `attnkernel`: questions about a run, asked in the project folder."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from attnkernel.errors import InputError

NOT_FRESH: Final = 1
MISTAKE: Final = 2
_SCHEMA: Final = Path(__file__).resolve().parents[1] / "schemas" / "config.schema.yaml"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand; the exit status is 0, 1 if what was asked is not so, or 2 after a mistake of the user."""
    given = _parser().parse_args(arguments)
    try:
        status: int = given.run(given)
    except InputError as error:
        print(error, file=sys.stderr)
        return MISTAKE
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


def audit(given: argparse.Namespace) -> int:
    """The chain behind files, or the state of every file of the run."""
    from attnkernel import audit, graph, provenance

    paths = [Path(path).absolute() for path in given.path]
    _enter_project()
    if given.all:
        existing = audit.results(Path("results"))
        planned = graph.read_graph(given.configfile, extra=existing)
        auditor = audit.Auditor(planned, provenance.read_records())
        links = [auditor.link(path) for path in planned.makers] + audit.strays(planned, existing)
        shown = [link for link in links if link.state != audit.FRESH]
    else:
        wanted = [os.path.relpath(path) for path in paths]
        planned = graph.read_graph(given.configfile, wanted)
        auditor = audit.Auditor(planned, provenance.read_records())
        links = shown = list({link.path: link for path in wanted for link in auditor.chain(path)}.values())
    if shown:
        print(audit.describe(shown))
    print(f"config: {', '.join(planned.configfiles)}\n{audit.tally(links)}")
    return 0 if all(link.state == audit.FRESH for link in links) else NOT_FRESH


def why(given: argparse.Namespace) -> int:
    """What is behind a published number."""
    from attnkernel import graph, provenance
    from attnkernel import why as question

    _enter_project()
    planned = graph.read_graph(given.configfile)
    print(question.answer(given.id, planned, provenance.read_records()))
    return 0


def score(given: argparse.Namespace) -> int:
    """Any text under a model of the run."""
    from attnkernel import configuration, reading, scoring
    from attnkernel.corpus import readers

    place = Path(given.model)
    if not place.exists():  # the name of a corpus
        given.text = given.text if given.text == "-" else str(Path(given.text).absolute())
        given.output = given.output if given.output == "-" else str(Path(given.output).absolute())
        _enter_project()
    model = scoring.load(given.model)
    settings = {**configuration.corpus_defaults(_SCHEMA), **model.settings, "path": given.text, "limit": None}
    settings |= {"documents": given.documents, "group": None, "group_pattern": None}
    settings |= {name: value for name in ("tokens", "reserved") if (value := getattr(given, name))}
    if given.text == "-":
        name = Path("standard input")
        text = reading.decode(sys.stdin.buffer.read(), name)
        documents = [document for _, document in readers.from_text(text, "-", name, settings)]
    else:
        documents = readers.read_documents(settings, readers.files(given.text))
    columns = scoring.score(model, documents, settings)
    shown = columns if given.each == "token" else scoring.by_document(columns)
    scoring.write(given.output, shown, given.format)
    print(scoring.summary(columns), file=sys.stderr)
    return 0


def new_corpus(given: argparse.Namespace) -> int:
    """The config stanza for a folder of documents."""
    from attnkernel import configuration, discover

    folder = Path(given.folder).absolute()
    _enter_project()
    config = configuration.checked(configuration.read("config/config.yaml"), _SCHEMA)
    name = given.name or discover.corpus_name(str(folder))
    if name != discover.corpus_name(name):
        raise InputError(f"--name {name}: begin with a lower-case letter, and use such letters, digits, - and _ only")
    found = discover.survey(os.path.relpath(folder), configuration.corpus_defaults(_SCHEMA), config["splits"])
    print(discover.overlay(name, found), end="")
    for line in (*found.notes, *(f"PROBLEM: {problem}" for problem in found.problems)):
        print(line, file=sys.stderr)
    return NOT_FRESH if found.problems else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="attnkernel", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("audit", help="print the chain behind a file and say what of it is fresh")
    what = command.add_mutually_exclusive_group(required=True)
    what.add_argument("path", nargs="*", default=[], help="a file that the run made")
    what.add_argument("--all", action="store_true", help="every file of the run; status 1 if one is not fresh")
    _add_configfile(command)
    command.set_defaults(run=audit)

    command = commands.add_parser("why", help="what is behind a published number: value, check, table, rule, code")
    command.add_argument("id", help="an id of config/published.csv")
    _add_configfile(command)
    command.set_defaults(run=why)

    command = commands.add_parser("score", help="score any text under a model of the run, token by token")
    command.add_argument("model", help="a corpus that was run, its folder below results/language, or an ARPA file")
    command.add_argument("text", nargs="?", default="-", help="a file or a folder; - is standard input, the default")
    command.add_argument("--each", choices=["token", "document"], default="document", help="what a line is about")
    command.add_argument("--format", choices=["tsv", "jsonl"], default="tsv", help="tab-separated, or JSON lines")
    command.add_argument("--output", default="-", help="a file; - is standard output, the default")
    command.add_argument(
        "--documents", choices=["files", "lines", "headings"], default="files", help="what a document is, in plain text"
    )
    command.add_argument("--tokens", choices=["words", "pretokenised"], help="as the model's corpus, unless given")
    command.add_argument("--reserved", choices=["refuse", "escape", "unknown"], help="likewise")
    command.set_defaults(run=score)

    command = commands.add_parser("new-corpus", help="print the config stanza for a folder, and say what was found")
    command.add_argument("folder", help="a folder, or a file, of documents")
    command.add_argument("--name", help="of the corpus; by default that of the folder")
    command.set_defaults(run=new_corpus)
    return parser


def _add_configfile(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--configfile",
        nargs="+",
        type=lambda path: Path(path).absolute(),
        default=[],
        help="the config files that the run was given, if any",
    )


def _enter_project() -> None:
    """Continue with the code of the project that the current folder is in, from that project's folder.

    The package may be installed elsewhere; what counts is the code that the project's own run would use.
    """
    from attnkernel import graph

    folder = graph.project_folder(Path.cwd())
    here = folder / "workflow"
    if (here / "attnkernel").is_dir() and not Path(__file__).resolve().is_relative_to(here.resolve()):
        path = os.pathsep.join(filter(None, [str(here), os.environ.get("PYTHONPATH")]))
        command = [sys.executable, "-m", "attnkernel.cli", *sys.argv[1:]]
        os.execve(sys.executable, command, os.environ | {"PYTHONPATH": path})
    os.chdir(folder)


if __name__ == "__main__":
    sys.exit(main())
