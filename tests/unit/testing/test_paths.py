"""Axes and node tests of the reference evaluator."""

from random import Random

import pytest
from lxml import etree

from penstock.twigs import Axis, NodeKind, NodeTest
from penstock_testing.generate import DocumentKnobs, random_document
from penstock_testing.reference.paths import nodes_on, passes
from penstock_testing.tree import Node, parse

ELEMENTS_ONLY = DocumentKnobs(text=0, comment=0, instruction=0, doctype=0, namespaces=0)
AXES = [axis for axis in Axis if axis not in (Axis.ATTRIBUTE, Axis.NAMESPACE)]


@pytest.mark.parametrize("axis", AXES, ids=lambda axis: axis.value)
def test_axes_reach_the_elements_that_lxml_reaches(axis: Axis) -> None:
    for seed in range(20):
        source = random_document(Random(seed), ELEMENTS_ONLY)
        ours = [node for node in parse(source).nodes if node.kind is NodeKind.ELEMENT]
        theirs = list(etree.fromstring(source).iter())
        for one, other in zip(ours, theirs, strict=True):
            found = {node for node in nodes_on(axis, one) if node.kind is NodeKind.ELEMENT}
            expected = {ours[theirs.index(node)] for node in other.xpath(f"{axis.value}::*")}
            assert found == expected


def test_an_attribute_has_a_parent_and_what_follows_it_but_no_siblings() -> None:
    root = parse("<a><b/><c x='1'><d/></c><e/></a>").root.children[0]
    (x,) = root.children[1].attributes

    def names(axis: Axis) -> list[str]:
        return [node.local for node in nodes_on(axis, x)]

    assert names(Axis.PARENT) == ["c"]
    assert names(Axis.FOLLOWING_SIBLING) == []
    assert names(Axis.FOLLOWING) == ["d", "e"]
    assert names(Axis.PRECEDING) == ["b"]


def element(uri: str) -> Node:
    return parse(f"<a xmlns='{uri}'/>" if uri else "<a/>").root.children[0]


@pytest.mark.parametrize(
    ("uris", "uri", "is_match"),
    [
        (None, "urn:n", True),
        (("",), "urn:n", False),
        (("",), "", True),
        (("urn:m", "urn:n"), "urn:n", True),
        (("http://x/*",), "http://x/1", True),
        (("http://x/*",), "http://y/1", False),
        (("http://x/?q=*",), "http://x/aq=1", False),
    ],
)
def test_a_node_test_names_no_one_several_or_a_glob_of_namespaces(
    uris: tuple[str, ...] | None, uri: str, is_match: bool
) -> None:
    assert passes(NodeTest(NodeKind.ELEMENT, "a", uris), element(uri)) is is_match
