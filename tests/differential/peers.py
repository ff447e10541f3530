"""Other engines, asked the same question, with answers in one comparable form.

A node is (kind, place, name): the place among the elements, comments and instructions in document
order of the node itself, or of the element that an attribute belongs to or that a text follows.
A namespace node is (kind, prefix, namespace): lxml does not say which element it belongs to.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import saxonche
from lxml import etree

from penstock.testing.reference import Atomic
from penstock.testing.tree import Node, Tree
from penstock.twigs import NodeKind

Answer = list[tuple[object, ...]] | Atomic

_BESIDE_TEXT = (NodeKind.ELEMENT, NodeKind.COMMENT, NodeKind.INSTRUCTION)
_PARSER = etree.XMLParser(
    resolve_entities=True, attribute_defaults=True, no_network=True, huge_tree=True
)


def same(left: Answer, right: Answer) -> bool:
    """Return whether two answers agree; the order of attributes of one element is free."""
    if isinstance(left, list) or isinstance(right, list):
        return (
            isinstance(left, list) and isinstance(right, list) and _sorted(left) == _sorted(right)
        )
    if isinstance(left, float) and isinstance(right, float) and not isinstance(left, bool):
        close = math.isclose(left, right, rel_tol=1e-12)
        return close or (math.isnan(left) and math.isnan(right))
    return type(left) is type(right) and left == right


def identical(found: object, expected: object) -> bool:
    """Return whether two engines of ours gave the same answer, numbers but for rounding."""
    if isinstance(found, float) and isinstance(expected, float):
        return same(found, expected)
    return type(found) is type(expected) and found == expected


def but_document(answer: Answer) -> Answer:
    """Return an answer without the document node, which lxml cannot return."""
    if isinstance(answer, list):
        return [node for node in answer if node != ("document",)]
    return answer


def _sorted(nodes: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Sort only what lies side by side and differs in the attribute's name alone."""
    keyed = list(nodes)
    for place in range(1, len(keyed)):
        while place and _is_swappable(keyed[place - 1], keyed[place]):
            keyed[place - 1], keyed[place] = keyed[place], keyed[place - 1]
            place -= 1
    return keyed


def _is_swappable(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    both_attributes = one[0] == other[0] == "attribute" and one[1] == other[1]
    return both_attributes and str(one[2:]) > str(other[2:])


def as_answer(result: list[Node] | Atomic, tree: Tree) -> Answer:
    """Return what the reference evaluator found in comparable form."""
    if not isinstance(result, list):
        return result
    beside = [node for node in tree.nodes if node.kind in _BESIDE_TEXT]
    places = {node: place for place, node in enumerate(beside)}
    return [_describe(node, places) for node in result]


def _describe(node: Node, places: dict[Node, int]) -> tuple[object, ...]:
    if node.kind in _BESIDE_TEXT:
        return (node.kind.value, places[node])
    if node.parent is None:
        return ("document",)
    if node.kind is NodeKind.NAMESPACE:
        return ("namespace", node.local, node.value)
    if node.kind is NodeKind.ATTRIBUTE:
        return ("attribute", places[node.parent], node.expanded_name)
    siblings = node.parent.children
    at = siblings.index(node)
    return ("text", places[siblings[at - 1]], "tail") if at else ("text", places[node.parent], "")


def ask_lxml(expression: str, document: bytes, namespaces: dict[str, str]) -> Answer:
    """Return lxml's answer. It cannot return the document node."""
    root = etree.fromstring(document, _PARSER)
    result = root.getroottree().xpath(expression, namespaces=namespaces)
    if not isinstance(result, list):
        return str(result) if isinstance(result, str) else result
    top = [*reversed(list(root.itersiblings(preceding=True))), root, *root.itersiblings()]
    nodes = [node for above in top for node in above.iter()]
    places = {node: place for place, node in enumerate(nodes)}
    return [_describe_lxml(node, places) for node in result]


def _describe_lxml(node: object, places: dict[object, int]) -> tuple[object, ...]:
    if isinstance(node, str):
        parent = node.getparent()  # type: ignore[attr-defined]
        if node.is_attribute:  # type: ignore[attr-defined]
            return ("attribute", places[parent], node.attrname)  # type: ignore[attr-defined]
        return ("text", places[parent], "tail" if node.is_tail else "")  # type: ignore[attr-defined]
    if isinstance(node, tuple):
        return ("namespace", node[0] or "", node[1])
    if isinstance(node, etree._Comment):
        return ("comment", places[node])
    if isinstance(node, etree._ProcessingInstruction):
        return ("processing-instruction", places[node])
    return ("element", places[node])


class Saxon:
    """SaxonC in the mode that is compatible with XPath 1.0."""

    def __init__(self) -> None:
        self._processor = saxonche.PySaxonProcessor(license=False)

    def ask(self, expression: str, document: bytes, namespaces: dict[str, str]) -> Answer:
        """Return Saxon's answer; nodes are (kind, name, string value)."""
        xpath = self._processor.new_xpath_processor()
        xpath.set_backwards_compatible(True)
        for prefix, uri in namespaces.items():
            xpath.declare_namespace(prefix, uri)
        xpath.set_context(xdm_item=self._processor.parse_xml(xml_text=document.decode()))
        value = xpath.evaluate(expression)
        items = [] if value is None else [value.item_at(place) for place in range(value.size)]
        if len(items) == 1 and items[0].is_atomic:
            return _atomic(items[0].get_atomic_value())
        return [_describe_saxon(item.get_node_value()) for item in items]


def _atomic(value: saxonche.PyXdmAtomicValue) -> Atomic:
    type_name = value.primitive_type_name.rpartition("}")[2]
    if type_name == "boolean":
        return bool(value.boolean_value)
    if type_name in ("string", "untypedAtomic", "anyURI"):
        return str(value.string_value)
    text = value.string_value
    return float({"INF": "inf", "-INF": "-inf"}.get(text, text))


def _describe_saxon(node: saxonche.PyXdmNode) -> tuple[object, ...]:
    name = node.name or ""
    if name.startswith("Q{"):
        uri, _, local = name[2:].partition("}")
        name = f"{{{uri}}}{local}" if uri else local
    return (node.node_kind_str, name, node.string_value)


def by_value(nodes: Iterable[Node]) -> list[tuple[object, ...]]:
    """Return nodes in the form in which Saxon's are described."""
    return [(node.kind.value, node.expanded_name, node.string_value()) for node in nodes]
