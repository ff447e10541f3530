"""``penstock check QUERY --sample FILE``: whether a query fits the documents it is meant for."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from penstock.cli import exits
from penstock.cli.files import documents
from penstock.cli.names import Names, advise, name_tests, read_names
from penstock.cli.options import add_language_options, query_of
from penstock.cli.printing import complaint
from penstock.engine import Engine
from penstock.errors import QueryError
from penstock.planning.explain import verdict
from penstock.registry import MemoryRegistry
from penstock.results import Result
from penstock.twigs import Query

_SHOWN = 3
_WIDTH = 100


def add_parser(commands: Any) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "check",
        examples=(
            "penstock check '//book/titel' --sample shop.xml",
            "penstock check -n a=http://www.w3.org/2005/Atom '//a:entry' --sample feeds/*.xml",
        ),
        help="try a query on sample documents and say why it finds nothing",
        description="Run a query on samples, show the first results, say for each name that "
        "does not occur whether it exists in another namespace or is spelled differently, and "
        "warn of queries that need the whole document.",
    )
    parser.add_argument("query", metavar="QUERY")
    parser.add_argument("--sample", nargs="+", required=True, metavar="FILE")
    add_language_options(parser, ("xpath",))
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print what the query finds, and what it cannot find.

    Raises:
        QueryError: The query is none, or not one that is evaluated.
    """
    names = Names()
    for name in options.sample:
        read_names(name, names)
    query = _query(options, names)
    registry = MemoryRegistry()
    registry.add("query", query)
    shown: list[Result] = []
    found = failures = 0
    for row in Engine(registry).run(documents(options.sample), order="document"):
        if row.error is not None:
            failures += 1
            print(complaint(row.document, row.error), file=sys.stderr)
            continue
        found += 1
        if len(shown) < _SHOWN:
            shown.append(row)
    print(f"{found} result{'' if found == 1 else 's'} in {_count(options.sample, 'document')}")
    for row in shown:
        print(f"  {_preview(row)}")
    advice = advise(name_tests(query), names)
    for line in (*advice, *_warnings(query)):
        print(line)
    if not found and not failures and not advice:
        print("every name occurs in the samples; no node satisfies the whole path")
    if failures:
        return exits.DOCUMENTS_FAILED
    return exits.DONE if found else exits.NOTHING_MATCHED


def _query(options: argparse.Namespace, names: Names) -> Query:
    try:
        return query_of(options.query, options)
    except QueryError as error:
        if error.code == "PQ0111":
            start, end = error.span
            prefix = error.text[start:end].partition(":")[0]
            uris = names.prefixes.get(prefix)
            if uris:
                bound = " ".join(f"--namespace {prefix}={uri}" for uri in sorted(uris))
                error.help = f"the samples bind it; do the same: {bound}"
        raise


def _warnings(query: Query) -> list[str]:
    """Return what may surprise on long documents and on streams without an end."""
    said = verdict(query)
    if said.suits_endless:
        return []
    lines = [f"warning: memory {said.memory}"] if said.memory.startswith("grows") else []
    reason = said.endless.removeprefix("no: ")
    return [*lines, f"warning: not for endless streams: {reason}"]


def _count(things: list[str], word: str) -> str:
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"


def _preview(row: Result) -> str:
    text = " ".join((row.value or "").split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
