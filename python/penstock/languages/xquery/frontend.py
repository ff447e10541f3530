"""The entry points: text to syntax tree, text to query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from penstock.errors import QueryError
from penstock.languages.xpath.frontend import DEPTH_MAX, options_of, too_deep
from penstock.languages.xpath.namespaces import NamespaceMap, Namespaces
from penstock.languages.xquery import syntax as y
from penstock.languages.xquery.lowering import ModuleLowering
from penstock.languages.xquery.lowering.names import PREDECLARED, Names
from penstock.languages.xquery.parsing import Parser
from penstock.languages.xquery.values import Given, documents_of
from penstock.languages.xquery.windows import within_us
from penstock.twigs import Query
from penstock.twigs.sequence_parts import depth_of

_SETTINGS = {"untyped": ("error", "false"), "empty": ("drop", "send")}
"""The settings of a query; the first value of each is the default."""


def parse(text: str) -> y.Module:
    """Return the syntax tree of a text in XQuery 1.0.

    Raises:
        QueryError: The text is no query.
    """
    try:
        return Parser(text).parse()
    except RecursionError:
        raise too_deep(text) from None


def xquery(
    text: str,
    *,
    namespaces: NamespaceMap | None = None,
    variables: Mapping[str, object] | None = None,
    untyped: str = "error",
    empty: str = "drop",
    within: str | float | None = None,
) -> Query:
    """Return the query that a text in XQuery 1.0 asks.

    ``namespaces`` binds prefixes to a URI or, in node tests, to several or a glob; the empty
    prefix is the namespace of elements without one. The prolog of the query may bind more.

    ``variables`` gives external variables their values: numbers, strings, booleans, dates, times,
    durations, lists of them, or a ``Document``. A variable that is bound nowhere else is external,
    whether it is declared or not. ``{"xs:date": "2024-05-01"}`` is a value of any type, and
    ``{"stream": "orders"}`` the current document of a stream. Variables that have no value yet get
    one from :func:`penstock.evaluate`; a registry refuses a query with such variables.

    ``untyped="false"`` makes a comparison of a number with text that is no number false, which
    is an error otherwise. ``empty="send"`` sends messages all of whose expressions are empty.
    ``within`` says of a query over several streams how far apart the event times of documents may
    be that it joins, as ``"2 h"`` or in seconds.

    Raises:
        QueryError: The text is no query, breaks a static rule, or contains what is not
            supported; ``xquery_code`` is the code of XQuery.
    """
    for name, value in (("untyped", untyped), ("empty", empty)):
        if value not in _SETTINGS[name]:
            message = f"`{name}` is {value!r}"
            way_out = " or ".join(f'{name}="{choice}"' for choice in _SETTINGS[name])
            raise QueryError("PQ0512", message, (0, len(text)), way_out, text)
    bindings = Namespaces(namespaces, text)
    given = Given(text, variables)
    lowering = ModuleLowering(text, Names(text, PREDECLARED | bindings.bindings), given)
    try:
        sequences = replace(
            lowering.module(parse(text)),
            untyped=untyped,
            empty=empty,
            within_us=within_us(within, text),
        )
    except RecursionError:
        raise too_deep(text) from None
    if depth_of(sequences) > DEPTH_MAX:
        raise too_deep(text)
    options: dict[str, Any] = options_of(bindings, None) | {
        "variables": given.options,
        "untyped": "" if untyped == "error" else untyped,
        "empty": "" if empty == "drop" else empty,
        "within": "" if within is None else str(within),
    }
    options = {name: value for name, value in options.items() if value}
    documents = documents_of(variables or {})
    return Query((), sequences, text=text, language="xquery", options=options, documents=documents)


def bind(query: Query, variables: Mapping[str, object]) -> Query:
    """Return a query whose external variables have other values, or further ones.

    Raises:
        QueryError: A value has no counterpart in XQuery.
    """
    known = {**query.options.get("variables", {}), **query.documents}
    return xquery(query.text, **{**query.options, "variables": {**known, **variables}})
