"""``penstock match QUERY FILE…``: the fragments that queries select, and the events they join."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, cast

from penstock.cli import exits
from penstock.cli.files import STDIN, are_several, documents, file_names
from penstock.cli.following import followed, is_growing
from penstock.cli.formats import FORMATS, ROW_FORMATS
from penstock.cli.matching import Tally, Task, match_documents
from penstock.cli.nothing import RememberedStdin, explain_nothing
from penstock.cli.options import add_intake_options, add_language_options, intake_of, pair, query_of
from penstock.cli.output import open_output
from penstock.cli.parsing import positive
from penstock.cli.printing import print_counts
from penstock.cli.progress import is_terminal_free, progress
from penstock.cli.streams import add_stream_options, joins_streams, require_streams, seconds
from penstock.cli.swapped import complain_if_swapped
from penstock.engine import Engine
from penstock.twigs import Query

_USAGE = """penstock match [options] QUERY [FILE ...]
       penstock match [options] -q NAME=QUERY [-q NAME=QUERY ...] [FILE ...]
       penstock match [options] --registry FOLDER [FILE ...]"""
_EXAMPLES = (
    "penstock match '//book[price < 11]/title' shop.xml",
    "penstock match -n a=http://www.w3.org/2005/Atom '//a:entry/a:title/text()' feeds/ more.zip",
    "penstock match --format csv --select id=../@id --columns id,value '//price' 'data/*.xml.gz'",
    "penstock match --registry rules --format parquet --output rows.parquet --jobs 4 archive/",
    "penstock match --follow --registry rules inbox/",
    "penstock match --documents many --damaged reject '//Event' events.log",
)


def add_parser(commands: Any) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "match",
        usage=_USAGE,
        examples=_EXAMPLES,
        rest="arguments",
        help="print what queries select in documents",
        description="Print what queries select, as soon as it is certain. A FILE is a document, a\n"
        "folder, a glob, a zip or tar archive, or compressed with gzip, bzip2, xz or zstd; the\n"
        "first bytes decide, not the name. Without a FILE, or where it is -, standard input is\n"
        "read. Several queries cost one pass. Queries in XSCL join files by\n"
        "their event times, queries in XQuery join the elements of several streams.",
    )
    parser.add_argument("arguments", nargs="*", metavar="QUERY FILE", help="see above")
    _add_queries(parser)
    add_language_options(parser)
    add_stream_options(parser)
    _add_output(parser)
    _add_reading(parser)
    add_intake_options(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress and no messages")
    parser.set_defaults(run=run)


def _add_queries(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-q", "--query", action="append", default=[], type=pair, metavar="NAME=QUERY"
    )
    parser.add_argument(
        "--query-file",
        metavar="FILE",
        help="read further queries, one NAME=QUERY per line; # starts a comment line",
    )
    parser.add_argument(
        "--registry", metavar="FOLDER", help="take the subscriptions of a durable registry"
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="text: fragments (the default); jsonl, csv, tsv, parquet: rows with columns",
    )
    parser.add_argument(
        "--json", action="store_const", const="jsonl", dest="format", help="as --format jsonl"
    )
    parser.add_argument("--output", metavar="FILE", help="write to a file instead of stdout")
    parser.add_argument(
        "--columns",
        metavar="A,B,…",
        help="the columns of rows, in this order; names of --select are columns, too",
    )
    parser.add_argument(
        "-0", "--null", action="store_true", help="end fragments with a zero byte, not a line end"
    )
    parser.add_argument("--count", action="store_true", help="print only how many results")
    parser.add_argument(
        "-H",
        "--with-filename",
        action="store_true",
        default=None,
        help="print the file name before each fragment; this is so for several files",
    )
    parser.add_argument(
        "--no-filename",
        action="store_false",
        dest="with_filename",
        help="do not print file names",
    )
    parser.add_argument(
        "--order",
        choices=("decided", "document"),
        default="decided",
        help="as early as possible, or in document order",
    )


def _add_reading(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--include", metavar="GLOB", help="in folders, only files whose names fit the glob"
    )
    parser.add_argument(
        "--jobs", type=positive, default=1, metavar="N", help="read files with N processes"
    )
    parser.add_argument(
        "--follow",
        action="store_true",
        help="go on with files that appear in a folder, or with a file that grows",
    )
    parser.add_argument(
        "--poll",
        type=seconds,
        default=1.0,
        metavar="SECONDS",
        help="with --follow, look for new files and bytes so often (1)",
    )


def run(options: argparse.Namespace) -> int:
    """Print the results of all documents.

    Raises:
        QueryError: A query is not valid.
        RegistryError: Two queries have one name; the folder is no registry.
        OSError: The file with the queries cannot be read, or the output cannot be written.
    """
    _check_output(options)
    queries, arguments = _queries(options)
    names = [] if options.follow else file_names(arguments, options.include)
    joins = options.language == "xscl" or any(joins_streams(query) for _, query in queries)
    if options.jobs > 1 and joins:
        options.parser.error("--jobs reads files apart from each other; not with queries that join")
    require_streams(options, [query for _, query in queries], names)
    plain = argparse.Namespace(**vars(options))
    del plain.parser, plain.run  # these do not pickle
    task = Task(plain, tuple(queries), _has_files(options, names, joins=joins))
    _check_columns(task, options)
    tally = _match(task, options, arguments, names)
    if tally.failures:
        return exits.DOCUMENTS_FAILED
    return exits.DONE if tally.results else exits.NOTHING_MATCHED


def _match(
    task: Task, options: argparse.Namespace, arguments: list[str], names: list[str]
) -> Tally:
    def complain(line: str) -> None:
        if not options.quiet:
            print(line, file=sys.stderr)

    is_shown = not options.quiet and is_terminal_free(
        is_output_file=options.output is not None, is_printed_last=options.count
    )
    registry = task.registry()
    stdin = RememberedStdin(sys.stdin.buffer) if STDIN in names else None
    with open_output(options.output, is_whole=not options.follow) as out:
        with progress(names, is_shown=is_shown) as advance:
            if options.jobs > 1 and len(names) > 1 and STDIN not in names:
                from penstock.cli.jobs import match_in_processes

                tally = match_in_processes(task, names, out, complain, advance)
            else:
                intake = intake_of(options)
                engine = Engine(registry, lateness=options.lateness, **intake)
                source = (
                    followed(arguments, options.include, options.poll)
                    if options.follow
                    else documents(names, advance, cast("IO[bytes] | None", stdin))
                )
                tally = match_documents(task, engine, source, out, complain)
        if options.count:
            print_counts(out, [one.name for one in registry], tally.matched)
            out.flush()
    if not options.quiet and not tally.failures:
        silent = [one.name for one in registry if not tally.matched[one.name]]
        explain_nothing(registry, silent, names, stdin)
    return tally


def _check_output(options: argparse.Namespace) -> None:
    """End with a message about usage where options do not fit together."""
    error: Callable[[str], None] = options.parser.error
    has_rows = options.format != "text"
    if options.count and has_rows:
        error("--count prints numbers; leave --format away")
    if options.select and not has_rows:
        error("--select adds to rows; choose them with --json or --format csv")
    if options.columns and not has_rows:
        error(f"--columns is for rows: --format {', '.join(ROW_FORMATS)} or parquet")
    if options.null and has_rows:
        error("-0 is for --format text")
    if options.format == "parquet" and options.output is None:
        error("--format parquet needs --output FILE")
    if options.format == "parquet" and options.follow:
        error("a Parquet file is complete at its end, which --follow has none of")
    if options.jobs > 1 and options.follow:
        error("--jobs reads files apart from each other; not with --follow")
    if options.damaged == "skip" and options.record is None:
        error("--damaged skip goes on at the next record; add --record PATH")
    if options.record is not None and options.damaged != "skip":
        error("--record says where to go on; add --damaged skip")
    if options.count and options.follow:
        error("--count prints at the end, which --follow has none of")


def _check_columns(task: Task, options: argparse.Namespace) -> None:
    try:
        task.columns()
    except ValueError as error:
        options.parser.error(str(error))


def _has_files(options: argparse.Namespace, names: list[str], *, joins: bool) -> bool:
    if options.with_filename is not None:
        return bool(options.with_filename)
    # What several documents are joined to has no file of its own.
    return not joins and (options.follow or are_several(names))


def _queries(options: argparse.Namespace) -> tuple[list[tuple[str, Query]], list[str]]:
    """Return the queries, and the arguments that stand for documents."""
    arguments: list[str] = options.arguments
    queries: list[tuple[str, str]] = list(options.query)
    if options.query_file:
        queries += _read_queries(options)
    if options.registry is not None:
        if queries:
            options.parser.error("--registry has its own queries; leave -q away")
        if not os.path.isdir(options.registry):
            raise FileNotFoundError(f"there is no registry {options.registry}")
    elif not queries:
        if not arguments:
            options.parser.error("there is no query")
        complain_if_swapped(options)
        queries, arguments = [("query", arguments[0])], arguments[1:]
    if options.follow:
        _check_followed(options, arguments)
    return [(name, query_of(text, options)) for name, text in queries], arguments or [STDIN]


def _check_followed(options: argparse.Namespace, arguments: list[str]) -> None:
    if not arguments or STDIN in arguments:
        options.parser.error(
            "--follow needs a folder, a glob or a file; standard input is followed"
        )
    if len(arguments) > 1 and any(map(is_growing, arguments)):
        options.parser.error("--follow takes one file, or folders and globs")


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
