"""Paths, filters, unions and ids as sets of nodes."""

import pytest

from tests.unit.languages.xpath.lowered import expression


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("//a/..", "/descendant::a/parent::node()"),
        ("a/../b", "/child::a/parent::node()/child::b"),
        ("//a/ancestor::b[c]", "/descendant::a/ancestor::b[child::c]"),
        ("/a/following-sibling::*", "/child::a/following-sibling::*"),
        ("//a/preceding::text()", "/descendant::a/preceding::text()"),
        ("//a//b[..]", "/descendant::a/descendant::b[parent::node()]"),
        ("//a[./@x = ../@x]", "/descendant::a[attribute::x = parent::node()/attribute::x]"),
        ("(//a | //b)[1]", "(/descendant::a | /descendant::b)[position() = 1]"),
        ("(//a | //a)[1]", "(/descendant::a)[position() = 1]"),
        ("(//a)[1]/b[2]", "(/descendant::a)[position() = 1]/child::b[position() = 2]"),
        ("(a | b)/..", "(/child::a | /child::b)/parent::node()"),
    ],
)
def test_steps_are_written_out(text: str, expected: str) -> None:
    assert expression(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("//a[1]", "/descendant-or-self::node()/child::a[position() = 1]"),
        ("//a[b[1]]", "/descendant::a[child::b[position() = 1]]"),
        ("//a[b = last()]", "/descendant-or-self::node()/child::a[child::b = last()]"),
        (
            "//a[id(last())]",
            "/descendant-or-self::node()/child::a[id(string(last()))]",
        ),
        ("//self::a[..]", "/descendant-or-self::a[parent::node()]"),
        ("//descendant::a[..]", "/descendant::a[parent::node()]"),
        ("//..", "/descendant-or-self::node()/parent::node()"),
        ("//@a/..", "/descendant-or-self::node()/attribute::a/parent::node()"),
    ],
)
def test_two_slashes_are_one_step_where_no_position_is_asked_for(text: str, expected: str) -> None:
    assert expression(text) == expected


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("2", "position() = 2"),
        ("$two", "position() = 2"),
        ("$word = ..", "parent::node() = 'w'"),
        ("$word][1", "boolean('w')][position() = 1"),
        ("last()", "position() = last()"),
        ("count(b)", "position() = count(child::b)"),
        ("-1", "position() = negate(1)"),
        ("string(..)", "boolean(string(parent::node()))"),
        ("position() > 1", "position() > 1"),
        ("position() and 1", "boolean(position()) and boolean(1)"),
    ],
)
def test_a_predicate_that_is_a_number_is_a_position(predicate: str, expected: str) -> None:
    found = expression(f"/a[{predicate}]", variables={"two": 2, "word": "w"})
    assert found == f"/child::a[{expected}]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id('x y')", "id('x y')"),
        ("id(//@ref)/a", "id(strings(/descendant-or-self::node()/attribute::ref))/child::a"),
        ("id(2)", "id(string(2))"),
        ("//a[id(@ref)]", "/descendant::a[id(strings(attribute::ref))]"),
    ],
)
def test_ids_are_words(text: str, expected: str) -> None:
    assert expression(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/a/namespace::*", "/child::a/namespace::*"),
        ("/a/namespace::node()", "/child::a/namespace::*"),
        ("/a/namespace::p", "/child::a/namespace::p"),
        ("/a/namespace::p:x", "/child::a/namespace::{urn:p}x"),
        ("//p:a/..", "/descendant::{urn:p}a/parent::node()"),
        ("//q:*/..", "/descendant::{urn:1 | urn:2*}*/parent::node()"),
        ("//a/@b/..", "/descendant::{urn:d}a/attribute::b/parent::node()"),
    ],
)
def test_names_are_resolved_on_every_axis(text: str, expected: str) -> None:
    namespaces = {"p": "urn:p", "q": ["urn:1", "urn:2*"]}
    if "{urn:d}" in expected:
        namespaces[""] = "urn:d"
    assert expression(text, namespaces=namespaces) == expected
