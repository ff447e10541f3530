"""The two entry points: text to syntax tree, text to query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from penstock.errors import QueryError
from penstock.languages.xpath.lowering import Lowering, lower
from penstock.languages.xpath.namespaces import XML_NAMESPACE, NamespaceMap, Namespaces
from penstock.languages.xpath.parser import Parser
from penstock.languages.xpath.syntax import Expression
from penstock.languages.xpath.xsq import XsqParser
from penstock.twigs import Query
from penstock.twigs.blanks import Trace
from penstock.twigs.depth import depth_of

DEPTH_MAX = 100
"""Levels of steps, conditions and calls inside each other."""

_PARSERS: dict[str, type[Parser]] = {"xpath": Parser, "xsq": XsqParser}


def parse(text: str, *, dialect: str = "xpath", trace: Trace | None = None) -> Expression:
    """Return the syntax tree of a text in XPath 1.0, or in the dialect ``xsq``.

    With a trace its constants are blanks, in the order of the text.

    Raises:
        QueryError: The text is no expression.
    """
    if dialect not in _PARSERS:
        way_out = f"use one of {', '.join(_PARSERS)}"
        raise QueryError("PQ0117", f"`{dialect}` is no dialect", (0, len(text)), way_out, text)
    return _PARSERS[dialect](text, trace).parse()


def xpath(
    text: str,
    *,
    namespaces: NamespaceMap | None = None,
    variables: Mapping[str, object] | None = None,
    select: object = None,
    dialect: str = "xpath",
    context: str = "/",
    trace: Trace | None = None,
) -> Query:
    """Return the query that a text in XPath 1.0 asks.

    ``namespaces`` binds prefixes to a URI, to several, or to a glob; the empty prefix is the
    namespace of element names without one. ``variables`` are strings, numbers and booleans,
    taken as constants. A path that can never match is a query without results, not an error.
    With a ``trace`` the constants of the text are blanks, for compiling all queries of its shape.

    Raises:
        QueryError: The text is no expression, or contains what is not evaluated yet.
    """
    whole = (0, len(text))
    if select is not None:
        message = "`select` is not evaluated yet"
        raise QueryError("PQ0213", message, whole, "select from the results instead", text)
    if context != "/":
        message = f"the context {context!r} is not evaluated yet; a query starts at /"
        raise QueryError("PQ0214", message, whole, "put the context before the path", text)
    expression = parse(text, dialect=dialect, trace=trace)
    bindings = Namespaces(namespaces, text)
    lowering = Lowering(text, bindings, variables)
    try:
        query = lower(expression, lowering)
        if depth_of(query) <= DEPTH_MAX:
            return replace(query, options=_options(bindings, variables, dialect))
    except RecursionError:
        pass  # deeper still
    message = f"the query is nested more than {DEPTH_MAX} levels deep"
    way_out = "use shorter paths and fewer predicates inside each other"
    raise QueryError("PQ0105", message, whole, way_out, text)


def _options(
    bindings: Namespaces, variables: Mapping[str, object] | None, dialect: str
) -> dict[str, Any]:
    """Return what differs from the defaults: with it, ``xpath`` gives an equal query again."""
    uris = {prefix: list(uris) for prefix, uris in bindings.bindings.items()}
    if uris["xml"] == [XML_NAMESPACE]:
        del uris["xml"]
    # A value of another type is an error where it is used, and this one was used nowhere.
    values = {
        name: value
        for name, value in (variables or {}).items()
        if isinstance(value, str | int | float)
    }
    options: dict[str, Any] = {"namespaces": uris, "variables": values}
    if dialect != "xpath":
        options["dialect"] = dialect
    return {name: value for name, value in options.items() if value}
