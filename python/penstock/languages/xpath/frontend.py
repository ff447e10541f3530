"""The entry points: text to syntax tree, text to query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from penstock.errors import QueryError
from penstock.languages.xpath.expressions import Asked, ExpressionLowering, lower_query
from penstock.languages.xpath.forward import look_forward, looks_back
from penstock.languages.xpath.lowering import Lowering, lower
from penstock.languages.xpath.namespaces import XML_NAMESPACE, NamespaceMap, Namespaces
from penstock.languages.xpath.parser import Parser
from penstock.languages.xpath.scopes import Scope
from penstock.languages.xpath.syntax import Expression
from penstock.languages.xpath.xsq import XsqParser
from penstock.twigs import Aggregate, Query, Selection
from penstock.twigs.depth import depth_of
from penstock.twigs.queries import NoTwigError
from penstock.twigs.slots import SlotTable

DEPTH_MAX = 100
"""Levels of steps, conditions and calls inside each other."""

SELECTED_MAX = 100
"""Values beside a result."""

_PARSERS: dict[str, type[Parser]] = {"xpath": Parser, "xsq": XsqParser}


def parse(text: str, *, dialect: str = "xpath") -> Expression:
    """Return the syntax tree of a text in XPath 1.0, or in the dialect ``xsq``.

    Raises:
        QueryError: The text is no expression.
    """
    if dialect not in _PARSERS:
        way_out = f"use one of {', '.join(_PARSERS)}"
        raise QueryError("PQ0117", f"`{dialect}` is no dialect", (0, len(text)), way_out, text)
    return _PARSERS[dialect](text).parse()


def xpath(
    text: str,
    *,
    namespaces: NamespaceMap | None = None,
    variables: Mapping[str, object] | None = None,
    select: Mapping[str, str] | None = None,
    dialect: str = "xpath",
    context: str = "/",
) -> Query:
    """Return the query that a text in XPath 1.0 asks: twigs where they can say it.

    ``namespaces`` binds prefixes to a URI, to several, or to a glob; the empty prefix is the
    namespace of element names without one. ``variables`` are strings, numbers and booleans,
    taken as constants. ``select`` names paths relative to each result; the string value of the
    first node of each travels with the result. The query starts at the first node of the path
    ``context``. A path that can never match is a query without results, not an error.

    Raises:
        QueryError: The text is no expression, or one that is nested too deeply.
    """
    asking = _Asking(text, namespaces, variables, select, dialect, context)
    return asking.within_bounds(asking.twigs_or_expression)


def as_expression(query: Query) -> Query:
    """Return the query of a text as an expression, whether twigs could say it or not.

    Raises:
        QueryError: As an expression it is nested too deeply.
    """
    asking = _Asking(query.text, **query.options)
    general = asking.within_bounds(asking.expression)
    if isinstance(query.output, Aggregate) and isinstance(general.output, Selection):
        return replace(general, output=replace(general.output, running=query.output.running))
    return general


def _named_paths(select: object, text: str) -> dict[str, str]:
    if select is None:
        return {}
    if isinstance(select, Mapping) and len(select) <= SELECTED_MAX:
        pairs = dict(select)
        if all(isinstance(part, str) for pair in pairs.items() for part in pair):
            return pairs
    message = f"select is no map of at most {SELECTED_MAX} names to paths"
    way_out = "name the paths: select={'id': '@id'}"
    raise QueryError("PQ0121", message, (0, len(text)), way_out, text)


class _Asking:
    """A text and its options, each as :func:`xpath` takes them."""

    def __init__(
        self,
        text: str,
        namespaces: NamespaceMap | None = None,
        variables: Mapping[str, object] | None = None,
        select: Mapping[str, str] | None = None,
        dialect: str = "xpath",
        context: str = "/",
    ) -> None:
        self.text = text
        self.namespaces = Namespaces(namespaces, text)
        self.variables = dict(variables or {})
        self.select = _named_paths(select, text)
        self.dialect = dialect
        self.context = context

    def within_bounds(self, lower_text: Callable[[], Query]) -> Query:
        """Return a lowered query, if it is not nested too deeply."""
        try:
            query = lower_text()
            if depth_of(query) <= DEPTH_MAX:
                return replace(query, options=self.options())
        except RecursionError:
            pass  # deeper still
        message = f"the query is nested more than {DEPTH_MAX} levels deep"
        way_out = "use shorter paths and fewer predicates inside each other"
        raise QueryError("PQ0105", message, (0, len(self.text)), way_out, self.text)

    def twigs_or_expression(self) -> Query:
        """Return the query as twigs, or as an expression where there are none."""
        if self.context != "/" or self.select:
            return self.expression()
        expression = parse(self.text, dialect=self.dialect)
        if not looks_back(expression):
            try:
                return self.twigs(expression)
            except NoTwigError:
                return self.expression()
        # Rewriting may drop a part; as an expression the query is checked as a whole.
        general = self.expression()
        try:
            scope = Scope(self.text, self.namespaces, self.variables)
            return self.twigs(look_forward(expression, scope))
        except NoTwigError:
            return general

    def twigs(self, expression: Expression) -> Query:
        """Return an expression as twigs."""
        return lower(expression, Lowering(self.text, self.namespaces, self.variables))

    def expression(self) -> Query:
        """Return the query as an expression."""
        slots = SlotTable()
        context = None if self.context == "/" else self.asked(self.context, slots)
        asked = self.asked(self.text, slots, self.dialect)
        select = {name: self.asked(path, slots) for name, path in self.select.items()}
        return lower_query(asked, context, select)

    def asked(self, text: str, slots: SlotTable, dialect: str = "xpath") -> Asked:
        """Return the syntax tree of a text and what it takes to lower it."""
        namespaces = Namespaces(self.namespaces.bindings, text)
        lowering = ExpressionLowering(text, namespaces, self.variables, slots)
        return Asked(parse(text, dialect=dialect), lowering)

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
