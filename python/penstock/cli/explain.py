"""``penstock explain QUERY``: what a query is and what it will cost."""

from __future__ import annotations

import argparse
from typing import Any

from penstock.cli import exits
from penstock.cli.options import (
    add_language_options,
    add_schema_options,
    query_of,
    schema_of,
)
from penstock.planning.compile import compile_query
from penstock.planning.explain import explain
from penstock.twigs import Event
from penstock.twigs.sequences import Sequences


def add_parser(commands: Any) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "explain",
        examples=(
            "penstock explain '//book[price < 11]/title'",
            "penstock explain --language xscl 'a//x->x JOIN{x = y, 1 h} b//y->y'",
            "penstock explain --schema shop.dtd --trust '//book[price < 11]/title'",
        ),
        help="print when results are decided, what is held, and how much",
        description="Print a query in normal form, when its results are decided, what is held\n"
        "until then, and what bounds the memory. No document is read.",
    )
    parser.add_argument("query", metavar="QUERY")
    add_language_options(parser)
    add_schema_options(parser)
    parser.add_argument(
        "--trust", action="store_true", help="take the schema for granted instead of checking it"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the explanation.

    Raises:
        QueryError: The query is not valid, or not one that is evaluated.
        SchemaError: The schema cannot be read, or is none.
    """
    query = query_of(options.query, options)
    if not isinstance(query.output, Event | Sequences):
        compile_query(query)
    print(explain(query, schema_of(options, "trust" if options.trust else "verify")), end="")
    return exits.DONE
