"""The comparison with lxml finds an evaluator that errs in one small thing."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence

import pytest

from penstock.twigs import Axis, NodeTest
from penstock.twigs.expressions import Atom
from penstock_testing.generate.names import WORDS
from penstock_testing.reference import evaluation, expressions, functions
from penstock_testing.reference.expressions import Context, value_at
from penstock_testing.reference.paths import nodes_on, passes
from penstock_testing.reference.values import Atomic, compare
from penstock_testing.tree import Node
from tests.differential import test_whole
from tests.differential.pairs import batches
from tests.differential.test_peers import check_lxml


def compare_loosely(sign: str, left: Atomic, right: Atomic) -> bool:
    return compare(sign.replace("<=", "<"), left, right)


def words_are_false(function: str, arguments: list[Atomic]) -> Atomic:
    is_word = function == "boolean" and arguments[0] in WORDS
    return False if is_word else functions.call(function, arguments)


def any_namespace(test: NodeTest, node: Node) -> bool:
    return passes(NodeTest(test.kind, test.local), node)


def backwards(nodes: Iterable[Node]) -> list[Node]:
    return sorted(set(nodes), key=lambda node: -node.order)


def repeated(nodes: Iterable[Node]) -> list[Node]:
    return sorted(nodes, key=lambda node: node.order)


def always_forwards(axis: Axis, node: Node) -> list[Node]:
    return sorted(nodes_on(axis, node), key=lambda node: node.order)


def without_self(axis: Axis, node: Node) -> Iterable[Node]:
    shorter = {Axis.ANCESTOR_OR_SELF: Axis.ANCESTOR}
    return nodes_on(shorter.get(axis, axis), node)


def last_is_one_more(nodes: list[Node], predicates: Sequence[Atom], context: Context) -> list[Node]:
    for predicate in predicates:
        last = len(nodes) + 1
        numbered = enumerate(nodes, 1)
        nodes = [n for at, n in numbered if value_at(predicate, context.at(n, at, last))]
    return nodes


def count_from_zero(function: str, arguments: list[Atomic]) -> Atomic:
    if function == "substring":
        text, first, *rest = arguments
        arguments = [text, float(first) + 1, *rest]
    return functions.call(function, arguments)


@pytest.mark.parametrize(
    ("module", "name", "mutant"),
    [
        (expressions, "compare", compare_loosely),
        (expressions, "call", words_are_false),
        (expressions, "passes", any_namespace),
        (evaluation, "in_document_order", backwards),
        (expressions, "call", count_from_zero),
    ],
    ids=lambda value: getattr(value, "__name__", "").rpartition(".")[2],
)
def test_a_small_error_is_found(
    module: object, name: str, mutant: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, mutant)
    with pytest.raises(AssertionError):
        deque(map(check_lxml, batches(5_000)))


@pytest.mark.parametrize(
    ("name", "mutant"),
    [
        ("compare", compare_loosely),
        ("in_document_order", repeated),
        ("nodes_on", always_forwards),
        ("nodes_on", without_self),
        ("_kept", last_is_one_more),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_small_error_in_expressions_is_found(
    name: str, mutant: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expressions, name, mutant)
    with pytest.raises(AssertionError):
        deque(map(test_whole.check_lxml, batches(5_000)))
