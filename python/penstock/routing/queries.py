"""Queries of servers: conjunctions of conditions, texts, and filter subscriptions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from penstock.errors import QueryError, RegistryError
from penstock.languages.xpath import parse
from penstock.languages.xpath.namespaces import NamespaceMap
from penstock.planning.compile import compile_query
from penstock.planning.program import Request, request_of
from penstock.registry.protocol import AnyRegistry
from penstock.routing.formulas import (
    COMPARISONS,
    OPERATORS,
    All,
    Check,
    Formula,
    Opaque,
    Operator,
    Some,
    as_xpath,
    native_test,
    number_of,
)
from penstock.routing.paths import Bindings, bindings_of, view_path
from penstock.routing.reading import filter_program, is_plain, read_formula
from penstock.twigs import Query as CompiledQuery

ConstantValue = str | float | dt.date | dt.datetime


@dataclass(frozen=True, slots=True)
class Condition:
    """``path operator constant``: some node of the path has a value for which it holds.

    Operators are ``= != < <= > >=``, ``contains``, ``starts-with`` and ``matches`` (a regular
    expression). A number is compared as XPath compares numbers, a date or time as an instant.
    """

    path: str
    operator: Operator
    constant: ConstantValue


@dataclass(frozen=True)
class Query:
    """A named query of a server: what it asks, and the filter that answers it on a miss.

    ``program`` is None where XPath cannot say it: then its conditions are evaluated one by one.
    """

    name: str
    text: str
    formula: Formula
    program: bytes | None = field(repr=False)


Source = str | Condition | Sequence[Condition] | CompiledQuery
"""What a query may be given as: a text, conditions that all have to hold, or a query of XPath."""
Queries = Mapping[str, Source] | Iterable[str | Query] | AnyRegistry


def queries_of(source: Queries, namespaces: NamespaceMap | None = None) -> tuple[Query, ...]:
    """Return the queries of a server: by name, as texts that are their own names, as queries that
    were read before, or those of a registry, whose subscriptions have to be filters.

    Raises:
        QueryError: A text is no query, or a condition is none.
        RegistryError: A subscription is no filter of documents.
    """
    bindings = bindings_of(namespaces)
    if isinstance(source, str):
        source = [source]
    if isinstance(source, Mapping):
        return tuple(read_query(name, given, bindings) for name, given in source.items())
    if hasattr(source, "snapshot"):
        return tuple(_subscribed(subscription) for subscription in source)
    return tuple(
        given if isinstance(given, Query) else read_query(given, given, bindings)
        for given in source
    )


def read_query(name: str, source: Source, bindings: Bindings = ()) -> Query:
    """Return a query.

    Raises:
        QueryError: It is none.
    """
    if isinstance(source, CompiledQuery):
        return _compiled(name, source)
    if isinstance(source, Condition):
        source = [source]
    if isinstance(source, str):
        parsed = parse(source)
        formula = read_formula(source, bindings)
        if not is_plain(parsed):
            return Query(name, source, formula, None)
        return Query(name, source, formula, filter_program(source, bindings))
    formula = All(tuple(_condition(one, bindings) for one in source))
    text = " and ".join(f"{one.path} {one.operator} {one.constant!r}" for one in source)
    return of_formula(name, text, formula, bindings)


def of_formula(name: str, text: str, formula: Formula, bindings: Bindings) -> Query:
    """Return the query of a formula, all of whose paths have the same namespaces."""
    written = as_xpath(formula)
    if written is None:
        return Query(name, text, formula, None)
    return Query(name, text, formula, filter_program(written, bindings))


def _condition(condition: Condition, bindings: Bindings) -> Formula:
    path = view_path(condition.path, bindings)
    operator, constant = condition.operator, condition.constant
    if operator not in OPERATORS:
        message = f"`{operator}` is no operator of conditions"
        help_text = f"use one of {', '.join(OPERATORS)}"
        raise QueryError("PQ0604", message, (0, len(operator)), help_text, operator)
    is_date = isinstance(constant, dt.date)
    if isinstance(constant, dt.date):
        constant = constant.isoformat()
    elif isinstance(constant, bool | int):
        constant = float(constant)
    if operator not in COMPARISONS and (is_date or not isinstance(constant, str)):
        text = f"{condition.path} {operator} {condition.constant!r}"
        message = f"`{operator}` needs a string"
        raise QueryError("PQ0604", message, (0, len(text)), "quote the constant", text)
    if isinstance(constant, str) and operator in ("<", "<=", ">", ">=") and not is_date:
        constant = number_of(constant)
    test = Check(operator, constant, is_date)
    native_test(test)
    return Some(path, test)


def _compiled(name: str, query: CompiledQuery) -> Query:
    options = dict(query.options)
    namespaces = options.pop("namespaces", None)
    program = compile_query(query, is_filter=True)
    if not query.text or options or query.language != "xpath":
        return Query(name, query.text, Opaque(program), program)
    formula = read_formula(query.text, bindings_of(namespaces))
    return Query(name, query.text, formula, program)


def _subscribed(subscription: object) -> Query:
    from penstock.registry.subscriptions import Subscription

    assert isinstance(subscription, Subscription), "registries hold subscriptions"
    name = subscription.name
    if request_of(subscription.program) is not Request.ROWS or subscription.mode != "filter":
        message = f"`{name}` is no filter of documents; add it with mode='filter'"
        raise RegistryError("PR0011", message)
    return _compiled(name, subscription.query)
