"""Functions on qualified names."""

from __future__ import annotations

from penstock_testing.sequences.casting import NCNAME
from penstock_testing.sequences.context import Context
from penstock_testing.sequences.errors import DynamicError
from penstock_testing.sequences.functions.strings import text
from penstock_testing.sequences.functions.table import function
from penstock_testing.sequences.items import Atom, Items, QName, string
from penstock_testing.sequences.trees import scope_of
from penstock_testing.tree import Node


def _split(name: str) -> tuple[str, str]:
    prefix, colon, local = name.strip().rpartition(":")
    if not NCNAME.fullmatch(local) or (colon and not NCNAME.fullmatch(prefix)):
        raise DynamicError("FOCA0002", f"{name!r} is no name")
    return prefix, local


def _qname(items: Items) -> QName:
    assert isinstance(items[0], Atom)
    value = items[0].value
    assert isinstance(value, QName)
    return value


def _scope(items: Items) -> dict[str, str]:
    assert isinstance(items[0], Node)
    return scope_of(items[0])


@function("QName", "string?", "string")
def _make(_context: Context, uri: Items, name: Items) -> Items:
    prefix, local = _split(text(name))
    if prefix and not text(uri):
        raise DynamicError("FOCA0002", f"the prefix {prefix} stands for no namespace")
    return [Atom("QName", QName(local, text(uri), prefix))]


@function("resolve-QName", "string?", "node")
def _resolve(_context: Context, name: Items, element: Items) -> Items:
    if not name:
        return []
    prefix, local = _split(text(name))
    scope = _scope(element)
    if prefix and prefix not in scope:
        raise DynamicError("FONS0004", f"the prefix {prefix} is not declared")
    return [Atom("QName", QName(local, scope.get(prefix, ""), prefix))]


@function("prefix-from-QName", "QName?")
def _prefix(_context: Context, name: Items) -> Items:
    return [Atom("NCName", _qname(name).prefix)] if name and _qname(name).prefix else []


@function("local-name-from-QName", "QName?")
def _local_name(_context: Context, name: Items) -> Items:
    return [Atom("NCName", _qname(name).local)] if name else []


@function("namespace-uri-from-QName", "QName?")
def _namespace_uri(_context: Context, name: Items) -> Items:
    return [Atom("anyURI", _qname(name).uri)] if name else []


@function("namespace-uri-for-prefix", "string?", "node")
def _namespace_uri_for_prefix(_context: Context, prefix: Items, element: Items) -> Items:
    uri = _scope(element).get(text(prefix))
    return [Atom("anyURI", uri)] if uri else []


@function("in-scope-prefixes", "node")
def _in_scope_prefixes(_context: Context, element: Items) -> Items:
    return [string(prefix) for prefix in _scope(element)]
