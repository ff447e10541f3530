"""Sequence types and tests of kinds of nodes."""

from __future__ import annotations

from difflib import get_close_matches

from penstock.languages.xpath.namespaces import NO_NAMESPACE
from penstock.languages.xquery import syntax as y
from penstock.languages.xquery.lowering.names import XS_NAMESPACE
from penstock.languages.xquery.lowering.scopes import Scopes
from penstock.languages.xquery.rejections import rejection
from penstock.languages.xquery.types import (
    ATOMIC_TYPES,
    CAST_TYPES,
    UNSUPPORTED_TYPES,
    UNTYPED,
)
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import ANY_NODE, DOCUMENT_NODE, Axis, NodeKind, NodeTest

_KINDS = {"text": NodeKind.TEXT, "comment": NodeKind.COMMENT}


class TypeLowering(Scopes):
    """Adds types to the lowering."""

    def sequence_type(self, kind: y.SequenceType) -> q.SequenceType:
        """Return a sequence type with its names resolved."""
        match kind.item:
            case None:
                return q.SequenceType(q.ItemType("item"), kind.occurrence)
            case y.KindTest():
                test, element = self.kind_test(kind.item)
                return q.SequenceType(q.ItemType("node", test, element), kind.occurrence)
            case y.QName() as name:
                local = self.atomic_type(name)
                if local not in ATOMIC_TYPES:
                    raise self.unknown_type(name)
                return q.SequenceType(q.ItemType("atomic", name=local), kind.occurrence)

    def optional_type(self, kind: y.SequenceType | None) -> q.SequenceType | None:
        """Return a sequence type, if there is one."""
        return None if kind is None else self.sequence_type(kind)

    def cast_type(self, name: y.QName) -> str:
        """Return the local name of the type that a value is cast to."""
        local = self.atomic_type(name)
        if local in ("anyAtomicType", "NOTATION"):
            message = f"no value can be cast to `{name.text}`"
            raise self.error("PQ0504", message, name.span, "name the type you need", "XPST0080")
        if local not in CAST_TYPES:
            raise self.unknown_type(name)
        return local

    def atomic_type(self, name: y.QName) -> str:
        """Return the local name of a type of XML Schema; raise where it is not supported."""
        uri = self.names.uri_of(name, self.names.bindings.get("", NO_NAMESPACE))
        if uri != XS_NAMESPACE:
            raise self.unknown_type(name)
        instead = UNSUPPORTED_TYPES.get(name.local)
        if instead is not None:
            message = f"the type `{name.text}` is not supported"
            raise self.error("PQ0501", message, name.span, f"use {instead}", "XPST0051")
        return name.local

    def unknown_type(self, name: y.QName) -> Exception:
        """Return the error about a type that is none."""
        close = get_close_matches(name.local, sorted(ATOMIC_TYPES), 1, 0.7)
        way_out = f"did you mean xs:{close[0]}?" if close else "use a type such as xs:string"
        message = f"`{name.text}` is no atomic type"
        return self.error("PQ0504", message, name.span, way_out, "XPST0051")

    def kind_test(self, test: y.KindTest) -> tuple[NodeTest, NodeTest | None]:
        """Return the test of a node and, for a document, that of its element."""
        match test.kind:
            case "node":
                return ANY_NODE, None
            case "text" | "comment":
                return NodeTest(_KINDS[test.kind]), None
            case "processing-instruction":
                return NodeTest(NodeKind.INSTRUCTION, test.target), None
            case "document-node":
                inner = None if test.element is None else self.kind_test(test.element)[0]
                return DOCUMENT_NODE, inner
        self._check_untyped(test)
        is_attribute = test.kind == "attribute"
        if test.name is None:
            return NodeTest(NodeKind.ATTRIBUTE if is_attribute else NodeKind.ELEMENT), None
        return self.names.test(test.name, Axis.ATTRIBUTE if is_attribute else Axis.CHILD), None

    def _check_untyped(self, test: y.KindTest) -> None:
        """Raise where a test asks for a type that no node has without a schema."""
        if test.type is None:
            return
        uri = self.names.uri_of(test.type, self.names.bindings.get("", NO_NAMESPACE))
        known = UNTYPED[test.kind] | UNTYPED["attribute"] | ATOMIC_TYPES | UNSUPPORTED_TYPES.keys()
        if uri != XS_NAMESPACE or test.type.local not in known:
            message = f"`{test.type.text}` is no type"
            way_out = "leave the type out"
            raise self.error("PQ0504", message, test.type.span, way_out, "XPST0008")
        if test.type.local not in UNTYPED[test.kind]:
            raise rejection("typed", test.type.span, self.text)
