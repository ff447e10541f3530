"""The printed form of queries is stable and says everything."""

import pytest

from penstock.languages.xpath import xpath
from penstock.twigs import (
    Axis,
    Block,
    Branch,
    Comparison,
    Element,
    Event,
    Exists,
    Fragments,
    Group,
    Insert,
    Join,
    JoinKind,
    Literal,
    Message,
    NodeKind,
    NodeTest,
    Query,
    TwigNode,
)
from penstock.twigs.expression_printing import print_step
from penstock.twigs.printing import print_query


def element(name: str, variable: str | None = None, *branches: Branch) -> TwigNode:
    """Return a child step."""
    test = NodeTest(NodeKind.ELEMENT, name, ("",))
    return TwigNode(Axis.CHILD, test, variable=variable, branches=branches)


def root(*branches: Branch) -> TwigNode:
    """Return a twig rooted at the document node."""
    return TwigNode(Axis.SELF, NodeTest(NodeKind.DOCUMENT), branches=branches)


def test_a_query_is_printed_as_a_tree() -> None:
    assert print_query(xpath("/a[b = 'x' or not(@c)]/d[e < 2] | //f")) == (
        "fragments $result\n"
        "block 0\n"
        "  self::document()\n"
        "    child::a\n"
        "      where child::b[string(.) = ?0] or not(attribute::c)\n"
        "      child::d as $result\n"
        "        where child::e[number(string(.)) < ?1]\n"
        "  self::document()\n"
        "    descendant::f as $result\n"
        "?0 = 'x'\n"
        "?1 = 2.0\n"
    )


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("count(//a)", "count of $result"),
        ("string(a/b)", "string string(child::a/child::b)"),
        ("a = 1", "boolean boolean(child::a[number(string(.)) = ?0])"),
        ("-(1 + 2)", "number negate((?0 + ?1))"),
        ("name(a) = 'x'", "boolean name(child::a) = ?0"),
    ],
)
def test_the_first_line_is_the_output(text: str, first: str) -> None:
    assert print_query(xpath(text)).splitlines()[0] == first


def test_nothing_is_said_to_be_nothing() -> None:
    assert "nothing can match" in print_query(xpath("/@a"))


@pytest.mark.parametrize(
    ("axis", "test", "printed"),
    [
        (Axis.CHILD, NodeTest(NodeKind.ELEMENT, "a", ("",)), "child::a"),
        (Axis.CHILD, NodeTest(NodeKind.ELEMENT, "a"), "child::*:a"),
        (Axis.CHILD, NodeTest(NodeKind.ELEMENT), "child::*"),
        (Axis.CHILD, NodeTest(NodeKind.ELEMENT, None, ("",)), "child::{}*"),
        (Axis.CHILD, NodeTest(NodeKind.ELEMENT, "a", ("u", "v*")), "child::{u | v*}a"),
        (Axis.ATTRIBUTE, NodeTest(NodeKind.ATTRIBUTE, "a", ("",)), "attribute::a"),
        (Axis.SELF, NodeTest(NodeKind.ATTRIBUTE, "a", ("",)), "self::attribute(a)"),
        (Axis.CHILD, NodeTest(NodeKind.INSTRUCTION, "t"), "child::processing-instruction('t')"),
        (Axis.DESCENDANT, NodeTest(NodeKind.ANY), "descendant::node()"),
    ],
)
def test_steps_are_printed_without_abbreviations(axis: Axis, test: NodeTest, printed: str) -> None:
    assert print_step(axis, test) == printed


def test_joins_streams_and_events_are_printed() -> None:
    left = Block((root(Branch(element("a", "x"))),), "S")
    right = Block((root(Branch(element("b", "y"), optional=True)),), "T")
    join = Join(JoinKind.FOLLOWED_BY, 1, (("x", "y"),), 90.0, (Comparison("x", "<", "y"),))
    assert print_query(Query((left, right), Event(("x",), "out"), joins=(join,))) == (
        "event of $x published as out\n"
        "block 0 of stream S\n"
        "  self::document()\n"
        "    child::a as $x\n"
        "block 1 of stream T\n"
        "  self::document()\n"
        "    optional child::b as $y\n"
        "FOLLOWED BY block 1 on $x = $y and $x < $y within 90 s\n"
    )


def test_messages_are_printed() -> None:
    guard = Exists(element("c"))
    content = (
        Element("o", (("k", (Literal("v"),)),), (Insert("x"), Insert("x", as_value=True))),
        Group("y", (Literal("it's"),), guard),
    )
    block = Block((root(Branch(element("a", "x", Branch(element("b", "y"))))),))
    assert print_query(Query((block,), Message(("x",), content, (("x", guard),)))) == (
        "message for each $x\n"
        "  where $x: child::c\n"
        "  element o\n"
        "    attribute k\n"
        "      text 'v'\n"
        "    insert $x\n"
        "    insert value of $x\n"
        "  for each $y where child::c\n"
        '    text "it\'s"\n'
        "block 0\n"
        "  self::document()\n"
        "    child::a as $x\n"
        "      child::b as $y\n"
    )


def test_variables_beside_the_result_are_printed() -> None:
    block = Block((root(Branch(element("a", "x"))),))
    assert print_query(Query((block,), Fragments("x", ("y",)))).startswith(
        "fragments $x beside $y\n"
    )
