"""What only hand-built queries show of the reference evaluator."""

import math

import pytest

from penstock.twigs import (
    Aggregate,
    AtRoot,
    Axis,
    Block,
    Branch,
    Call,
    Exists,
    Fragments,
    NodeKind,
    NodeTest,
    Query,
    Slot,
    StringOf,
    TwigNode,
    Value,
    ValueType,
)
from penstock_testing.reference import Scope, aggregate, beside, evaluate, holds
from penstock_testing.tree import Node, parse
from tests.unit.testing.builders import block, child, descendant


def numbers(*texts: str) -> list[Node]:
    tree = parse("<r>" + "".join(f"<n>{text}</n>" for text in texts) + "</r>")
    return tree.root.children[0].children


def test_variables_beside_a_node_are_bound_below_it() -> None:
    item = descendant("item", Branch(child("name", to="n"), optional=True), to="i")
    query = Query((block(item),), Fragments("i", beside=("n",)))
    tree = parse("<r><item><name>x</name><name>y</name></item><item/></r>")
    assert [[n.string_value() for n in found["n"]] for _, found in beside(query, tree)] == [
        ["x", "y"],
        [],
    ]


def test_a_required_branch_must_match_and_an_optional_one_need_not() -> None:
    tree = parse("<r><a><b/></a><a/></r>")
    for optional, count in ((False, 1), (True, 2)):
        twig = descendant("a", Branch(child("b", to="b"), optional), to="y")
        found = evaluate(Query((block(twig),), Fragments("y")), tree)
        assert isinstance(found, list)
        assert len(found) == count


@pytest.mark.parametrize(
    ("function", "texts", "result"),
    [
        ("count", ("1", "x"), 2),
        ("sum", (), 0),
        ("sum", ("1", "2"), 3),
        ("sum", ("1", "x"), math.nan),
        ("avg", ("1", "2"), 1.5),
        ("avg", (), math.nan),
        ("min", ("3", "10"), 3),
        ("max", ("3", "10"), 10),
        ("max", ("3", "x"), math.nan),
    ],
)
def test_aggregates(function: str, texts: tuple[str, ...], result: float) -> None:
    assert aggregate(function, numbers(*texts)) == pytest.approx(result, nan_ok=True)


def test_an_aggregate_counts_what_a_union_binds_once() -> None:
    both = block(descendant("a", to="y")).alternatives + block(child("a", to="y")).alternatives
    query = Query((Block(both),), Aggregate("count", "y"))
    assert evaluate(query, parse("<a><a/></a>")) == 2.0


def test_a_value_is_computed_from_the_first_node_of_a_twig() -> None:
    length = Call("string-length", (StringOf(child("r")),))
    query = Query((block(),), Value(length, ValueType.NUMBER))
    assert evaluate(query, parse("<r>abc</r>")) == 3.0


def test_a_condition_at_the_root_ignores_the_node() -> None:
    tree = parse("<r><a/><z/></r>")
    condition = AtRoot(Exists(descendant("z")))
    assert holds(condition, tree.root.children[0].children[0], Scope(tree.root))


@pytest.mark.parametrize(("language", "truth"), [("en", True), ("en-gb", True), ("fr", False)])
def test_the_nearest_language_counts(language: str, truth: bool) -> None:
    tree = parse("<a xml:lang='fr'><b xml:lang='en-GB'><c/></b></a>")
    spoken = Call("lang", (Slot(0, ValueType.STRING),))
    node = next(n for n in tree.nodes if n.local == "c")
    assert holds(spoken, node, Scope(tree.root, (language,))) is truth


def test_elements_have_namespace_nodes_and_the_document_has_none() -> None:
    tree = parse("<a/>")
    twig = TwigNode(Axis.NAMESPACE, NodeTest(NodeKind.NAMESPACE))
    assert holds(Exists(twig), tree.root.children[0], Scope(tree.root))
    assert not holds(Exists(twig), tree.root, Scope(tree.root))
