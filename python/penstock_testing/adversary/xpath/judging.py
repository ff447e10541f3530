"""Who is right where Penstock and lxml differ: Saxon says it, or a known deviation explains it."""

from __future__ import annotations

import re

from saxonche import PySaxonApiError

from penstock.twigs import NodeKind
from penstock_testing.adversary.xpath.asking import AskedDocument, AskedQuestion, Rows
from penstock_testing.generate import NAMESPACES
from penstock_testing.peers import (
    Answer,
    Saxon,
    as_libxml2,
    by_value,
    same,
    without_document,
    without_entities,
)
from penstock_testing.reference import evaluate
from penstock_testing.tree import Node

_VARIABLE = re.compile(r"\$(\w)")
_LITERALS = {"s": "'u'", "n": "2", "z": "(-0.5)", "t": "true()"}
"""The variables as they are written into what Saxon is asked."""


class Judge:
    """Compares answers; Saxon starts up when it is first needed."""

    def __init__(self) -> None:
        self._saxon: Saxon | None = None

    def deviation(self, asked: AskedQuestion, document: AskedDocument, ours: Rows) -> str | None:
        """Return how lxml deviates from our right answer; empty if it does not.

        Returns None if our answer is wrong.
        """
        theirs = document.ask_libxml2(asked)
        if isinstance(ours, list) and isinstance(theirs, list):
            found = [row for row in ours if row[0] != "document"]
            if found == [document.describe(node) for node in theirs]:
                return ""
        nodes = document.nodes_of(ours) if isinstance(ours, list) else ours
        has_order = isinstance(nodes, list) and _mixes_namespaces(nodes)
        if not has_order and same(without_document(nodes), theirs):
            return ""
        described = by_value(nodes) if isinstance(nodes, list) else nodes
        if (saxons := self._ask_saxon(asked, document)) is not None and same(described, saxons):
            return "libxml2 differs, Saxon agrees"
        if not same(nodes, evaluate(asked.query, document.tree)):
            return None
        if has_order and same(_without_namespaces(nodes), _without_namespaces(theirs)):
            return "libxml2 and Saxon put namespace nodes elsewhere"
        with as_libxml2(document.tree):
            predicted = evaluate(asked.query, document.tree)
        if same(without_document(predicted), theirs):
            return "libxml2 walks an axis in its own way, Saxon differs too"
        if b"<!ENTITY" in document.source:
            plain = AskedDocument(without_entities(document.source)).ask_libxml2(asked)
            if same(described, by_value(plain) if isinstance(plain, list) else plain):
                return "libxml2 has nodes of entity declarations, Saxon differs too"
        return None

    def _ask_saxon(self, asked: AskedQuestion, document: AskedDocument) -> Answer | None:
        self._saxon = self._saxon or Saxon()
        question = asked.question
        text = _VARIABLE.sub(lambda found: _LITERALS[found[1]], question.text)
        try:
            return self._saxon.ask(
                text, document.source, NAMESPACES, is_at_root_element=question.is_relative
            )
        except PySaxonApiError:
            return None


def _without_namespaces(answer: Answer) -> Answer:
    """Return an answer without namespace nodes and without the document node, in order.

    Namespace nodes among others disturb the order in which libxml2 returns all of them.
    """
    nodes = without_document(answer)
    if not isinstance(nodes, list):
        return nodes
    others = [node for node in nodes if node.kind is not NodeKind.NAMESPACE]
    return sorted(others, key=lambda node: node.order)


def _mixes_namespaces(nodes: list[Node]) -> bool:
    """Return whether an answer has namespace nodes and others, whose order lxml does not keep."""
    kinds = {node.kind for node in nodes}
    return len(kinds) > 1 and NodeKind.NAMESPACE in kinds
