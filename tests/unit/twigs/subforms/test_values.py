"""Values: strings, numbers and truths, with conversions written out."""

import pytest

from penstock.languages.xpath import xpath
from penstock.twigs import Aggregate, Fragments, Value, ValueType
from tests.unit.languages.xpath.lowered import condition, has_no_twig, value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'x'", "'x'"),
        ("1.5", "1.5"),
        ("string(a)", "string(child::a)"),
        ("string(//a[@b]/c)", "string(descendant::a[attribute::b]/child::c)"),
        ("string()", "string(.)"),
        ("string(1)", "string(1)"),
        ("number(a)", "number(string(child::a))"),
        ("number()", "number(string(.))"),
        ("-a", "negate(number(string(child::a)))"),
        ("a + 1 * 2", "(number(string(child::a)) + (1 * 2))"),
        ("a div b", "(number(string(child::a)) div number(string(child::b)))"),
        ("concat(a, 1, true())", "concat(string(child::a), string(1), string(true()))"),
        ("substring(a, 2)", "substring(string(child::a), 2)"),
        ("string-length()", "string-length(string(.))"),
        ("normalize-space(a)", "normalize-space(string(child::a))"),
        ("translate(a, 'b', 'c')", "translate(string(child::a), 'b', 'c')"),
        ("round(a)", "round(number(string(child::a)))"),
        ("name()", "name(.)"),
        ("local-name(a/b)", "local-name(child::a/child::b)"),
        ("namespace-uri(/*)", "namespace-uri(child::*)"),
        ("string(@a)", "''"),
        ("name(/@a)", "''"),
    ],
)
def test_a_value_is_an_atom_at_the_document_node(text: str, expected: str) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("1", ValueType.NUMBER),
        ("string(a)", ValueType.STRING),
        ("a = 1", ValueType.BOOLEAN),
        ("contains(a, 'x')", ValueType.BOOLEAN),
        ("not(a)", ValueType.BOOLEAN),
    ],
)
def test_the_output_knows_its_type(text: str, kind: ValueType) -> None:
    output = xpath(text).output
    assert isinstance(output, Value)
    assert output.type is kind


@pytest.mark.parametrize("name", ["count", "sum", "avg", "min", "max"])
def test_an_aggregate_of_a_path_is_its_own_kind_of_result(name: str) -> None:
    query = xpath(f"{name}(//a)")
    assert query.output == Aggregate(name, "result")
    assert query.blocks == xpath("//a").blocks


def test_the_nodes_of_a_path_are_fragments() -> None:
    assert xpath("//a").output == Fragments("result")


def test_an_absolute_value_in_a_predicate_moves_to_the_document_node() -> None:
    assert condition("starts-with(name(/*), 'a')") == (
        "at-root(boolean(starts-with(name(child::*), 'a')))"
    )


def test_the_string_of_a_union_has_no_twig() -> None:
    assert has_no_twig("//a[contains(b | c, 'x')]")
    assert value("string(a | /a)") == "string(child::a)"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("x", "'x'"),
        (2, "2"),
        (2.5, "2.5"),
        (True, "true()"),
        (10**400, "inf"),
        (-(10**400), "-inf"),
    ],
)
def test_a_variable_is_a_constant(given: object, expected: str) -> None:
    assert value("$v", variables={"v": given}).lower() == expected.lower()


def test_a_variable_compares_by_its_type() -> None:
    assert condition("a = $v", variables={"v": "1"}) == "child::a[string(.) = '1']"
    assert condition("a = $v", variables={"v": 1}) == "child::a[number(string(.)) = 1]"
    assert condition("$v", variables={"v": False}) == "false()"
