"""Nodes and sequences as XML text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.twigs import NodeKind
from penstock_testing.sequences.casting import text_of
from penstock_testing.sequences.errors import DynamicError
from penstock_testing.sequences.items import Atom, Item
from penstock_testing.tree import Node


def serialise(items: Iterable[Item]) -> str:
    """Return a sequence as XML: atomic values side by side are separated by a space.

    Raises:
        DynamicError: SENR0001, an attribute stands alone.
    """
    written: list[str] = []
    is_after_atom = False
    for item in items:
        if isinstance(item, Atom):
            written.append((" " if is_after_atom else "") + escape_text(text_of(item)))
        elif item.kind in (NodeKind.ATTRIBUTE, NodeKind.NAMESPACE):
            raise DynamicError("SENR0001", f"the attribute {item.name} has no element")
        else:
            written.append(serialise_node(item))
        is_after_atom = isinstance(item, Atom)
    return "".join(written)


def serialise_node(node: Node, around: Mapping[str, str] | None = None) -> str:
    """Return a node as XML; ``around`` are the namespaces that are declared there already."""
    match node.kind:
        case NodeKind.DOCUMENT:
            return "".join(serialise_node(child) for child in node.children)
        case NodeKind.TEXT:
            return escape_text(node.value)
        case NodeKind.COMMENT:
            return f"<!--{node.value}-->"
        case NodeKind.INSTRUCTION:
            return f"<?{node.local}{' ' + node.value if node.value else ''}?>"
        case NodeKind.ATTRIBUTE | NodeKind.NAMESPACE:
            return escape_text(node.value)
    around = around or {}
    bound = {one.local: one.value for one in node.namespaces if one.local != "xml"}
    declared = "".join(
        f' xmlns{":" + prefix if prefix else ""}="{escape_value(uri)}"'
        for prefix, uri in bound.items()
        if around.get(prefix) != uri
    )
    if around.get("") and not bound.get(""):
        declared += ' xmlns=""'
    written = "".join(f' {one.name}="{escape_value(one.value)}"' for one in node.attributes)
    inside = "".join(serialise_node(child, bound) for child in node.children)
    tag = f"<{node.name}{declared}{written}"
    return f"{tag}>{inside}</{node.name}>" if inside else f"{tag}/>"


def escape_text(text: str) -> str:
    """Return text with what means markup escaped."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("\r", "&#xD;")


def escape_value(text: str) -> str:
    """Return the value of an attribute as it is written."""
    text = escape_text(text).replace('"', "&quot;")
    return text.replace("\t", "&#x9;").replace("\n", "&#xA;")
