"""Options that several commands share."""

from __future__ import annotations

import argparse

from penstock.languages.xpath import xpath
from penstock.languages.xscl import xscl
from penstock.twigs import Query

Bindings = dict[str, list[str]]


def add_language_options(
    parser: argparse.ArgumentParser, languages: tuple[str, ...] = ("xpath",)
) -> None:
    """Add how the text of a query is to be read."""
    parser.set_defaults(language="xpath", parser=parser)
    if len(languages) > 1:
        parser.add_argument("--language", choices=languages, help="the language of the query")
    parser.add_argument(
        "-n",
        "--namespace",
        action="append",
        default=[],
        metavar="PREFIX=URI",
        type=pair,
        help="bind a prefix; =URI is the namespace of element names without one; "
        "a prefix given twice stands for both, and URI may hold * as a glob",
    )
    parser.add_argument(
        "--select",
        action="append",
        default=[],
        metavar="NAME=PATH",
        type=pair,
        help="put the value of a path beside each result, in the column bindings",
    )
    parser.add_argument(
        "--dialect", choices=("xpath", "xsq"), default="xpath", help="how the query is written"
    )


def pair(text: str) -> tuple[str, str]:
    """Return the two sides of ``name=value``."""
    name, equals, value = text.partition("=")
    if not equals or not value:
        raise argparse.ArgumentTypeError(f"`{text}` is not of the form NAME=VALUE")
    return name, value


def bindings(options: argparse.Namespace) -> Bindings:
    """Return what the prefixes stand for."""
    found: Bindings = {}
    for prefix, uri in options.namespace:
        found.setdefault(prefix, []).append(uri)
    return found


def query_of(text: str, options: argparse.Namespace) -> Query:
    """Return the query of a text.

    Raises:
        QueryError: It is none, or not one that is evaluated.
    """
    if options.language == "xscl":
        if options.select or options.dialect != "xpath":
            options.parser.error("--select and --dialect are for XPath")
        return xscl(text, namespaces=bindings(options))
    return xpath(
        text,
        namespaces=bindings(options),
        select=dict(options.select),
        dialect=options.dialect,
    )
