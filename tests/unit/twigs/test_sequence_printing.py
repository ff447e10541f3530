"""The printed form of expressions over sequences, also of those that no text gives."""

import pytest

from penstock.twigs import Query
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import Axis, NodeKind, NodeTest
from penstock.twigs.printing import print_query
from penstock.twigs.sequence_printing import print_item, print_type

ONE = q.Atomic("integer", "1")
A = NodeTest(NodeKind.ELEMENT, "a", ("",))


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (q.Atomic("integer", "-1"), 'xs:integer("-1")'),
        (q.Atomic("decimal", "2"), "2.0"),
        (q.Atomic("double", "NaN"), 'xs:double("NaN")'),
        (q.Atomic("double", "1000"), "1000e0"),
        (q.Atomic("string", 'a"&\r'), '"a""&amp;&#xD;"'),
        (q.Atomic("date", "2024-01-01"), 'xs:date("2024-01-01")'),
        (q.Stream("x"), 'doc("x")'),
        (q.Stream("x", is_whole=True), 'stream("x")'),
        (q.Each(x.Here(), ONE), "./1"),
        (q.Each(x.Root(), q.Sequence((ONE, ONE))), "/(1, 1)"),
        (q.Sequence((q.Sequence((ONE, ONE)), ONE)), "(1, 1), 1"),
        (x.Step(x.Here(), Axis.ATTRIBUTE, A), "attribute::element(a)"),
        (
            x.Step(ONE, Axis.CHILD, NodeTest(NodeKind.ELEMENT, "a", ("u", "v*"))),
            "1/child::{u | v*}a",
        ),
        (x.Step(ONE, Axis.CHILD, NodeTest(NodeKind.ELEMENT, None, ("u",))), "1/child::{u}*"),
        (q.Signed("-", q.Arithmetic("+", ONE, ONE)), "-(1 + 1)"),
        (q.Characters("x"), '"x"'),
        (q.NewElement(q.Name("a", "u", "p"), (("p", "u"),)), '<p:a xmlns:p="u"/>'),
        (q.NewElement(q.Name("a"), (), (q.Characters(" \n"),)), "<a> &#xA;</a>"),
        (q.NewElement(q.Name("a"), (), (q.Characters("\t "),)), "<a>&#x9; </a>"),
    ],
)
def test_an_item_is_one_line(item: q.Item, text: str) -> None:
    assert print_item(item) == text


def test_a_type_of_documents_shows_their_element() -> None:
    document = NodeTest(NodeKind.DOCUMENT)
    kind = q.SequenceType(q.ItemType("node", document, A), "*")
    assert print_type(kind) == "document-node(element(a))*"


def test_a_query_is_its_settings_variables_functions_and_clauses() -> None:
    integer = q.SequenceType(q.ItemType("atomic", name="integer"))
    function = q.Function(q.Name("f", "u"), (q.Parameter("n", integer),), q.Variable("n"), integer)
    body = q.Flwor((q.For("i", ONE, "p"), q.Where(ONE)), q.OwnCall(0, (q.Variable("i"),)))
    output = q.Sequences(body, (function,), (q.Global("v", ONE, integer),), "false", "send")
    assert print_query(Query((), output)).splitlines() == [
        "(: untyped text that is no number compares as false :)",
        "(: empty messages: send :)",
        "declare variable $v as xs:integer := 1;",
        "declare function {u}f($n as xs:integer) as xs:integer { $n };",
        "for $i at $p in 1",
        "where 1",
        "return {u}f($i)",
    ]
