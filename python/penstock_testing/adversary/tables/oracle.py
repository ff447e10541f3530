"""The rows of a table by libxml2: each column is asked for at each record, of the whole tree."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lxml import etree

from penstock_testing.adversary.tables.typing import MisfitError, text_of, typed
from penstock_testing.generate import NAMESPACES

_PARSER = etree.XMLParser(
    resolve_entities=True, attribute_defaults=True, no_network=True, huge_tree=True
)
_REPORTED_MAX = 200

Rows = list[dict[str, Any]]


def expected_rows(record: str, columns: Mapping[str, Any], document: bytes) -> Rows:
    """Return the rows of a table; ``errors`` has columns and values that misfit."""
    root = etree.fromstring(document, _PARSER)
    rows = []
    for element in _ask(root, record):
        errors: list[tuple[str, str]] = []
        row = _struct(element, columns, "", errors)
        row["errors"] = errors
        rows.append(row)
    return rows


def canonical(xml: str) -> bytes:
    """Return an element in a form that equal ones share."""
    return etree.tostring(etree.fromstring(xml), method="c14n", exclusive=True)


def _ask(node: Any, path: str) -> Any:
    return node.xpath(path, namespaces=NAMESPACES, smart_strings=False)


def _struct(
    node: Any, columns: Mapping[str, Any], around: str, errors: list[tuple[str, str]]
) -> dict[str, Any]:
    return {name: _column(node, one, f"{around}{name}", errors) for name, one in columns.items()}


def _column(node: Any, written: Any, name: str, errors: list[tuple[str, str]]) -> Any:
    match written:
        case str():
            return _typed_column(node, written, "string", name, errors)
        case Mapping():
            return _struct(node, written, f"{name}.", errors)
        case (path, str() as type_):
            return _typed_column(node, path, type_, name, errors)
        case (path, Mapping() as inner):
            found = _ask(node, path)
            return _struct(found[0], inner, f"{name}.", errors) if found else None
        case (path, [inner]):
            return [_struct(one, inner, f"{name}.", errors) for one in _ask(node, path)]
    raise AssertionError(written)


def _typed_column(
    node: Any, path: str, type_: str, name: str, errors: list[tuple[str, str]]
) -> Any:
    listed = re.fullmatch(r"list\[(.*)\]", type_)
    type_ = listed.group(1) if listed else type_
    found = _ask(node, path)
    values = [found]
    if isinstance(found, list):
        count = int(_ask(node, f"count({path})"))
        count = count if listed else min(count, 1)
        if type_ == "xml":
            values = [etree.tostring(one, with_tail=False).decode() for one in found[:count]]
            values = [canonical(one) for one in values]
            return values if listed else next(iter(values), None)
        values = [_ask(node, f"string(({path})[{place}])") for place in range(1, count + 1)]
    results = [_value(type_, value, name, errors) for value in values]
    return results if listed else next(iter(results), None)


def _value(type_: str, value: Any, name: str, errors: list[tuple[str, str]]) -> Any:
    try:
        return typed(type_, value)
    except MisfitError:
        errors.append((name, text_of(value)[:_REPORTED_MAX]))
        return None
