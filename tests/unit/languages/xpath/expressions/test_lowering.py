"""What a whole text becomes: nodes, a value, an aggregate, from a context, with others beside."""

import pytest

from penstock.languages.xpath import xpath
from penstock.twigs import Selection, ValueType
from penstock.twigs.expression_printing import print_expression
from tests.unit.languages.xpath.lowered import expression


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("//a[1]", None),
        ("count(//a) + 1", ValueType.NUMBER),
        ("name(a | b)", ValueType.STRING),
        ("//a = //b", ValueType.BOOLEAN),
    ],
)
def test_a_selection_knows_its_type(text: str, kind: ValueType | None) -> None:
    output = xpath(text).output
    assert isinstance(output, Selection)
    assert output.type is kind
    assert xpath(text).selects_nodes is (kind is None)


@pytest.mark.parametrize("function", ["count", "sum", "avg", "min", "max"])
def test_a_whole_aggregate_sums_up_nodes(function: str) -> None:
    query = xpath(f"{function}(//a[1])")
    assert isinstance(query.output, Selection)
    assert (query.output.aggregate, query.output.type) == (function, None)
    assert not query.selects_nodes


@pytest.mark.parametrize(
    ("context", "text", "expected"),
    [
        ("/r/a", "b", "(/child::r/child::a)[position() = 1]/child::b"),
        ("r", "b", "(/child::r)[position() = 1]/child::b"),
        ("/r/a", "/b", "/child::b"),
        ("//a[2]", ".", "(/descendant-or-self::node()/child::a[position() = 2])[position() = 1]"),
        ("/r", "name()", "name((/child::r)[position() = 1])"),
        ("/r", "string(..)", "string((/child::r)[position() = 1]/parent::node())"),
        ("/r", "b[.. = 1]", "(/child::r)[position() = 1]/child::b[parent::node() = 1]"),
        ("/r", "position()", "1"),
        ("/.", "b", "/child::b"),
    ],
)
def test_a_query_starts_at_the_first_node_of_its_context(
    context: str, text: str, expected: str
) -> None:
    assert expression(text, context=context) == expected


def test_a_query_from_the_document_node_is_twigs_where_it_can_be() -> None:
    assert xpath("b", context="/") == xpath("/b")


def test_paths_beside_the_result_start_at_it() -> None:
    query = xpath("//a", select={"id": "../@id", "all": "/r", "here": ".", "one": "b[1]"})
    assert isinstance(query.output, Selection)
    assert [(name, print_expression(nodes)) for name, nodes in query.output.beside] == [
        ("id", "parent::node()/attribute::id"),
        ("all", "/child::r"),
        ("here", "."),
        ("one", "child::b[position() = ?0]"),
    ]
