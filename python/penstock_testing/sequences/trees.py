"""Trees that a query constructs, and the order of the nodes of all trees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.twigs import NodeKind
from penstock_testing.sequences.errors import DynamicError
from penstock_testing.tree import XML, Node


class Forest:
    """All trees of an evaluation, in the order in which they came."""

    def __init__(self) -> None:
        self._ranks: dict[Node, int] = {}

    def plant(self, root: Node) -> Node:
        """Take in a tree; a constructed one gets its order here."""
        if root not in self._ranks:
            self._ranks[root] = len(self._ranks)
        return root

    def plant_new(self, root: Node) -> Node:
        """Take in a tree that was just constructed."""
        for order, node in enumerate(walk(root)):
            node.order = order
        return self.plant(root)

    def place(self, node: Node) -> tuple[int, int]:
        """Return where a node stands among the nodes of all trees."""
        return self._ranks[root_of(node)], node.order

    def in_order(self, nodes: Iterable[Node]) -> list[Node]:
        """Return each node once, in document order."""
        nodes = list(nodes)
        if len(nodes) < 2:
            return nodes
        return sorted(set(nodes), key=self.place)


def root_of(node: Node) -> Node:
    """Return the node that has no parent above a node."""
    while node.parent is not None:
        node = node.parent
    return node


def walk(node: Node) -> Iterable[Node]:
    """Yield a node and all below it in document order, namespaces and attributes included."""
    yield node
    yield from node.namespaces
    yield from node.attributes
    for child in node.children:
        yield from walk(child)


def new(kind: NodeKind, local: str = "", uri: str = "", prefix: str = "", value: str = "") -> Node:
    """Return a constructed node; it lies nowhere in a source."""
    return Node(kind, -1, -1, 0, None, uri, prefix, local, value)


def scope_of(element: Node) -> dict[str, str]:
    """Return the namespaces in scope of an element, by prefix."""
    return {one.local: one.value for one in element.namespaces}


def bind(element: Node, scope: Mapping[str, str]) -> None:
    """Set the namespaces in scope of an element."""
    element.namespaces = []
    ordered = sorted(scope.items(), key=lambda pair: (pair[0] == "xml", pair[0]))
    for prefix, uri in ordered:
        if uri:
            node = new(NodeKind.NAMESPACE, prefix, value=uri)
            node.parent = element
            element.namespaces.append(node)


def copy(node: Node, parent: Node | None, inherited: Mapping[str, str]) -> Node:
    """Return a deep copy below a parent: it keeps its own namespaces and inherits others."""
    copied = new(node.kind, node.local, node.uri, node.prefix, node.value)
    copied.parent = parent
    if node.kind is NodeKind.ELEMENT:
        scope = {**inherited, **scope_of(node)}
        if not node.uri:
            scope.pop("", None)
        bind(copied, scope)
        copied.attributes = [copy(one, copied, scope) for one in node.attributes]
        copied.children = [copy(child, copied, scope) for child in node.children]
    elif node.kind is NodeKind.DOCUMENT:
        copied.children = [copy(child, copied, inherited) for child in node.children]
    return copied


def build_element(
    name: tuple[str, str, str],
    declared: Iterable[tuple[str, str]],
    attributes: list[Node],
    children: list[Node],
) -> Node:
    """Return an element with copies of attributes and children.

    ``name`` is the local name, the namespace and the prefix. Every namespace that a name uses is
    declared; where two names want one prefix, an attribute gets another one: section 3.7.4.

    Raises:
        DynamicError: XQDY0025, two attributes have one name.
    """
    local, uri, prefix = name
    scope = {"xml": XML, **{one: bound for one, bound in declared if bound}}
    if uri:
        scope[prefix] = uri
    else:
        scope.pop("", None)
    element = new(NodeKind.ELEMENT, local, uri, prefix)
    names = set()
    for attribute in attributes:
        if (attribute.uri, attribute.local) in names:
            raise DynamicError("XQDY0025", f"two attributes are named {attribute.name}")
        names.add((attribute.uri, attribute.local))
        added = copy(attribute, element, {})
        if added.uri:
            added.prefix = _prefix_for(added, scope)
            scope[added.prefix] = added.uri
        element.attributes.append(added)
    bind(element, scope)
    element.children = [copy(child, element, scope) for child in children]
    return element


def _prefix_for(attribute: Node, scope: Mapping[str, str]) -> str:
    """Return a prefix that stands for the namespace of an attribute, or may do so."""
    if attribute.prefix and scope.get(attribute.prefix, attribute.uri) == attribute.uri:
        return attribute.prefix
    for prefix, uri in scope.items():
        if prefix and uri == attribute.uri:
            return prefix
    base, number = attribute.prefix or "ns", 0
    while f"{base}_{number}" in scope:
        number += 1
    return f"{base}_{number}"


def merge_texts(nodes: Iterable[Node]) -> list[Node]:
    """Return nodes with texts side by side merged, and without empty ones."""
    merged: list[Node] = []
    for node in nodes:
        if node.kind is NodeKind.TEXT and merged and merged[-1].kind is NodeKind.TEXT:
            merged[-1] = new(NodeKind.TEXT, value=merged[-1].value + node.value)
        else:
            merged.append(node)
    return [node for node in merged if node.kind is not NodeKind.TEXT or node.value]
