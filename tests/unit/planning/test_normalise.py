"""The normal form keeps results, promises its shape and is reached in one go."""

from random import Random

import pytest

from penstock.languages.xpath import xpath
from penstock.planning.normalise import normalise
from penstock.planning.traversal import Traversal
from penstock.testing.generate import NAMESPACES, ExpressionKnobs, random_expression
from penstock.twigs import (
    And,
    AtRoot,
    Axis,
    BooleanOf,
    Call,
    Compare,
    Condition,
    Constant,
    Exists,
    Holds,
    NameOf,
    NodeKind,
    NodeTest,
    Not,
    Or,
    Query,
    Scalar,
    Selection,
    Slot,
    StringOf,
    TwigNode,
    Value,
)
from tests.unit.planning.results import assert_random_results_kept, assert_results_kept, shapes


class Inspection(Traversal):
    """Asserts what the normal form promises."""

    def leave_twig(self, node: TwigNode) -> TwigNode:
        is_open = node.test == NodeTest(NodeKind.ANY) and node.variable is None
        if is_open and node.axis is Axis.DESCENDANT_OR_SELF and node.where == Constant(True):
            assert [b.node.axis for b in node.branches] == [Axis.ATTRIBUTE]
        return node

    def leave_condition(self, condition: Condition) -> Condition:
        assert not isinstance(condition, AtRoot)
        match condition:
            case Not(part=part):
                assert isinstance(part, Exists | Compare | Holds)
            case And(parts=parts) | Or(parts=parts):
                assert len(parts) > 1
                assert not any(isinstance(part, type(condition) | Constant) for part in parts)
            case Compare(left=left):
                assert not isinstance(left, Slot)
        return condition


class InspectionOfValues(Traversal):
    """Asserts what the normal form promises about the values that conditions compare."""

    def leave_condition(self, condition: Condition) -> Condition:
        if isinstance(condition, Compare):
            for side in (condition.left, condition.right):
                self.inspect(side)
        if isinstance(condition, Holds):
            self.inspect(condition.scalar)
        return condition

    def inspect(self, scalar: Scalar) -> None:
        """Look at a scalar and at the arguments of its calls."""
        assert not isinstance(scalar, BooleanOf)
        if isinstance(scalar, Call):
            for argument in scalar.arguments:
                self.inspect(argument)
        if isinstance(scalar, StringOf | NameOf) and scalar.node is not None:
            assert scalar.node.axis is not Axis.SELF


class Counting(Traversal):
    """Counts the slots."""

    def __init__(self) -> None:
        self.indexes: list[int] = []

    def leave_scalar(self, scalar: Scalar) -> Scalar:
        if isinstance(scalar, Slot):
            self.indexes.append(scalar.index)
        return scalar


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
        Inspection().query(query)
        InspectionOfValues().query(query)


def test_slots_count_up_in_the_order_of_the_query() -> None:
    for query in QUERIES:
        counting = Counting()
        counting.query(query)
        assert counting.indexes == list(range(len(query.constants)))


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
    assert isinstance(query.output.scalar, Slot)
    assert query.constants == (2.0,)
