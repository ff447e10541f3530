"""Options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, get_args

from penstock.planning.programs import LANGUAGES
from penstock.schemas import Mode, Schema, schema
from penstock.sources.intake import Damaged, Documents
from penstock.sources.paths import RecordPath
from penstock.twigs import Query

Bindings = dict[str, list[str]]


def add_language_options(
    parser: argparse.ArgumentParser, languages: Sequence[str] = tuple(LANGUAGES)
) -> None:
    """Add how the text of a query is to be read."""
    parser.set_defaults(language="xpath")
    if len(languages) > 1:
        parser.add_argument(
            "--language", choices=tuple(languages), help="the language of the query (xpath)"
        )
    add_namespace_option(parser)
    parser.add_argument(
        "--variable",
        action="append",
        default=[],
        metavar="NAME=TEXT",
        type=pair_or_empty,
        help="the value of $NAME, as text",
    )
    parser.add_argument(
        "--select",
        action="append",
        default=[],
        metavar="NAME=PATH",
        type=selected,
        help="put the value of an expression beside each result, in the column bindings; "
        "[PATH] stands for all its nodes",
    )
    parser.add_argument(
        "--context", default="/", metavar="PATH", help="start at the first node of this path"
    )
    parser.add_argument(
        "--within",
        metavar="WINDOW",
        help="how far apart in event time documents may be that XQuery joins, as 2h",
    )
    parser.add_argument(
        "--dialect", choices=("xpath", "xsq"), default="xpath", help="how the query is written"
    )


def add_namespace_option(parser: argparse.ArgumentParser) -> None:
    """Add what prefixes stand for."""
    parser.add_argument(
        "-n",
        "--namespace",
        action="append",
        default=[],
        metavar="PREFIX=URI",
        type=pair,
        help="bind a prefix; =URI is the namespace of element names without a prefix; "
        "a prefix given twice stands for both, and URI may hold * as a glob",
    )


def add_intake_options(parser: argparse.ArgumentParser, *, has_record: bool = False) -> None:
    """Add how documents are taken out of files; ``has_record`` if records are known anyhow."""
    parser.add_argument(
        "--documents",
        choices=get_args(Documents),
        default="one",
        help="many: a file holds several documents, one after the other",
    )
    parser.add_argument(
        "--damaged",
        choices=get_args(Damaged),
        default="stop",
        help="what a document gives that is not well-formed: all before the error (stop, the "
        "default), nothing (reject), or all but the damaged records (skip)",
    )
    if not has_record:
        parser.add_argument(
            "--record", metavar="PATH", help="the path of records, for --damaged skip"
        )


def intake_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return how an engine takes documents out of files.

    Raises:
        QueryError: The path of records is none.
    """
    record = getattr(options, "record", None)
    return {
        "documents": options.documents,
        "damaged": options.damaged,
        "record": None if record is None else RecordPath(record, bindings(options)),
    }


def pair(text: str) -> tuple[str, str]:
    """Return the two sides of ``name=value``."""
    name, value = pair_or_empty(text)
    if not value:
        raise argparse.ArgumentTypeError(f"`{text}` is not of the form NAME=VALUE")
    return name, value


def selected(text: str) -> tuple[str, str | list[str]]:
    """Return a name, and an expression or, in brackets, a path to all its nodes."""
    name, value = pair(text)
    is_list = value.startswith("[") and value.endswith("]")
    return name, [value[1:-1]] if is_list else value


def pair_or_empty(text: str) -> tuple[str, str]:
    """Return the two sides of ``name=value``, where the value may be empty."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"`{text}` is not of the form NAME=VALUE")
    return name, value


def bindings(options: argparse.Namespace) -> Bindings:
    """Return what the prefixes stand for."""
    found: Bindings = {}
    for prefix, uri in options.namespace:
        found.setdefault(prefix, []).append(uri)
    return found


def add_schema_options(parser: argparse.ArgumentParser) -> None:
    """Add the schema of the documents that a query is meant for."""
    parser.add_argument(
        "--schema", metavar="FILE", help="the DTD (.dtd) or XML Schema (.xsd) of the documents"
    )
    parser.add_argument("--root", metavar="NAME", help="the root element, if it is not evident")


def schema_of(options: argparse.Namespace, mode: Mode) -> Schema | None:
    """Return the schema that the options name.

    Raises:
        SchemaError: It cannot be read, or is none.
    """
    if options.schema is None:
        return None
    return schema(options.schema, root=options.root, mode=mode)


def query_of(text: str, options: argparse.Namespace) -> Query:
    """Return the query of a text.

    Raises:
        QueryError: The text is not a query, or not one that is evaluated.
    """
    return LANGUAGES[options.language](text, **query_options(options))


def query_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the language of the query needs to read its text."""
    common: dict[str, Any] = {"namespaces": bindings(options), "variables": dict(options.variable)}
    if options.language == "xpath" and options.within is None:
        own = {"dialect": options.dialect, "context": options.context}
        return {**common, **own, "select": dict(options.select)}
    if options.language == "xquery":
        common["within"] = options.within
    elif options.within is not None:
        options.parser.error("--within is for XQuery over several streams")
    if options.select or options.dialect != "xpath" or options.context != "/":
        options.parser.error("--select, --context and --dialect are for XPath")
    return {name: value for name, value in common.items() if value}
