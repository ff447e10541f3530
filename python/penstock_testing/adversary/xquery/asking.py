"""One query about one document, asked of every engine, with answers that can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import penstock
from penstock.errors import PenstockError, QueryError
from penstock.languages.xquery import xquery
from penstock_testing.peers.saxon_xquery import SaxonXQuery
from penstock_testing.sequences import DynamicError, Items, evaluate_sequences
from penstock_testing.sequences.describing import (
    Described,
    as_values,
    describe,
    describe_values,
)
from penstock_testing.tree import parse


@dataclass(frozen=True, slots=True)
class Failed:
    """An answer that is an error, with its code."""

    code: str
    reason: str

    def __str__(self) -> str:
        return f"error {self.code}: {self.reason}"


Answer = list[Described] | Failed


@dataclass(frozen=True, slots=True)
class Expected:
    """The answer of the reference: with all types, and with those that values of Python have."""

    answer: Answer
    values: Answer


def ask_reference(text: str, document: bytes, untyped: str = "error") -> Expected:
    """Return the answer of the reference evaluator.

    Raises:
        QueryError: The text is no query.
    """
    query = xquery(text, untyped=untyped)
    try:
        items: Items = evaluate_sequences(query, parse(document))
    except DynamicError as error:
        failed = Failed(error.code, error.reason)
        return Expected(failed, failed)
    described = describe(items)
    return Expected(described, as_values(described, items))


def ask_kernel(text: str, document: bytes, untyped: str = "error") -> Answer:
    """Return the answer of the engine.

    Raises:
        QueryError: The text is no query.
    """
    package: Any = penstock
    query = package.xquery(text, untyped=untyped)
    try:
        return describe_values(package.evaluate(query, document))
    except QueryError:
        raise
    except PenstockError as error:
        code = getattr(error, "xquery_code", None) or error.code
        return Failed(code, str(error))


def ask_saxon(saxon: SaxonXQuery, text: str, document: bytes) -> Answer:
    """Return the answer of Saxon."""
    try:
        return saxon.ask(text, document)
    except DynamicError as error:
        return Failed(error.code, error.reason)


def difference(expected: Answer, found: Answer) -> str | None:
    """Return how an answer differs from the expected one: None if it does not.

    An engine may leave out an error in what it does not need, or see one in what another one
    leaves out (section 2.3.4 of XQuery 1.0); such a difference is named, and any other is
    ``"wrong"``.
    """
    if isinstance(expected, Failed):
        return None if isinstance(found, Failed) else "no error where the reference has one"
    if isinstance(found, Failed):
        return "an error where the reference has none"
    return None if expected == found else "wrong"
