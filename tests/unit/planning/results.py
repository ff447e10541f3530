"""What the tests of rewrites share: printed shapes, and results on documents before and after."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from penstock.languages.xpath import xpath
from penstock.planning.rewrites.constants import fold_constants
from penstock.twigs import Query, Selection, Slot, Value
from penstock.twigs.expression_printing import print_condition, print_expression, print_path
from penstock.twigs.expressions import is_condition
from penstock.twigs.queries import NoTwigError
from penstock_testing.generate import (
    NAMESPACES,
    ExpressionKnobs,
    random_document,
    random_expression,
    random_xpath,
)
from penstock_testing.reference import Atomic, evaluate
from penstock_testing.tree import Node, Tree, parse

Rewrite = Callable[[Query], Query]

_FIXED = [
    "<r/>",
    "<r><a>x</a><b k='1'>2</b><a k='x'><b><a>1</a></b></a></r>",
    "<a><a><b k='3'>x</b></a><c><a/><!--x--><?t x?></c>x<d><a>true</a></d></a>",
    "<r k='x'><b>1</b><b>x</b><d><c><a k='1'><b/></a></c></d></r>",
]


def documents() -> list[Tree]:
    """Return documents in which the expressions of these tests find something, and others."""
    random = Random(20)
    made_up = [random_document(random) for _ in range(12)]
    return [parse(source) for source in (*_FIXED, *made_up)]


DOCUMENTS = documents()


def found(query: Query, tree: Tree) -> list[Node] | Atomic | None:
    """Return the results of a query, NaN as None so that it equals itself."""
    result = evaluate(query, tree)
    return None if result != result else result


def assert_results_kept(rewrite: Rewrite, *expressions: str) -> None:
    """Check that a rewrite changes no result of any of the expressions on any document."""
    for expression in expressions:
        before = xpath(expression, namespaces=NAMESPACES)
        after = rewrite(before)
        for tree in DOCUMENTS:
            assert found(after, tree) == found(before, tree), (expression, tree.source)


def assert_random_results_kept(rewrite: Rewrite, seed: int, pairs: int = 150) -> None:
    """Check the same for expressions made up at random."""
    random = Random(seed)
    knobs = ExpressionKnobs(nesting_max=3, predicate=0.6, values=0.3, beyond=True)
    done = 0
    while done < pairs:
        expression = random_expression(random, knobs)
        try:
            before = xpath(expression, namespaces=NAMESPACES)
            after = rewrite(before)
        except NoTwigError:
            continue
        done += 1
        for tree in random.sample(DOCUMENTS, 3):
            assert found(after, tree) == found(before, tree), (expression, tree.source)


def assert_random_xpath_results_kept(rewrite: Rewrite, seed: int, pairs: int = 150) -> None:
    """Check the same for all of XPath 1.0."""
    random = Random(seed)
    for _ in range(pairs):
        expression = random_xpath(random)
        before = xpath(expression, namespaces=NAMESPACES)
        after = rewrite(before)
        for tree in random.sample(DOCUMENTS, 3):
            assert found(after, tree) == found(before, tree), (expression, tree.source)


def shapes(query: Query) -> list[str]:
    """Return the alternatives on one line each, or the value, constants in place."""

    def constant(slot: Slot) -> str:
        value = query.constants[slot.index]
        return f"{value:g}" if isinstance(value, float) else repr(value)

    if isinstance(query.output, Selection):
        return [print_expression(query.output.expression, constant)]
    if isinstance(query.output, Value):
        atom = query.output.atom
        return [(print_condition if is_condition(atom) else print_expression)(atom, constant)]
    return [
        print_path(root, constant).removeprefix("self::document()")
        for root in query.blocks[0].alternatives
    ]


def rewritten(rewrite: Rewrite, expression: str) -> list[str]:
    """Return the shapes of an expression after a rewrite, dead alternatives dropped."""
    return shapes(fold_constants(rewrite(xpath(expression, namespaces=NAMESPACES))))
