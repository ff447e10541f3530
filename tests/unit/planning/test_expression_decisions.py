"""When a node of an expression is certain: the bound holds for every node and every event."""

from __future__ import annotations

from random import Random

import pytest

from penstock.languages.xpath import xpath
from penstock.planning.expression_decisions import decision_of
from penstock.planning.expression_timing import Wait
from penstock.planning.timing import Moment
from penstock.twigs import Query, Selection
from penstock.twigs.queries import as_expression
from penstock_testing.generate import (
    NAMESPACES,
    DocumentKnobs,
    WholeKnobs,
    random_document,
    random_xpath,
)
from penstock_testing.kleene import steps
from penstock_testing.tree import EventKind, Node, Tree, parse

PAIRS = 400


def selection(text: str) -> tuple[Query, Selection]:
    """Return a query as an expression."""
    query = as_expression(xpath(text, namespaces=NAMESPACES))
    assert isinstance(query.output, Selection)
    return query, query.output


@pytest.mark.parametrize(
    ("text", "moment", "scope"),
    [
        ("//a[1]", Moment.START, ""),
        ("//a[@x = ../@x]", Moment.START, ""),
        ("//a[not(ancestor::n)]", Moment.START, ""),
        ("//a[preceding::b = 'x']", Moment.START, ""),
        ("//a/following-sibling::b", Moment.START, ""),
        ("(//a)[3]", Moment.START, ""),
        ("id('x')", Moment.START, ""),
        ("//a[lang('en')]", Moment.START, ""),
        ("//a[count(b) > 2]", Moment.END, ""),
        ("//a[b = c]", Moment.END, ""),
        ("//a/..", Moment.END, ""),
        ("//a[following-sibling::b]", Moment.PARENT, "its parent"),
        ("//b/preceding-sibling::a", Moment.PARENT, "its parent"),
        ("//x/a[last()]", Moment.ANCESTOR, "descendant::x"),
        ("//x[count(y) = 2]/a", Moment.ANCESTOR, "descendant::x"),
        ("//a[ancestor::n[not(b)]]", Moment.ANCESTOR, "ancestor::n"),
        ("/r/a[last()]", Moment.DOCUMENT, ""),
        ("//a[following::b]", Moment.DOCUMENT, ""),
        ("//a/preceding::b", Moment.DOCUMENT, ""),
        ("(//a)[last()]", Moment.DOCUMENT, ""),
        ("(//a[b])[2]", Moment.DOCUMENT, ""),
        ("//a[. = /r/b]", Moment.DOCUMENT, ""),
    ],
)
def test_a_decision_has_its_moment(text: str, moment: Moment, scope: str) -> None:
    wait = decision_of(selection(text)[1].expression)
    assert (wait.moment, wait.scope) == (moment, scope)


def ends(tree: Tree) -> dict[Node, int]:
    """Return the event with which each node is complete."""
    found: dict[Node, int] = {}
    for index, event in enumerate(tree.events):
        found[event.node] = index
        if event.kind is EventKind.START:
            for node in (*event.node.namespaces, *event.node.attributes):
                found[node] = index
    return found


def births(tree: Tree) -> dict[Node, int]:
    """Return the event with which each node is there."""
    found = {tree.root: -1}
    for index, event in enumerate(tree.events):
        found.setdefault(event.node, index)
        if event.kind is EventKind.START:
            for node in (*event.node.namespaces, *event.node.attributes):
                found[node] = index
    return found


def last_event(tree: Tree, node: Node, wait: Wait) -> int:
    """Return the event after which a node must be decided."""
    moment = wait.moment
    if moment is Moment.START:
        return max(births(tree)[node], 0)
    if moment is Moment.END or node.parent is None:
        return ends(tree)[node]
    if moment is Moment.PARENT or (moment is Moment.ANCESTOR and node.parent is tree.root):
        return ends(tree)[node.parent]
    if moment is Moment.ANCESTOR and "::" in wait.scope:  # and not whatever is around
        while node.parent is not tree.root:
            node = node.parent
        return ends(tree)[node]
    return len(tree.events) - 1


def test_nothing_is_undecided_for_longer_than_the_bound_says() -> None:
    random = Random(12)
    knobs = WholeKnobs(values=0, predicate=0.4)
    small = DocumentKnobs(nodes_max=12)
    found = dict.fromkeys(Moment, 0)
    for _ in range(PAIRS):
        text = random_xpath(random, knobs)
        query, output = selection(text)
        wait = decision_of(output.expression)
        found[wait.moment] += 1
        tree = parse(random_document(random, small))
        for event, step in enumerate(steps(query, tree)):
            for node in step.needed:
                late = event >= last_event(tree, node, wait)
                assert not late, (text, wait, tree.source, event, node)
    assert all(found[moment] > 5 for moment in Moment), found
