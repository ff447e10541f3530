"""Node tests of location steps, their prefixes resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.languages.xpath import syntax as s
from penstock.languages.xpath.namespaces import NO_NAMESPACE
from penstock.twigs import Axis, NodeKind, NodeTest

if TYPE_CHECKING:
    from penstock.languages.xpath.scopes import Scope

_PRINCIPAL = {Axis.ATTRIBUTE: NodeKind.ATTRIBUTE, Axis.NAMESPACE: NodeKind.NAMESPACE}
_KINDS = {
    "node": NodeKind.ANY,
    "text": NodeKind.TEXT,
    "comment": NodeKind.COMMENT,
    "processing-instruction": NodeKind.INSTRUCTION,
}


def lower_test(scope: Scope, step: s.Step) -> NodeTest:
    """Return the node test of a step, its prefix resolved."""
    principal = _PRINCIPAL.get(step.axis, NodeKind.ELEMENT)
    match step.test:
        case s.KindTest(kind="node") if principal is not NodeKind.ELEMENT:
            return NodeTest(principal)
        case s.KindTest(kind=kind, target=target):
            return NodeTest(_KINDS[kind], target)
        case s.NameTest(prefix=prefix, local=local, span=span):
            if prefix is not None:
                return NodeTest(principal, local, scope.namespaces.of_prefix(prefix, span))
            if local is None:
                return NodeTest(principal)
            is_element = principal is NodeKind.ELEMENT
            uris = scope.namespaces.of_element() if is_element else NO_NAMESPACE
            return NodeTest(principal, local, uris)
