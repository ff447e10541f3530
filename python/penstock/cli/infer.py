"""``penstock infer FILE…``: a table proposed from samples or from an XML Schema."""

from __future__ import annotations

import argparse
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

from penstock.cli import exits
from penstock.cli.files import STDIN, documents, file_names
from penstock.cli.output import open_output
from penstock.cli.parsing import positive
from penstock.cli.sampling import at_even_distances

_FILES = 100
_BYTES = 16 << 20


def add_parser(commands: Any) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "infer",
        examples=(
            "penstock infer statements/ > entries.yaml",
            "penstock infer --record Ntry statement.xml --output entries.yaml",
            "penstock infer camt.053.001.08.xsd",
        ),
        help="propose a table: records, columns and types, from samples or a schema",
        description="Print a table for `penstock table`, to be edited: the records are the\n"
        "elements that repeat and hold most of the values, the types are those that all values\n"
        "fit. Behind each column stands how many values were seen. Of many files, some are read\n"
        "at even distances. A FILE that ends in .xsd is an XML Schema.",
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="documents, as for `match`")
    parser.add_argument(
        "--record", metavar="NAME", help="the element that is a record: Ntry, or Stmt/Ntry"
    )
    parser.add_argument("--root", metavar="NAME", help="the root element, for a schema")
    parser.add_argument(
        "--files",
        dest="count",
        type=positive,
        default=_FILES,
        help=f"read at most so many (default {_FILES})",
    )
    parser.add_argument(
        "--bytes",
        type=positive,
        default=_BYTES,
        help=f"read at most so many of each file (default {_BYTES})",
    )
    parser.add_argument("--output", metavar="FILE", help="write to a file instead of stdout")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the proposed table.

    Raises:
        SchemaError: The schema cannot be read.
        SettingError: There is no such record, or no element at all.
        OSError: A file is not there.
    """
    from penstock.engine.inference import infer, infer_schema
    from penstock.sources import inputs

    schemas = [name for name in options.files if name.lower().endswith(".xsd")]
    if schemas and len(options.files) > 1:
        options.parser.error("one schema, or documents")
    if schemas:
        found = infer_schema(Path(schemas[0]), record=options.record, root=options.root)
    else:
        names = at_even_distances(file_names(options.files), options.count)
        # Samples are read several times, and a pipe has its bytes once.
        kept = sys.stdin.buffer.read(options.bytes) if STDIN in names else b""
        found = infer(
            lambda: inputs(documents(names, stdin=BytesIO(kept))),
            record=options.record,
            bytes_max=options.bytes,
        )
    with open_output(options.output) as out:
        out.write(found.yaml().encode())
        out.flush()
    return exits.DONE
