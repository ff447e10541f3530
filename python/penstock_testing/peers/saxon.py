"""SaxonC in the mode that is compatible with XPath 1.0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import saxonche

from penstock_testing.peers.answers import Answer, Described
from penstock_testing.reference import Atomic
from penstock_testing.tree import Node


class Saxon:
    """SaxonC; it starts up once. It keeps the document that it was asked about last."""

    def __init__(self) -> None:
        self._processor = saxonche.PySaxonProcessor(license=False)
        self._source = b""
        self._document: saxonche.PyXdmNode | None = None

    def ask(
        self,
        expression: str,
        document: bytes,
        namespaces: Mapping[str, str],
        *,
        is_at_root_element: bool = False,
    ) -> Answer:
        """Return Saxon's answer; nodes are described.

        Raises:
            saxonche.PySaxonApiError: Saxon refuses the expression or the document.
        """
        if self._document is None or self._source != document:
            self._document = self._processor.parse_xml(xml_text=document.decode())
            self._source = document
        context = self._document
        if is_at_root_element:
            context = next(node for node in context.children if node.node_kind_str == "element")
        xpath = self._processor.new_xpath_processor()
        xpath.set_backwards_compatible(True)
        for prefix, uri in namespaces.items():
            xpath.declare_namespace(prefix, uri)
        xpath.set_context(xdm_item=context)
        value = xpath.evaluate(expression)
        items = [] if value is None else [value.item_at(place) for place in range(value.size)]
        if len(items) == 1 and items[0].is_atomic:
            return _atomic(items[0].get_atomic_value())
        return [_describe(item.get_node_value()) for item in items]


def by_value(nodes: Iterable[Node]) -> list[Described]:
    """Return nodes in the form in which Saxon's are described."""
    return [(node.kind.value, node.expanded_name, node.string_value()) for node in nodes]


def _atomic(value: saxonche.PyXdmAtomicValue) -> Atomic:
    type_name = value.primitive_type_name.rpartition("}")[2]
    if type_name == "boolean":
        return bool(value.boolean_value)
    if type_name in ("string", "untypedAtomic", "anyURI"):
        return str(value.string_value)
    text = value.string_value
    return float({"INF": "inf", "-INF": "-inf"}.get(text, text))


def _describe(node: saxonche.PyXdmNode) -> Described:
    name = node.name or ""
    if name.startswith("Q{"):
        uri, _, local = name[2:].partition("}")
        name = f"{{{uri}}}{local}" if uri else local
    return (node.node_kind_str, name, node.string_value)
