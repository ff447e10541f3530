"""The normal form keeps results, promises its shape and is reached in one go."""

from random import Random

import pytest

from penstock.languages.xpath import xpath
from penstock.planning.normalise import normalise
from penstock.twigs import Axis, Query, Selection, Value
from penstock.twigs import expressions as x
from penstock.twigs.depth import roots_of
from penstock.twigs.nodetests import ANY_NODE
from penstock.twigs.parts import Part, all_parts, leaves
from penstock_testing.generate import NAMESPACES, ExpressionKnobs, random_expression
from tests.unit.planning.results import assert_random_results_kept, assert_results_kept, shapes


def inspect(part: Part) -> None:
    """Assert what the normal form promises of a part."""
    match part:
        case x.TwigNode(test=test, axis=Axis.DESCENDANT_OR_SELF, variable=None, where=where) if (
            test == ANY_NODE and where == x.TRUE
        ):
            assert [b.node.axis for b in part.branches] == [Axis.ATTRIBUTE]
        case x.AtRoot():
            raise AssertionError("absolute paths are conditions on the document node")
        case x.Not(part=inner):
            assert isinstance(inner, x.Exists | x.Compare | x.Call)
        case x.And(parts=parts) | x.Or(parts=parts):
            assert len(parts) > 1
            assert not any(isinstance(inner, type(part) | x.Constant) for inner in parts)
        case x.Compare() | x.Call() if x.type_of(part) is x.ValueType.BOOLEAN:
            assert not isinstance(part, x.Compare) or not isinstance(part.left, x.Slot)
            for leaf in leaves(part):
                assert not x.is_condition(leaf)
                if isinstance(leaf, x.StringOf | x.NameOf) and isinstance(leaf.nodes, x.TwigNode):
                    assert leaf.nodes.axis is not Axis.SELF


def random_queries(seed: int, count: int) -> list[Query]:
    """Return queries made up at random."""
    random = Random(seed)
    knobs = ExpressionKnobs(nesting_max=3, predicate=0.6, values=0.2)
    queries: list[Query] = []
    while len(queries) < count:
        query = normalise(xpath(random_expression(random, knobs), namespaces=NAMESPACES))
        if not isinstance(query.output, Selection):
            queries.append(query)
    return queries


QUERIES = random_queries(seed=30, count=400)


def test_results_are_kept() -> None:
    assert_random_results_kept(normalise, seed=9, pairs=300)
    assert_results_kept(
        normalise,
        "//a[not(/r) or b]/self::*//b[. = 1 or not(. = 'x')]",
        "/r[number(a = 'x') > 0 or /r/d]//a",
        "count(//a[//b = 1 or b] | //b//@k)",
    )


def test_the_normal_form_keeps_its_promises() -> None:
    for query in QUERIES:
        for part in all_parts(*roots_of(query)):
            inspect(part)


def test_slots_count_up_in_the_order_of_the_query() -> None:
    for query in QUERIES:
        slots = [part for part in all_parts(*roots_of(query)) if isinstance(part, x.Slot)]
        assert [slot.index for slot in slots] == list(range(len(query.constants)))


def test_a_normal_form_is_its_own_normal_form() -> None:
    for query in QUERIES:
        again = normalise(query)
        is_not_a_number = any(constant != constant for constant in query.constants)
        assert again == query or is_not_a_number
        assert shapes(again) == shapes(query)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("//a[b and c]", "/descendant-or-self::node()/child::a[child::c][b]"),
        ("//a[not(not(b))]", "//a[b]"),
        ("//a[not(b or c)]", "//a[not(c)][not(b)]"),
        ("//a/.", "//self::a"),
        ("//a[5 > b]", "//a[b < 5.0]"),
        ("//a[b = concat('x', 'y')]", "//a['xy' = b]"),
        ("//a | //b", "//b | //a | //a[true()]"),
        ("boolean(//a)", "not(not(//a))"),
        ("//a[contains(@b, 'x')]", "//a[@b[contains(., 'x')]]"),
        ("//a[string(@b) = 'x']", "//a[@b = 'x']"),
        ("//a[//b]", "/self::node()[//b]//a"),
    ],
)
def test_equal_questions_have_equal_normal_forms(left: str, right: str) -> None:
    assert normalise(xpath(left)) == normalise(xpath(right))


def test_a_normal_form_that_would_be_too_large_is_an_expression() -> None:
    query = normalise(xpath("string(//a[/b or c = 1 + 1])"))
    assert isinstance(query.output, Selection)
    assert query.constants == (2.0,)
    assert normalise(query) == query


def test_text_and_language_are_kept() -> None:
    query = normalise(xpath("//a[//b]"))
    assert (query.text, query.language) == ("//a[//b]", "xpath")


def test_a_constant_value_is_a_slot() -> None:
    query = normalise(xpath("1 + 1"))
    assert isinstance(query.output, Value)
    assert isinstance(query.output.atom, x.Slot)
    assert query.constants == (2.0,)
