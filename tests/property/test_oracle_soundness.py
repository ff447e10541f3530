"""What the oracle holds for decided stays so, however the document goes on.

A document is cut after a random event and completed in another way. Nodes decided before the cut
are results of the completed document, and nodes ruled out before the cut are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from penstock.languages.xpath import xpath
from penstock.twigs import Query
from penstock_testing.generate import NAMESPACES
from penstock_testing.kleene import Lifetimes, steps
from penstock_testing.kleene.members import Horizon
from penstock_testing.reference import evaluate
from penstock_testing.tree import EventKind, Node, Tree, parse
from tests.property.runs import Draw, paths, twigs

PAIRS = 800
PAIRS_SLOW = 20_000
DRAWS = pytest.mark.parametrize("draw", [twigs, paths])
PIECES = (
    "<b/>",
    "<c>v</c>",
    "<a x='1'>2<b>2</b></a>",
    "<d n='2'><d><a/></d>u</d>",
    "<!--u-->",
    "<?t v?>",
    "<p:a xmlns:p='urn:p'/>",
)


def open_elements(tree: Tree, event: int) -> list[Node]:
    """Return the elements that are open after an event, the innermost last."""
    stack: list[Node] = []
    for past in tree.events[: event + 1]:
        if past.kind is EventKind.START:
            stack.append(past.node)
        elif past.kind is EventKind.END:
            stack.pop()
    return stack


def complete(tree: Tree, event: int, random: Random) -> bytes:
    """Return the document up to an event inside its root element, with another ending."""
    written = tree.source[: tree.events[event].offset].decode()
    for element in reversed(open_elements(tree, event)):
        # Markup first: a text node that was complete must not grow.
        for _ in range(random.choice((0, 0, 1, 2))):
            written += random.choice(PIECES) + random.choice(("", "", "1", "v"))
        written += f"</{element.name}>"
    return written.encode()


def cuts(tree: Tree) -> list[int]:
    """Return the events after which the document can be cut.

    Events of an empty element, or of one entity, have one offset: no cut lies between them.
    """
    return [
        event
        for event in range(len(tree.events) - 1)
        if open_elements(tree, event) and tree.events[event].offset < tree.events[event + 1].offset
    ]


def present(tree: Tree, event: int) -> set[int]:
    """Return the places of the nodes that exist after an event, of every kind."""
    nodes = [tree.root, *(past.node for past in tree.events[: event + 1])]
    return {node.order for near in nodes for node in (near, *near.namespaces, *near.attributes)}


def unsound(query: Query, tree: Tree, random: Random) -> list[str]:
    """Return the nodes of which the oracle said something that another ending refutes."""
    if not cuts(tree):
        return []
    event = random.choice(cuts(tree))
    found = evaluate(query, parse(complete(tree, event, random)))
    assert isinstance(found, list)
    results = {node.order for node in found}
    past = steps(query, tree)[: event + 1]
    decided = {node.order for step in past for node in step.decided}
    needed = {node.order for node in past[-1].needed}
    ruled_out = present(tree, event) - decided - needed
    said = [f"{order} is a result" for order in decided - results]
    return said + [f"{order} is no result" for order in ruled_out & results]


def all_unsound(draw: Draw, count: int) -> Iterator[tuple[str, str, list[str]]]:
    for seed in range(count):
        random = Random(seed)
        expression, document = draw(random)
        tree = parse(document)
        refuted = unsound(xpath(expression, namespaces=NAMESPACES), tree, random)
        if refuted:
            yield expression, tree.source.decode(), refuted


@DRAWS
def test_no_other_ending_refutes_the_oracle(draw: Draw) -> None:
    assert list(all_unsound(draw, PAIRS)) == []


@pytest.mark.slow
@DRAWS
def test_no_other_ending_refutes_the_oracle_on_many_pairs(draw: Draw) -> None:
    assert list(all_unsound(draw, PAIRS_SLOW)) == []


@DRAWS
def test_an_oracle_that_takes_open_elements_for_closed_is_refuted(
    draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Lifetimes, "is_closed", lambda self, node: True)
    assert any(all_unsound(draw, PAIRS))


def test_an_oracle_that_forgets_what_nodes_to_come_may_reach_is_refuted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Horizon, "reached_from", lambda self, axis, place: [])
    assert any(all_unsound(paths, PAIRS))
