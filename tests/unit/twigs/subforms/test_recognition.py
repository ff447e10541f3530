"""What is recognised as a twig says the same as the expression that it was recognised in."""

from random import Random

import pytest

from penstock.languages.xpath import xpath
from penstock.twigs import FALSE, Axis, NodeKind, NodeTest, Selection
from penstock.twigs import expressions as x
from penstock.twigs.expression_printing import print_condition
from penstock.twigs.parts import all_parts
from penstock.twigs.queries import NoTwigError, as_expression
from penstock.twigs.slots import SlotTable
from penstock.twigs.subforms import as_condition
from penstock_testing.generate import NAMESPACES, ExpressionKnobs, random_expression, random_xpath
from penstock_testing.reference import Scope, holds
from tests.unit.planning.results import DOCUMENTS, found

ELEMENTS = frozenset({NodeKind.ELEMENT})


def selected(text: str) -> x.Step:
    """Return the last step of a path, as an expression."""
    output = as_expression(xpath(text, namespaces=NAMESPACES)).output
    assert isinstance(output, Selection)
    assert isinstance(output.expression, x.Step)
    return output.expression


def test_a_twig_and_its_expression_find_the_same() -> None:
    random = Random(11)
    knobs = ExpressionKnobs(nesting_max=3, predicate=0.6, values=0.3, beyond=True)
    twigs = 0
    for _ in range(400):
        text = random_expression(random, knobs) if random.random() < 0.7 else random_xpath(random)
        query = xpath(text, namespaces=NAMESPACES)
        if isinstance(query.output, Selection):
            continue
        twigs += 1
        general = as_expression(query)
        for tree in random.sample(DOCUMENTS, 3):
            assert found(query, tree) == found(general, tree), (text, tree.source)
    assert twigs > 200


def test_a_condition_of_a_twig_holds_where_the_truth_value_does() -> None:
    random = Random(12)
    conditions = 0
    while conditions < 100:
        path = random_expression(random, ExpressionKnobs(values=0, predicate=0.9, union=0))
        general = as_expression(xpath(path, namespaces=NAMESPACES))
        for step in all_parts(general.output.expression):  # type: ignore[union-attr]
            if not isinstance(step, x.Step) or step.test.kind is not NodeKind.ELEMENT:
                continue
            for truth in step.predicates:
                slots = SlotTable(general.constants)
                condition = as_condition(truth, ELEMENTS, slots)
                conditions += 1
                for tree in random.sample(DOCUMENTS, 3):
                    scope = Scope(tree.root, tuple(slots.values))
                    for node in tree.nodes:
                        if node.kind is NodeKind.ELEMENT:
                            expected = holds(truth, node, scope)
                            assert holds(condition, node, scope) is expected, (path, truth)


def test_the_kinds_of_the_context_decide_what_can_be() -> None:
    (truth,) = selected("/a[@b]").predicates
    assert print_condition(as_condition(truth, ELEMENTS, SlotTable())) == "attribute::b"
    assert as_condition(truth, frozenset({NodeKind.TEXT}), SlotTable()) == FALSE


@pytest.mark.parametrize(
    "truth",
    [
        x.Compare("=", x.Position(), x.Last()),
        x.Exists(x.Step(x.Here(), Axis.PARENT, NodeTest(NodeKind.ANY))),
        x.Exists(x.Identified(x.StringOf())),
        x.Call("contains", (x.StringOf(), x.Call("string", (x.Count(x.Here()),)))),
        x.SomeCompare("=", x.Step(x.Here(), Axis.CHILD, NodeTest(NodeKind.TEXT)), x.StringOf()),
    ],
)
def test_what_a_tree_pattern_cannot_say_is_no_condition_of_a_twig(truth: x.Atom) -> None:
    with pytest.raises(NoTwigError):
        as_condition(truth, ELEMENTS, SlotTable())
