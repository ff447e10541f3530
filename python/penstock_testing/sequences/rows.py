"""The rows that a query in XQuery gives for a document, as ``run`` delivers them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.twigs import NodeKind, Query
from penstock.twigs import sequences as q
from penstock_testing.sequences.casting import text_of
from penstock_testing.sequences.context import Context
from penstock_testing.sequences.evaluation import context_of, deep_stack
from penstock_testing.sequences.items import NUMERIC, SCHEMA, Atom, Item, primitive
from penstock_testing.sequences.serialising import serialise_node
from penstock_testing.sequences.trees import root_of
from penstock_testing.tree import Tree

_CONSTRUCTORS = (
    q.NewElement,
    q.NewDocument,
    q.NewText,
    q.NewComment,
    q.NewInstruction,
    q.NewAttribute,
)
_WHOLE = (NodeKind.ELEMENT, NodeKind.DOCUMENT)


@dataclass(frozen=True, slots=True)
class Row:
    """What a row says about an item: kind, name and value; the range of a node of the document."""

    kind: str
    name: str
    value: str
    span: tuple[int, int] | None = None


def rows_of(query: Query, document: Tree, **options: Any) -> list[Row]:
    """Return the rows of a query for a document.

    A body that is a constructor gives one message. A message whose enclosed expressions are all
    empty is not sent, unless the query says otherwise; one that has none of them always is.

    Raises:
        DynamicError: The evaluation fails.
    """
    output = query.output
    assert isinstance(output, q.Sequences)
    context = context_of(output, document, **options)
    with deep_stack():
        if not isinstance(output.body, q.NewElement | q.NewDocument):
            return [row_of(item, document) for item in context.items(output.body)]
        if output.empty == "drop" and _is_empty(output.body, context):
            return []
        (item,) = context.items(output.body)
    assert not isinstance(item, Atom)
    return [Row("message", item.expanded_name, serialise_node(item))]


def row_of(item: Item, document: Tree) -> Row:
    """Return the row of one item."""
    if isinstance(item, Atom):
        kind = primitive(item.type)
        name = "number" if kind in NUMERIC else "boolean" if kind == "boolean" else "string"
        return Row(name, f"{{{SCHEMA}}}{item.type}", text_of(item))
    if root_of(item) is document.root:
        value = document.text(item) if item.kind in _WHOLE else item.string_value()
        return Row(item.kind.value, item.expanded_name, value, (item.start, item.end))
    value = serialise_node(item) if item.kind in _WHOLE else item.string_value()
    return Row(item.kind.value, item.expanded_name, value)


def _is_empty(body: Any, context: Context) -> bool:
    """Return whether there are enclosed expressions and all of them are empty."""
    enclosed = list(_enclosed(body))
    return bool(enclosed) and not any(context.items(part) for part in enclosed)


def _enclosed(constructor: Any) -> Iterator[Any]:
    """Yield the expressions in a constructor that are no constructors and no constants."""
    match constructor:
        case q.NewElement(content=parts):
            inside: tuple[Any, ...] = parts
        case q.NewAttribute(value=parts):
            inside = parts
        case q.NewDocument(content=part):
            inside = (part,)
        case q.NewText(value=part) | q.NewComment(value=part) | q.NewInstruction(value=part):
            inside = (part,)
    for part in inside:
        if isinstance(part, _CONSTRUCTORS):
            yield from _enclosed(part)
        elif not isinstance(part, q.Characters | q.Atomic):
            yield part
