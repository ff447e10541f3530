"""Functions on nodes."""

from __future__ import annotations

from penstock.twigs import NodeKind
from penstock_testing.sequences.context import Context
from penstock_testing.sequences.errors import DynamicError
from penstock_testing.sequences.functions.strings import text
from penstock_testing.sequences.functions.table import function
from penstock_testing.sequences.items import Atom, Items, QName, boolean, string
from penstock_testing.sequences.trees import root_of
from penstock_testing.tree import Node

_XML = "http://www.w3.org/XML/1998/namespace"


def _node(context: Context, given: tuple[Items, ...]) -> Node | None:
    """Return the argument, or the context item where there is no argument."""
    items = given[0] if given else [context.here()]
    if not items:
        return None
    node = items[0]
    if isinstance(node, Atom):
        raise DynamicError("XPTY0004", "the context item is no node")
    return node


@function("name", "node?", least=0)
def _name(context: Context, *given: Items) -> Items:
    node = _node(context, given)
    return [string("" if node is None else node.name)]


@function("local-name", "node?", least=0)
def _local_name(context: Context, *given: Items) -> Items:
    node = _node(context, given)
    return [string("" if node is None else node.local)]


@function("namespace-uri", "node?", least=0)
def _namespace_uri(context: Context, *given: Items) -> Items:
    node = _node(context, given)
    return [Atom("anyURI", "" if node is None else node.uri)]


@function("node-name", "node?")
def _node_name(context: Context, *given: Items) -> Items:
    node = _node(context, given)
    if node is None or not node.local:
        return []
    return [Atom("QName", QName(node.local, node.uri, node.prefix))]


@function("nilled", "node?")
def _nilled(context: Context, *given: Items) -> Items:
    node = _node(context, given)
    return [boolean(False)] if node is not None and node.kind is NodeKind.ELEMENT else []


@function("root", "node?", least=0)
def _root(context: Context, *given: Items) -> Items:
    node = _node(context, given)
    return [] if node is None else [root_of(node)]


@function("base-uri", "node?", least=0)
def _base_uri(context: Context, *given: Items) -> Items:
    _node(context, given)
    return []


@function("document-uri", "node?")
def _document_uri(_context: Context, _node: Items) -> Items:
    return []


@function("static-base-uri")
def _static_base_uri(_context: Context) -> Items:
    return []


@function("default-collation")
def _default_collation(_context: Context) -> Items:
    return [string("http://www.w3.org/2005/xpath-functions/collation/codepoint")]


@function("lang", "string?", "node", least=1)
def _lang(context: Context, language: Items, *given: Items) -> Items:
    node = _node(context, given)
    wanted = text(language).lower()
    while node is not None:
        for attribute in node.attributes:
            if (attribute.uri, attribute.local) == (_XML, "lang"):
                spoken = attribute.value.lower()
                return [boolean(spoken == wanted or spoken.startswith(f"{wanted}-"))]
        node = node.parent
    return [boolean(False)]


def _written_ids(top: Node) -> dict[str, Node]:
    """Return the elements of a constructed tree by their ids, which only ``xml:id`` gives."""
    ids: dict[str, Node] = {}
    for element in top.descendants():
        for attribute in element.attributes:
            if (attribute.uri, attribute.local) == (_XML, "id"):
                ids.setdefault(attribute.value.strip(), element)
    return ids


@function("id", "string*", "node", least=1)
def _id(context: Context, words: Items, *given: Items) -> Items:
    node = _node(context, given)
    assert node is not None
    top = root_of(node)
    if top.kind is not NodeKind.DOCUMENT:
        raise DynamicError("FODC0001", "the tree has no document node")
    world = context.world
    trees = [tree for tree in (world.document, *world.documents.values()) if tree is not None]
    ids = next((tree.ids for tree in trees if tree.root is top), None)
    if ids is None:
        ids = _written_ids(top)
    wanted = {word for item in words for word in text([item]).split()}
    return list(world.forest.in_order(ids[word] for word in wanted if word in ids))
