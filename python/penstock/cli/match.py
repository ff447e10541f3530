"""``penstock match QUERY FILE…``: the fragments that queries select, and the events they join."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from penstock.cli import exits
from penstock.cli.options import add_language_options, pair, query_of
from penstock.cli.printing import CountPrinter, FragmentPrinter, JsonPrinter, complaint
from penstock.cli.progress import STDIN, documents
from penstock.cli.streams import add_stream_options, require_streams, with_streams
from penstock.engine import Engine
from penstock.registry import MemoryRegistry

_USAGE = """penstock match [options] QUERY [FILE ...]
       penstock match [options] -q NAME=QUERY [-q NAME=QUERY ...] [FILE ...]"""


def add_parser(commands: Any) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "match",
        usage=_USAGE,
        help="print what a query selects in documents",
        description="Print what queries select, as soon as it is decided. Without a FILE, or "
        "where it is -, standard input is read. gzip is recognised. Several queries cost one "
        "pass; each fragment then follows its query's name and a tab. Queries in XSCL join files "
        "by their event times, whatever their order.",
    )
    parser.add_argument("arguments", nargs="*", metavar="QUERY FILE", help="see above")
    parser.add_argument(
        "-q", "--query", action="append", default=[], type=pair, metavar="NAME=QUERY"
    )
    parser.add_argument(
        "--query-file",
        metavar="FILE",
        help="read further queries, one NAME=QUERY per line; # starts a comment line",
    )
    add_language_options(parser, ("xpath", "xscl"))
    add_stream_options(parser)
    parser.add_argument("--json", action="store_true", help="one row with all columns per line")
    parser.add_argument("--count", action="store_true", help="print only how many results")
    parser.add_argument(
        "--order",
        choices=("decided", "document"),
        default="decided",
        help="as early as possible, or in document order",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress, no complaints")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the results of all documents.

    Raises:
        QueryError: A query is none, or not one that is evaluated.
        RegistryError: Two queries have one name.
        OSError: The file with the queries cannot be read.
    """
    if options.select and not options.json:
        options.parser.error("--select adds to the rows that --json prints")
    registry, files = _registry(options)
    out = sys.stdout.buffer
    names = [subscription.name for subscription in registry]
    printer: JsonPrinter | CountPrinter | FragmentPrinter
    if options.json:
        printer = JsonPrinter(out)
    elif options.count:
        printer = CountPrinter(out, names)
    else:
        printer = FragmentPrinter(out, has_labels=len(names) > 1)
    is_streamed = not (options.json or options.count or options.order == "document")
    results = failures = 0
    engine = Engine(registry, lateness=options.lateness)
    with documents(files, is_quiet=options.quiet) as given:
        source = with_streams(given, options)
        for rows in engine.steps(source, options.order, parts=is_streamed):
            for row in rows:
                printer.write(row)
                if row.error is None:
                    results += 1
                    continue
                failures += 1
                if not options.quiet:
                    print(complaint(row.document, row.error), file=sys.stderr)
            out.flush()
    printer.finish()
    out.flush()
    if failures:
        return exits.DOCUMENTS_FAILED
    return exits.DONE if results else exits.NOTHING_MATCHED


def _registry(options: argparse.Namespace) -> tuple[MemoryRegistry, list[str]]:
    """Return the queries and the names of the files."""
    arguments: list[str] = options.arguments
    queries: list[tuple[str, str]] = list(options.query)
    if options.query_file:
        queries += _read_queries(options)
    if not queries:
        if not arguments:
            options.parser.error("there is no query")
        queries, arguments = [("query", arguments[0])], arguments[1:]
    registry, files = MemoryRegistry(), arguments or [STDIN]
    parsed = [(name, query_of(text, options)) for name, text in queries]
    if options.language == "xscl":
        require_streams(options, [query for _, query in parsed], files)
    for name, query in parsed:
        registry.add(name, query)
    return registry, files


def _read_queries(options: argparse.Namespace) -> list[tuple[str, str]]:
    lines = Path(options.query_file).read_text("utf-8").splitlines()
    queries = []
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                name, text = pair(line)
            except argparse.ArgumentTypeError as error:
                options.parser.error(f"{options.query_file}, line {number}: {error}")
            queries.append((name.strip(), text.strip()))
    return queries
