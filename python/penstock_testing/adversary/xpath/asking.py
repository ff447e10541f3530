"""Expressions and documents, ready to be asked: by the kernel, by lxml, by Saxon."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from lxml import etree

from penstock.kernel import Plan, Session
from penstock.languages.xpath import xpath
from penstock.planning.compile import compile_query
from penstock.results import KINDS
from penstock.twigs import NodeKind
from penstock_testing.adversary.xpath.expressions import VARIABLES, Question
from penstock_testing.generate import NAMESPACES
from penstock_testing.peers import Answer, Libxml2
from penstock_testing.reference import Atomic
from penstock_testing.tree import Node, parse

Found = tuple[str, str, int, int, str]
"""Kind, expanded name, start, end, and text or string value of a node."""
Rows = list[Found] | Atomic

_WHOLE = (NodeKind.ELEMENT, NodeKind.DOCUMENT)


class AskedQuestion:
    """An expression, compiled by Penstock and by lxml.

    Raises:
        QueryError: Penstock refuses the expression.
        etree.XPathSyntaxError: libxml2 does.
    """

    def __init__(self, question: Question) -> None:
        self.question = question
        context = "/*" if question.is_relative else "/"
        self.libxml2 = etree.XPath(question.text, namespaces=NAMESPACES)
        self.query = xpath(
            question.text, namespaces=NAMESPACES, variables=VARIABLES, context=context
        )
        self.program = compile_query(self.query)

    @cached_property
    def session(self) -> Session:
        """A session of this question alone."""
        return Session(Plan.build([self.program]))

    @property
    def selects_nodes(self) -> bool:
        return self.query.selects_nodes


class AskedDocument:
    """A document, read into a tree and by lxml."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.tree = parse(source)
        self.libxml2 = Libxml2(self.tree)
        self._described: dict[Node, Found] = {}

    def ask_libxml2(self, asked: AskedQuestion) -> Answer:
        """Return lxml's answer; nodes are those of the tree."""
        return self.libxml2.evaluate(asked.libxml2, VARIABLES)

    def describe(self, node: Node) -> Found:
        """Return a node as the kernel reports it."""
        found = self._described.get(node)
        if found is None:
            value = self.tree.text(node) if node.kind in _WHOLE else node.string_value()
            found = (node.kind.value, node.expanded_name, node.start, node.end, value)
            self._described[node] = found
        return found

    def nodes_of(self, rows: Sequence[Found]) -> list[Node]:
        """Return the nodes that rows stand for. What is not in the tree gets a node of its own."""
        places: dict[Found, list[Node]] = {}
        for node in reversed(self.tree.nodes):
            places.setdefault(self.describe(node), []).append(node)
        return [nodes.pop() if (nodes := places.get(row)) else _stranger(row) for row in rows]


def _stranger(row: Found) -> Node:
    kind, name, start, end, value = row
    return Node(NodeKind(kind), start, end, -1, local=name, value=value)


def take(session: Session, questions: Sequence[AskedQuestion]) -> list[Rows]:
    """Return the answers that wait in a session, one for each question."""
    rows: list[tuple[Any, ...]] = session.take().rows()[0]
    by_question: list[list[tuple[int, Found]]] = [[] for _ in questions]
    values: list[Atomic | None] = [None] * len(questions)
    for number, _, kind, name, value, start, end, _, node, _ in rows:
        if questions[number].selects_nodes:
            by_question[number].append((node, (KINDS[kind], name or "", start, end, value)))
        else:
            assert values[number] is None, "a query has one value"
            values[number] = _value(KINDS[kind], value)
    return [
        [row for _, row in sorted(found, key=_by_place)] if value is None else value
        for found, value in zip(by_question, values, strict=True)
    ]


def _by_place(numbered: tuple[int, Found]) -> int:
    return numbered[0]


def _value(kind: str, value: str) -> Atomic:
    match kind:
        case "number":
            return float(value)
        case "boolean":
            return value == "true"
    return value
