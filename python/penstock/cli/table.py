"""``penstock table FILE.yaml SOURCE…``: records of documents as rows with typed columns."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import IO, Any

from penstock import extras
from penstock.cli import exits
from penstock.cli.files import documents, file_names
from penstock.cli.formats import ParquetWriter, csv_line, tsv_line
from penstock.cli.options import add_intake_options, intake_of
from penstock.cli.output import open_output
from penstock.cli.progress import is_terminal_free, progress
from penstock.engine import Engine
from penstock.errors import DocumentError
from penstock.languages.tables.files import read_definition
from penstock.registry import MemoryRegistry
from penstock.sources import Source
from penstock.sources.intake import record_of
from penstock.twigs import Query
from penstock.twigs.tables import Table

FORMATS = ("jsonl", "csv", "tsv", "parquet")

Complain = Callable[[DocumentError, str], None]


def add_parser(commands: Any) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "table",
        examples=(
            "penstock table entries.yaml statements/ --format parquet --output entries.parquet",
            "penstock table entries.yaml 'camt/*.xml.gz' --format csv",
        ),
        help="write records as rows with typed columns",
        description="Write a row for each record of the documents. FILE is YAML or JSON with a\n"
        "`record`, a path, and `columns`: names with a path, or with [path, type]. It may have\n"
        "`namespaces`, `variables` and `on_error`.",
    )
    parser.add_argument("definition", metavar="FILE")
    parser.add_argument(
        "sources", metavar="SOURCE", nargs="*", help="files, folders, globs, archives; - is stdin"
    )
    parser.add_argument("--format", choices=FORMATS, default="jsonl", help="how rows are written")
    parser.add_argument("--output", metavar="FILE", help="write to a file instead of stdout")
    parser.add_argument(
        "--include", metavar="GLOB", help="in folders, only files whose names fit the glob"
    )
    add_intake_options(parser, has_record=True)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the rows of all documents.

    Raises:
        ConfigurationError: The file is no table.
        OSError: The file cannot be read, or the output cannot be written.
    """
    query = read_definition(options.definition)
    registry = MemoryRegistry()
    registry.add("table", query)
    engine = Engine(registry, **{**intake_of(options), "record": record_of(query)})
    failures: list[str] = []

    def complain(error: DocumentError, document: str) -> None:
        failures.append(document)
        print(f"{document}: {error}", file=sys.stderr)

    names = file_names(options.sources, options.include)
    is_shown = is_terminal_free(is_output_file=options.output is not None)
    with open_output(options.output) as out, progress(names, is_shown=is_shown) as advance:
        write = _write_parquet if options.format == "parquet" else _write_lines
        count = write(engine, query, documents(names, advance), out, complain, options.format)
    if failures:
        return exits.DOCUMENTS_FAILED
    return exits.DONE if count else exits.NOTHING_MATCHED


def _write_lines(
    engine: Engine,
    query: Query,
    source: Source,
    out: IO[bytes],
    complain: Complain,
    form: str,
) -> int:
    assert isinstance(query.output, Table)
    line_of = csv_line if form == "csv" else tsv_line
    if form != "jsonl":
        names = [column.name for column in query.output.columns]
        names += ["errors"] if query.output.has_errors else []
        out.write(line_of(names).encode())
    count = 0
    for row in engine.run(source):
        if row.error is not None:
            fault = row.error
            error = DocumentError(fault.code, fault.reason, fault.byte, fault.line, fault.path)
            complain(error, row.document)
            continue
        count += 1
        text = row.value or ""
        if form != "jsonl":
            # Numbers stay as they are written: a decimal keeps its digits.
            cells = json.loads(text, parse_float=str, parse_int=str).values()
            text = line_of([_cell(value) for value in cells]).removesuffix("\n")
        out.write(text.encode() + b"\n")
    return count


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _write_parquet(
    engine: Engine,
    query: Query,
    source: Source,
    out: IO[bytes],
    complain: Complain,
    form: str,
) -> int:
    extras.load("pyarrow.parquet", "arrow")
    import pyarrow as pa

    from penstock.engine.tables import TableRows

    rows = TableRows("table", query, complain)
    writer = ParquetWriter(out, [])
    count = 0
    for batch in engine.batches_of_table(source, rows):
        writer.write_table(pa.Table.from_batches([batch]))
        count += batch.num_rows
    if not count:
        writer.write_table(rows.schema.empty_table())
    writer.finish()
    return count
