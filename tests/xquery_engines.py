"""Every engine that evaluates XQuery, behind one signature.

An item is described by kind, name and value, as ``penstock_testing.sequences.describing`` says:
elements as canonical XML, atomic values with their type instead of a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from xml.sax.saxutils import escape

import penstock
from penstock.errors import PenstockError, QueryError
from penstock.languages.xquery import xquery
from penstock.results import Document
from penstock_testing.sequences import DynamicError, evaluate_sequences, rows_of, serialise
from penstock_testing.sequences.describing import (
    WHOLE,
    Described,
    as_values,
    canonical,
    describe,
    describe_values,
)
from penstock_testing.tree import Tree, parse

Sources = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Answer:
    """The items of an answer, and all of them as XML; None where an attribute stands alone."""

    items: list[Described]
    xml: str | None


class Ask(Protocol):
    """Asks an engine; ``bound`` are the documents of variables, ``options`` those of a query."""

    def __call__(
        self, text: str, document: bytes | None, bound: Sources, **options: Any
    ) -> Answer: ...


class AskRows(Protocol):
    """Asks an engine for the kinds and values of the rows that it delivers for a document."""

    def __call__(self, text: str, document: bytes, **options: Any) -> list[tuple[str, str]]: ...


def _with_documents(bound: Sources, options: Mapping[str, Any]) -> dict[str, Any]:
    documents = {name: Document(source, id=name) for name, source in bound.items()}
    return {**options, "variables": {**documents, **options.get("variables", {})}}


def ask_reference(
    text: str,
    document: bytes | None,
    bound: Sources,
    read: Any = parse,
    **options: Any,
) -> Answer:
    """Return the answer of the reference evaluator, with types as values of Python have them.

    Raises:
        DynamicError: The evaluation fails.
        QueryError: The text is no query.
    """
    query = xquery(text, **_with_documents(bound, options))
    trees: dict[str, Tree] = {f"${name}": read(source) for name, source in bound.items()}
    tree = None if document is None else read(document)
    items = evaluate_sequences(query, tree, documents=trees)
    try:
        xml: str | None = serialise(items)
    except DynamicError:
        xml = None
    return Answer(as_values(describe(items), items), xml)


def ask_kernel(text: str, document: bytes | None, bound: Sources, **options: Any) -> Answer:
    """Return the answer of the engine itself.

    Raises:
        DynamicError: The evaluation fails.
        QueryError: The text is no query.
    """
    query = penstock.xquery(text, **_with_documents(bound, options))
    documents = {name: Document(source, id=name) for name, source in bound.items()}
    try:
        items: Any = penstock.evaluate(query, document, variables=documents or None)
    except QueryError:
        raise
    except PenstockError as error:
        code = getattr(error, "xquery_code", None) or error.code
        raise DynamicError(code, str(error)) from error
    described = describe_values(items)
    return Answer(described, _serialised(items, described))


def _serialised(items: list[Any], described: list[Described]) -> str | None:
    written, is_after_atom = "", False
    for item, (kind, _, text) in zip(items, described, strict=True):
        if kind == "attribute":
            return None
        if kind in (*WHOLE, "comment", "processing-instruction"):
            written += item.xml
        else:
            written += (" " if not kind and is_after_atom else "") + escape(text)
        is_after_atom = not kind
    return written


def rows_reference(text: str, document: bytes, **options: Any) -> list[tuple[str, str]]:
    """Return the rows that the reference evaluator says."""
    query = xquery(text, **options)
    try:
        rows = rows_of(query, parse(document))
    except DynamicError as error:
        return [("error", error.code)]
    return [(row.kind, comparable(row.kind, row.value)) for row in rows]


def rows_kernel(text: str, document: bytes, **options: Any) -> list[tuple[str, str]]:
    """Return the rows that the engine delivers."""
    registry = penstock.Registry()
    registry.add("q", penstock.xquery(text, **options))
    return [
        (row.kind, comparable(row.kind, row.value or ""))
        if row.error is None
        else ("error", getattr(row.error, "xquery_code", None) or row.error.code)
        for row in penstock.Engine(registry).run(document)
    ]


def comparable(kind: str, value: str) -> str:
    """Return the value of a row in a form that is the same for all texts that mean the same."""
    return canonical(value) if kind in (*WHOLE, "message") else value


ENGINES: dict[str, Ask] = {"reference": ask_reference, "kernel": ask_kernel}
ROWS: dict[str, AskRows] = {"reference": rows_reference, "kernel": rows_kernel}
