"""The comparison with lxml finds an evaluator that errs in one small thing."""

from collections import deque
from collections.abc import Callable, Iterable

import pytest

from penstock.testing.reference import conditions, evaluation, functions
from penstock.testing.reference.paths import passes
from penstock.testing.reference.values import Atomic, compare, to_boolean
from penstock.testing.tree import Node
from penstock.twigs import NodeTest
from tests.differential.pairs import batches
from tests.differential.test_peers import check_lxml


def compare_loosely(sign: str, left: Atomic, right: Atomic) -> bool:
    return compare(sign.replace("<=", "<"), left, right)


def zero_is_false(value: Atomic) -> bool:
    return to_boolean(value) and value != "0"


def any_namespace(test: NodeTest, node: Node) -> bool:
    return passes(NodeTest(test.kind, test.local), node)


def backwards(nodes: Iterable[Node]) -> list[Node]:
    return sorted(set(nodes), key=lambda node: -node.order)


def count_from_zero(function: str, arguments: list[Atomic]) -> Atomic:
    if function == "substring":
        text, first, *rest = arguments
        arguments = [text, float(first) + 1, *rest]
    return functions.call(function, arguments)


@pytest.mark.parametrize(
    ("module", "name", "mutant"),
    [
        (conditions, "compare", compare_loosely),
        (conditions, "to_boolean", zero_is_false),
        (conditions, "passes", any_namespace),
        (evaluation, "in_document_order", backwards),
        (conditions, "call", count_from_zero),
    ],
    ids=lambda value: getattr(value, "__name__", "").rpartition(".")[2],
)
def test_a_small_error_is_found(
    module: object, name: str, mutant: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, mutant)
    with pytest.raises(AssertionError):
        deque(map(check_lxml, batches(5_000)))
