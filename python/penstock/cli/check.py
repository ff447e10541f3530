"""``penstock check QUERY --sample FILE``: whether a query fits the documents it is meant for."""

from __future__ import annotations

import argparse
import sys
from typing import IO, Any, cast

from penstock.cli import exits
from penstock.cli.files import STDIN, documents, file_names
from penstock.cli.nothing import RememberedStdin, sample_inputs
from penstock.cli.options import (
    add_language_options,
    add_schema_options,
    query_of,
    schema_of,
)
from penstock.cli.printing import complaint
from penstock.engine import Engine
from penstock.engine.diagnosis import Advice, Samples, diagnose
from penstock.engine.diagnosis.names import names_of
from penstock.errors import QueryError
from penstock.planning.explain import verdict
from penstock.planning.schemas.ends import end_lines, ends_of, is_whole
from penstock.planning.schemas.impossible import Impossible, impossible_steps
from penstock.planning.schemas.knowledge import Knowledge
from penstock.planning.schemas.programs import rewrite_for
from penstock.registry import MemoryRegistry
from penstock.results import Result
from penstock.twigs import Query

_SHOWN = 3
_WIDTH = 100
_SAMPLE_BYTES = 256 << 20


def add_parser(commands: Any) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "check",
        examples=(
            "penstock check '//book/titel' --sample shop.xml",
            "penstock check -n a=http://www.w3.org/2005/Atom '//a:entry' --sample feeds/",
            "penstock check '//book/titel' --schema shop.dtd",
        ),
        help="hold a query against sample documents or a schema and say why it finds nothing",
        description="Run a query on samples, show the first results, and how many nodes survive\n"
        "each step and predicate. For what finds nothing: whether a name exists in another\n"
        "namespace or is spelled differently, and which values there are. Queries that need the\n"
        "whole document are warned of. With a schema, steps that it makes impossible are listed,\n"
        "and where in a document matches end.",
    )
    parser.add_argument("query", metavar="QUERY")
    parser.add_argument(
        "--sample", nargs="+", default=[], metavar="FILE", help="documents, as for `match`"
    )
    add_schema_options(parser)
    add_language_options(parser, ("xpath", "xquery"))
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print what the query finds, and what it cannot find.

    Raises:
        QueryError: The query is not valid, or not one that is evaluated.
        SchemaError: The schema cannot be read, or is none.
    """
    if not options.sample and options.schema is None:
        options.parser.error("--sample or --schema is needed")
    impossible = _impossible(options)
    for one in impossible:
        print(f"impossible: {one}")
    for line in _ends(options):
        print(line)
    if not options.sample:
        if not impossible:
            print("the schema allows every step")
        return exits.NOTHING_MATCHED if impossible else exits.DONE
    names = file_names(options.sample)
    if not names:
        print("nothing was read: there are no files", file=sys.stderr)
        return exits.NOTHING_MATCHED
    stdin = RememberedStdin(sys.stdin.buffer) if STDIN in names else None
    samples = Samples(lambda: sample_inputs(names, stdin), _SAMPLE_BYTES, is_each=True)
    query = _query(options, samples)
    registry = MemoryRegistry()
    registry.add("query", query)
    shown: list[Result] = []
    found = failures = 0
    source = documents(names, stdin=cast("IO[bytes] | None", stdin))
    for row in Engine(registry).run(source, order="document"):
        if row.error is not None:
            failures += 1
            print(complaint(row.document, row.error), file=sys.stderr)
            continue
        found += 1
        if len(shown) < _SHOWN:
            shown.append(row)
    samples.is_cut = samples.is_cut or (stdin is not None and stdin.is_cut)
    diagnosis = diagnose(query, samples, Advice.COMMAND)
    print(f"{_counted(found, 'result')} in {_counted(samples.count, 'document')}")
    for row in shown:
        print(f"  {_preview(row)}")
    if diagnosis.extent:
        print(diagnosis.extent.strip())
    survivors = [one for one in diagnosis.survivors if not found or len(one.stages) > 1]
    for line in (*map(str, survivors), *diagnosis.names, *diagnosis.details, *_warnings(query)):
        print(line)
    if failures:
        return exits.DOCUMENTS_FAILED
    return exits.DONE if found else exits.NOTHING_MATCHED


def _impossible(options: argparse.Namespace) -> list[Impossible]:
    """Return the steps that the schema makes impossible, if there is one."""
    schema = schema_of(options, "verify")
    if schema is None:
        return []
    return impossible_steps(query_of(options.query, options), schema)


def _ends(options: argparse.Namespace) -> list[str]:
    """Return where matches end in documents that fit the schema, if they end before the root."""
    schema = schema_of(options, "trust")
    if schema is None:
        return []
    query = rewrite_for(query_of(options.query, options), schema, is_fed=True).query
    knowledge = Knowledge.of(schema)
    ends = ends_of(query, "query", knowledge)
    return [] if is_whole(ends) else end_lines(query, "query", knowledge)


def _query(options: argparse.Namespace, samples: Samples) -> Query:
    try:
        return query_of(options.query, options)
    except QueryError as error:
        if error.code == "PQ0111":
            names = names_of(samples)
            start, end = error.span
            prefix = error.text[start:end].partition(":")[0]
            uris = names.prefixes.get(prefix)
            if uris:
                bound = Advice.COMMAND.bind(prefix, sorted(uris))
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


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _preview(row: Result) -> str:
    text = " ".join((row.value or "").split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
