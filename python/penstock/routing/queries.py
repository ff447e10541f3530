"""Queries of servers: conjunctions of conditions, texts, and filter subscriptions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from penstock.errors import QueryError, RegistryError
from penstock.languages.xpath import parse
from penstock.languages.xpath.namespaces import NamespaceMap
from penstock.planning.compile import compile_query
from penstock.planning.program import Request, request_of
from penstock.registry.protocol import AnyRegistry
from penstock.registry.subscriptions import Subscription
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

if TYPE_CHECKING:
    from typing_extensions import TypeIs

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


def is_registry(source: Queries) -> TypeIs[AnyRegistry]:
    """Return whether queries are those of a registry."""
    return hasattr(source, "snapshot")


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
    if is_registry(source):
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
        return Query(name, source, *_read_text(source, bindings))
    formula = All(tuple(_condition(one, bindings) for one in source))
    text = " and ".join(f"{one.path} {one.operator} {one.constant!r}" for one in source)
    return of_formula(name, text, formula, bindings)


@lru_cache(maxsize=1 << 14)
def _read_text(text: str, bindings: Bindings) -> tuple[Formula, bytes | None]:
    """Return the formula of a text, and its filter if XPath can say it. Equal texts compile once.

    Raises:
        QueryError: The text is no expression, or not one that is evaluated.
    """
    formula = _formula(text, bindings)
    return formula, filter_program(text, bindings) if is_plain(parse(text)) else None


_formula = lru_cache(maxsize=1 << 14)(read_formula)


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
    program = compile_query(query, is_filter=True)
    return _of_program(name, query.text, query.language, query.options, program)


def _of_program(
    name: str, text: str, language: str, options: Mapping[str, Any], program: bytes
) -> Query:
    """Return a query that is compiled; its formula is read from the text if it is plain XPath."""
    rest = dict(options)
    namespaces = rest.pop("namespaces", None)
    if not text or rest or language != "xpath":
        return Query(name, text, Opaque(program), program)
    return Query(name, text, _formula(text, bindings_of(namespaces)), program)


def _subscribed(subscription: Subscription) -> Query:
    name, program, asked = subscription.name, subscription.program, subscription.question
    if request_of(program) is not Request.ROWS or subscription.mode != "filter":
        message = f"`{name}` is no filter of documents; add it with mode='filter'"
        raise RegistryError("PR0011", message)
    described = subscription if isinstance(asked, str) else asked
    return _of_program(name, described.text, described.language, described.options, program)
