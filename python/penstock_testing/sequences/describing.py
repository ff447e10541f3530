"""Items in a form that can be compared between engines: prefixes and attribute order left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree

from penstock.twigs import NodeKind
from penstock_testing.sequences.casting import text_of
from penstock_testing.sequences.items import Atom, Item
from penstock_testing.sequences.serialising import serialise_node
from penstock_testing.sequences.values import atom_from, python_value

Described = tuple[str, str, str]
"""A node: its kind, its expanded name, its canonical XML or value. Or ``""``, type and text."""

WHOLE = ("element", "document")
_DIGITS_COMPARED = 12
_LONG_NUMBER = re.compile(rf"-?\d+\.\d{{{_DIGITS_COMPARED + 1},}}(?:E-?\d+)?")


def describe(items: Iterable[Item]) -> list[Described]:
    """Return items as they are compared, with the types of atomic values."""
    return [_describe(item) for item in items]


def _describe(item: Item) -> Described:
    if isinstance(item, Atom):
        return ("", item.type, shorten(text_of(item)))
    name = item.expanded_name
    if item.kind in (NodeKind.ELEMENT, NodeKind.DOCUMENT):
        return (item.kind.value, name, canonical(serialise_node(item)))
    return (item.kind.value, name, shorten(item.string_value()))


def describe_values(items: Iterable[Any]) -> list[Described]:
    """Return what ``evaluate`` gives as it is compared: rows for nodes, or values of Python."""
    return [_describe_value(item) for item in items]


def _describe_value(item: Any) -> Described:
    if isinstance(item, bool | int | float | Decimal | str | date | datetime | timedelta):
        atom = atom_from(item)
        return ("", atom.type, shorten(text_of(atom)))
    value = canonical(item.xml) if item.kind in WHOLE else shorten(item.value)
    return (item.kind, item.name, value)


def as_values(described: Sequence[Described], items: Iterable[Item]) -> list[Described]:
    """Return items of the reference with the types that values of Python still have."""
    return [
        _describe_value(python_value(item)) if isinstance(item, Atom) else one
        for one, item in zip(described, items, strict=True)
    ]


def canonical(xml: str) -> str:
    """Return XML that is the same for all texts that mean the same, whatever their prefixes."""
    text = ElementTree.canonicalize(
        xml_data=f"<sequence>{xml}</sequence>", with_comments=True, rewrite_prefixes=True
    )
    return shorten(text)


def shorten(text: str) -> str:
    """Return a text in which numbers have as many digits as every engine computes."""
    return _LONG_NUMBER.sub(_shorten_number, text)


def _shorten_number(found: re.Match[str]) -> str:
    return f"{Decimal(found[0]):.{_DIGITS_COMPARED}g}"
