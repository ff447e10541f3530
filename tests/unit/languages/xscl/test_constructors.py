"""Constructors of SELECT: what they hold, and what is said where they are not well-formed."""

import pytest

from penstock.languages.xscl import xscl
from penstock.twigs import Element, Event, Insert, Literal
from penstock.twigs.outputs import Content
from tests.unit.languages.xscl.test_parser import refusal


def content(constructor: str) -> tuple[Content, ...]:
    output = xscl(f"SELECT {constructor} FROM S//a->x[b->y]").output
    assert isinstance(output, Event)
    return output.content


def test_an_element_holds_text_nodes_and_values() -> None:
    assert content("<e>old {x} new {string(y)}</e>") == (
        Element("e", (), (Literal("old "), Insert("x"), Literal(" new "), Insert("y", True))),
    )


def test_an_attribute_holds_values() -> None:
    assert content("<e a='{x}-{ y }' b=\"&quot;\"/>") == (
        Element(
            "e",
            (("a", (Insert("x", True), Literal("-"), Insert("y", True))), ("b", (Literal('"'),))),
        ),
    )


def test_elements_nest_and_layout_is_dropped() -> None:
    assert content("<e>\n  <f>{x}</f>\n  <g/>\n</e>") == (
        Element("e", (), (Element("f", (), (Insert("x"),)), Element("g"))),
    )


def test_references_and_doubled_braces_are_characters() -> None:
    assert content("<e>&lt;&#65;&#x42;{{x}}&#32;</e>") == (Element("e", (), (Literal("<AB{x} "),)),)


def test_the_selected_variables_are_those_that_it_mentions() -> None:
    output = xscl("SELECT <e b='{y}'>{x}{x}</e> FROM S//a->x[b->y]").output
    assert isinstance(output, Event)
    assert output.select == ("y", "x")


def test_what_follows_a_constructor_keeps_its_place() -> None:
    assert refusal("SELECT <e>{x}</e> FROM S//a->x JOIN{x = y, 2 dys} S//b->y") == ("PQ0406", "dys")


@pytest.mark.parametrize(
    ("constructor", "underlined"),
    [
        ("<e>{x}", "<e>{x}"),
        ("<e>{x}</f>", "<e>{x}</f>"),
        ("<e><f></e></f>", "<f></e>"),
        ("<e a='{x}' a='1'/>", "a='"),
        ("<e a='<f/>'/>", "<"),
        ("<e xmlns='{x}'/>", "xmlns='{x}'"),
        ("<e>{x/b}</e>", "{x/b}"),
        ("<e>{count(x)}</e>", "{count(x)}"),
        ("<e>x}</e>", "}"),
        ("<e>& </e>", "&"),
        ("<e>&#0;</e>", "&#0;"),
        ("<e a=1/>", "a"),
        ("<1/>", "<"),
    ],
)
def test_a_mistake_is_underlined(constructor: str, underlined: str) -> None:
    text = f"SELECT {constructor} FROM S//a->x"
    code, found = refusal(text if constructor != "<e>{x}" else f"SELECT {constructor}")
    assert (code, found) == ("PQ0407", underlined)


def test_an_unknown_variable_is_underlined_where_it_stands() -> None:
    assert refusal("SELECT <e>{z}</e> FROM S//a->x") == ("PQ0403", "z")


def test_nesting_is_bounded() -> None:
    deep = "<e>" * 60 + "</e>" * 60
    assert refusal(f"SELECT {deep} FROM S//a->x")[0] == "PQ0407"
