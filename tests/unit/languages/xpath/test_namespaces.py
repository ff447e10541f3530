"""Prefixes stand for namespaces: one, several or a glob."""

from typing import Any

import pytest

from penstock.errors import QueryError
from penstock.languages.xpath import xpath
from penstock.twigs import NodeTest


def node_tests(text: str, namespaces: dict[str, Any] | None = None) -> list[NodeTest]:
    """Return the node tests along the spine of a query."""
    node = xpath(text, namespaces=namespaces).blocks[0].alternatives[0]
    found = []
    while node.branches:
        node = node.branches[0].node
        found.append(node.test)
    return found


def uris(text: str, namespaces: dict[str, Any] | None = None) -> tuple[str, ...] | None:
    """Return the namespaces of the last step."""
    return node_tests(text, namespaces)[-1].uris


def test_a_name_without_prefix_is_in_no_namespace() -> None:
    assert uris("/a") == ("",)


def test_the_empty_prefix_sets_the_namespace_of_elements_only() -> None:
    assert uris("/a", {"": "urn:a"}) == ("urn:a",)
    assert uris("/a/@b", {"": "urn:a"}) == ("",)


def test_a_star_is_in_any_namespace() -> None:
    assert uris("/*", {"": "urn:a"}) is None
    assert uris("/p:*", {"p": "urn:p"}) == ("urn:p",)


def test_a_prefix_may_stand_for_several_namespaces() -> None:
    assert uris("/p:a", {"p": ["urn:1", "urn:2", "urn:1"]}) == ("urn:1", "urn:2")


def test_a_glob_is_kept_as_it_is() -> None:
    assert uris("/p:a", {"p": "urn:*"}) == ("urn:*",)


def test_xml_is_always_bound() -> None:
    assert uris("/a/@xml:lang") == ("http://www.w3.org/XML/1998/namespace",)


def test_an_unbound_prefix_is_underlined() -> None:
    with pytest.raises(QueryError) as caught:
        xpath("//a/p:b")
    assert (caught.value.code, caught.value.span) == ("PQ0111", (4, 7))


@pytest.mark.parametrize("value", [None, 3, [], ["urn:a", 4], b"urn:a"])
def test_a_binding_must_be_a_namespace(value: object) -> None:
    namespaces: dict[str, Any] = {"p": value}
    with pytest.raises(QueryError, match="PQ0118"):
        xpath("//p:a", namespaces=namespaces)
