"""Location paths become twigs rooted at the document node."""

import pytest

from penstock.languages.xpath import xpath
from penstock.twigs import (
    Axis,
    Block,
    Branch,
    Compare,
    Exists,
    Fragments,
    NodeKind,
    NodeTest,
    Query,
    Slot,
    StringOf,
    TwigNode,
    ValueType,
)
from tests.unit.languages.xpath.lowered import paths


def test_a_path_is_a_chain_of_required_branches() -> None:
    price = TwigNode(
        Axis.ATTRIBUTE,
        NodeTest(NodeKind.ATTRIBUTE, "id", ("",)),
        Compare("=", StringOf(), Slot(0, ValueType.STRING)),
    )
    title = TwigNode(Axis.CHILD, NodeTest(NodeKind.ELEMENT, "title", ("",)), variable="result")
    book = TwigNode(
        Axis.CHILD,
        NodeTest(NodeKind.ELEMENT, "book", ("",)),
        Exists(price),
        branches=(Branch(title),),
    )
    root = TwigNode(Axis.SELF, NodeTest(NodeKind.DOCUMENT), branches=(Branch(book),))
    assert xpath("/book[@id = 'x']/title") == Query((Block((root,)),), Fragments("result"), ("x",))


def test_the_query_remembers_text_and_language() -> None:
    query = xpath("//a")
    assert (query.text, query.language) == ("//a", "xpath")


@pytest.mark.parametrize("text", ["a/b", "/a/b", "./a/b", "/./a/./b", "(a)/b", "self::node()/a/b"])
def test_a_relative_path_starts_at_the_document_node(text: str) -> None:
    assert paths(text) == ["child::a/child::b"]


@pytest.mark.parametrize("text", ["/", ".", "/.", "self::node()"])
def test_the_document_node_itself_can_be_the_result(text: str) -> None:
    assert paths(text) == ["/"]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("//a", "descendant::a"),
        ("/a/@b", "child::a/attribute::b"),
        ("/a/@*", "child::a/attribute::*"),
        ("/a/@node()", "child::a/attribute::*"),
        ("/a/text()", "child::a/child::text()"),
        ("/comment()", "child::comment()"),
        ("/processing-instruction('x')", "child::processing-instruction('x')"),
        ("/a/node()", "child::a/child::node()"),
        ("/descendant::a/self::*", "descendant::a/self::*"),
        ("/*/descendant-or-self::a", "child::*/descendant-or-self::a"),
        ("/a[b][c or d]", "child::a[child::b][child::c or child::d]"),
        ("/a/.", "child::a"),
    ],
)
def test_a_step_is_an_axis_and_a_test(text: str, path: str) -> None:
    assert paths(text) == [path]


@pytest.mark.parametrize("text", ["a | b", "(a | b)", "/a | /b | a"])
def test_a_union_has_alternatives_each_once(text: str) -> None:
    assert paths(text) == ["child::a", "child::b"]


def test_a_path_after_a_union_follows_each_alternative() -> None:
    assert paths("(a | b)/c") == ["child::a/child::c", "child::b/child::c"]


def test_a_predicate_of_a_parenthesised_path_guards_its_last_step() -> None:
    assert paths("(//a | b)[c]") == [
        "descendant::a[child::c]",
        "child::b[child::c]",
    ]
    assert paths("(/)[a]") == ["self::node()[child::a]"]


@pytest.mark.parametrize(
    "text",
    [
        "/@x",
        "/text()",
        "//text()/a",
        "//@a/b",
        "//@a/@b",
        "//comment()//b",
        "//a/attribute::text()",
        "//@a/self::a",
        "/self::a",
        "/a/@b/descendant::node()",
        "//a/@b/text() | /@c",
    ],
)
def test_a_path_that_can_never_match_has_no_alternatives(text: str) -> None:
    assert paths(text) == []


def test_an_attribute_is_its_own_descendant_or_self() -> None:
    assert paths("/a/@b//.") == ["child::a/attribute::b"]
    assert paths("/a/@b/descendant-or-self::node()[. = 'x']") == [
        "child::a/attribute::b/self::node()[string(.) = 'x']"
    ]
