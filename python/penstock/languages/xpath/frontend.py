"""The entry points: text to syntax tree, text to query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from penstock.errors import QueryError
from penstock.languages.xpath.expressions import Asked, ExpressionLowering, lower_selection
from penstock.languages.xpath.forward import look_forward, looks_back
from penstock.languages.xpath.namespaces import XML_NAMESPACE, NamespaceMap, Namespaces
from penstock.languages.xpath.parser import Parser
from penstock.languages.xpath.syntax import Expression
from penstock.languages.xpath.xsq import XsqParser
from penstock.twigs import Query
from penstock.twigs.blanks import Beside, Trace
from penstock.twigs.depth import depth_of
from penstock.twigs.queries import NoTwigError
from penstock.twigs.slots import SlotTable
from penstock.twigs.subforms import as_twigs

Select = Mapping[str, str | Sequence[str]]
"""Expressions beside results, by name; a path in a list stands for all its nodes."""

DEPTH_MAX = 100
"""Levels of steps, conditions and calls inside each other."""

SELECTED_MAX = 100
"""Values beside a result."""

_PARSERS: dict[str, type[Parser]] = {"xpath": Parser, "xsq": XsqParser}


def parse(text: str, *, dialect: str = "xpath", trace: Trace | Beside | None = None) -> Expression:
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
    select: Select | None = None,
    dialect: str = "xpath",
    context: str = "/",
    trace: Trace | None = None,
) -> Query:
    """Return the query of a text in XPath 1.0.

    >>> xpath("//p:book[@lang = $lang]", namespaces={"p": "urn:p"}, variables={"lang": "en"})
    <Query xpath: //p:book[@lang = $lang]>

    ``namespaces`` binds prefixes to a URI, to several, or to a glob; the empty prefix is the
    namespace of element names without one. ``variables`` are strings, numbers and booleans,
    taken as constants. ``select`` names expressions, evaluated at each result, whose values travel
    with it as text; of a path it is the first node, and with ``[path]`` all, as a JSON array. The
    query starts at the first node of the path ``context``. A path that can never match is a query
    without results, not an error. With a ``trace`` the constants of the text are blanks, for
    compiling all queries of its shape.

    Raises:
        QueryError: The text is not valid XPath, or is nested too deeply.
    """
    asking = _Asking(text, namespaces, variables, select, dialect, context)
    return asking.within_bounds(trace)


def too_deep(text: str) -> QueryError:
    """Return the error about a query that is nested too deeply."""
    message = f"the query is nested more than {DEPTH_MAX} levels deep"
    way_out = "use shorter paths and fewer predicates inside each other"
    return QueryError("PQ0105", message, (0, len(text)), way_out, text)


def _named(select: object, text: str) -> dict[str, str | list[str]]:
    if select is None:
        return {}
    if isinstance(select, Mapping) and len(select) <= SELECTED_MAX:
        pairs = {name: _listed(one) for name, one in select.items()}
        if all(isinstance(name, str) and one is not None for name, one in pairs.items()):
            return {name: one for name, one in pairs.items() if one is not None}
    message = f"select is no map of at most {SELECTED_MAX} names to expressions"
    way_out = "name them: select={'id': '@id', 'lines': 'count(line)', 'authors': ['author']}"
    raise QueryError("PQ0121", message, (0, len(text)), way_out, text)


def _listed(written: object) -> str | list[str] | None:
    match written:
        case str():
            return written
        case [str() as path]:
            return [path]
    return None


class _Asking:
    """A text and its options, each as :func:`xpath` takes them."""

    def __init__(
        self,
        text: str,
        namespaces: NamespaceMap | None = None,
        variables: Mapping[str, object] | None = None,
        select: Select | None = None,
        dialect: str = "xpath",
        context: str = "/",
    ) -> None:
        self.text = text
        self.namespaces = Namespaces(namespaces, text)
        self.variables = dict(variables or {})
        self.select = _named(select, text)
        self.dialect = dialect
        self.context = context
        self.beside: Beside | None = None

    def within_bounds(self, trace: Trace | None) -> Query:
        """Return the lowered query, if it is not nested too deeply."""
        try:
            query = self.lowered(trace)
            if depth_of(query) <= DEPTH_MAX:
                return replace(query, options=self.options())
        except RecursionError:
            pass  # deeper still
        raise too_deep(self.text)

    def lowered(self, trace: Trace | None) -> Query:
        """Return the query as twigs, or as an expression where there are none."""
        parsed = parse(self.text, dialect=self.dialect, trace=trace)
        self.beside = None if trace is None else trace.beside()
        slots = SlotTable()
        lowering = self.lowering(self.text, slots)
        context = None if self.context == "/" else self.path(self.context, slots)
        select = {name: self.value(one, slots) for name, one in self.select.items()}
        selection = lower_selection(Asked(parsed, lowering), context, select)
        query = Query((), selection, tuple(slots.values), text=self.text)
        if context is not None or select:
            return query
        try:
            if not looks_back(parsed):
                return as_twigs(query, selection, slots.values)
            lowering = self.lowering(self.text, SlotTable())
            forward = Asked(look_forward(parsed, lowering), lowering)
            return as_twigs(query, lower_selection(forward), lowering.slots.values)
        except NoTwigError:
            return query

    def path(self, text: str, slots: SlotTable) -> Asked:
        """Return a path beside the text, and what it takes to lower it."""
        return Asked(parse(text, trace=self.beside), self.lowering(text, slots))

    def value(self, written: str | list[str], slots: SlotTable) -> Asked:
        """Return a value beside results; in a list it is a path to all its nodes."""
        if isinstance(written, str):
            return self.path(written, slots)
        return replace(self.path(written[0], slots), is_list=True)

    def lowering(self, text: str, slots: SlotTable) -> ExpressionLowering:
        """Return what it takes to lower a text."""
        namespaces = Namespaces(self.namespaces.bindings, text)
        return ExpressionLowering(text, namespaces, self.variables, slots)

    def options(self) -> dict[str, Any]:
        """Return what differs from the defaults: with it, ``xpath`` gives an equal query again."""
        options = options_of(self.namespaces, self.variables) | {
            "select": self.select,
            "dialect": "" if self.dialect == "xpath" else self.dialect,
            "context": "" if self.context == "/" else self.context,
        }
        return {name: value for name, value in options.items() if value}


def options_of(bindings: Namespaces, variables: Mapping[str, object] | None) -> dict[str, Any]:
    """Return what differs from the defaults of all languages that have paths."""
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
    return {name: value for name, value in options.items() if value}
