"""The representation carries FLWR: queries 1 to 3 of the YFilter broker (sections 2.2, 3)."""

from penstock.twigs import (
    And,
    Axis,
    Branch,
    Compare,
    Element,
    Exists,
    Group,
    Insert,
    Literal,
    Message,
    Query,
    Slot,
    StringOf,
    TwigNode,
    ValueType,
)
from penstock_testing.reference import messages
from penstock_testing.tree import parse
from tests.unit.testing.builders import attribute, block, child, descendant, equals, having


def within(tag: str, group: Group) -> Message:
    """Return the one message of a FLWR expression enclosed in a constant tag."""
    return Message(each=(), content=(Element(tag, content=(group,)),))


def optional(node: TwigNode) -> Branch:
    return Branch(node, optional=True)


QUERY_1 = Query(
    blocks=(
        block(
            descendant(
                "section",
                optional(child("title", to="t")),
                optional(child("figure", to="f")),
                to="s",
            )
        ),
    ),
    output=within(
        "sections",
        Group(
            "s",
            where=Exists(descendant("figure", where=having("title", 0))),
            content=(Element("section", content=(Insert("t"), Insert("f"))),),
        ),
    ),
    constants=("XML processing",),
    language="xquery",
)

AT_MOST_TWO = Compare("<=", StringOf(), Slot(1, ValueType.NUMBER))
QUERY_2 = Query(
    blocks=(
        block(
            descendant(
                "section",
                Branch(descendant("figure", optional(child("image", to="i")), to="f")),
                where=Exists(TwigNode(Axis.ATTRIBUTE, attribute("id"), AT_MOST_TWO)),
            )
        ),
    ),
    output=within(
        "figures",
        Group("f", where=having("title", 0), content=(Element("figure", content=(Insert("i"),)),)),
    ),
    constants=("XML processing", 2.0),
    language="xquery",
)

QUERY_3 = Query(
    blocks=(
        block(
            descendant(
                "section",
                optional(descendant("section", Branch(descendant("title", to="t")))),
                optional(descendant("figure", to="f")),
                to="s",
            )
        ),
    ),
    output=within(
        "sections",
        Group(
            "s",
            where=And((having("title", 1), Exists(child("figure", where=having("title", 0))))),
            content=(Element("section", content=(Insert("t"), Insert("f"))),),
        ),
    ),
    constants=("XML processing", "XML"),
    language="xquery",
)


def test_query_1_returns_title_and_figures_of_each_section() -> None:
    figure = "<figure><title>XML processing</title></figure>"
    tree = parse(
        f"<book><section><title>One</title>{figure}<figure/>"
        f"<section><title>Two</title><p>{figure}</p></section></section>"
        "<section><title>Three</title><figure><title>else</title></figure></section></book>"
    )
    assert messages(QUERY_1, tree) == [
        f"<sections><section><title>One</title>{figure}<figure/></section>"
        "<section><title>Two</title></section></sections>"
    ]


def test_query_2_returns_a_figure_once_however_many_sections_hold_it() -> None:
    tree = parse(
        '<book><section id="1"><section id="2"><figure><title>XML processing</title>'
        '<image n="1"/><image n="2"/></figure></section></section>'
        '<section id="3"><figure><title>XML processing</title><image n="3"/></figure></section>'
        "</book>"
    )
    assert messages(QUERY_2, tree) == [
        '<figures><figure><image n="1"/><image n="2"/></figure></figures>'
    ]


def test_query_3_orders_groups_by_their_section() -> None:
    figure = "<figure><title>XML processing</title></figure>"
    inner = f"<section><title>XML</title>{figure}</section>"
    tree = parse(f"<book><section>{inner}<title>XML</title>{figure}</section></book>")
    outer_titles = "<title>XML</title><title>XML processing</title>"
    assert messages(QUERY_3, tree) == [
        f"<sections><section>{outer_titles}{figure}{figure}</section>"
        f"<section>{figure}</section></sections>"
    ]


def test_no_binding_gives_the_constant_tag_alone() -> None:
    assert messages(QUERY_1, parse("<book/>")) == ["<sections/>"]


def test_a_message_for_each_binding_mixes_literals_values_and_attributes() -> None:
    item = child("item", Branch(child("name", to="n")), to="i")
    constructed = Element(
        "m",
        attributes=(("of", (Literal("<"), Insert("n"))),),
        content=(Literal("a & "), Insert("n", as_value=True)),
    )
    output = Message(each=("i", "n"), content=(constructed,), where=(("n", equals(0)),))
    query = Query((block(child("r", Branch(item))),), output, ("p&q",))
    tree = parse("<r><item><name>p&amp;q</name><name>z</name></item></r>")
    assert messages(query, tree) == ['<m of="&lt;p&amp;q">a &amp; p&amp;q</m>']
