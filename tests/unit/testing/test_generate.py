"""Random documents and expressions: repeatable, readable, and with everything in them."""

from random import Random

import pytest

from penstock.languages.xpath import parse as parse_expression
from penstock.languages.xpath import xpath
from penstock.testing.generate import (
    NAMESPACES,
    ExpressionKnobs,
    random_document,
    random_expression,
)
from penstock.testing.tree import parse
from penstock.twigs import Aggregate, Fragments, NodeKind, Value

SEEDS = range(600)


def test_the_same_seed_gives_the_same_document_and_expression() -> None:
    assert random_document(Random(7)) == random_document(Random(7))
    assert random_expression(Random(7)) == random_expression(Random(7))


def test_documents_are_well_formed_and_have_nodes_of_every_kind() -> None:
    kinds = {node.kind for seed in SEEDS for node in parse(random_document(Random(seed))).nodes}
    assert kinds == set(NodeKind) - {NodeKind.ANY, NodeKind.NAMESPACE}


def test_expressions_are_queries_with_outputs_of_every_kind() -> None:
    outputs = {
        type(xpath(random_expression(Random(seed)), namespaces=NAMESPACES).output) for seed in SEEDS
    }
    assert outputs == {Fragments, Aggregate, Value}


@pytest.mark.parametrize(
    "part",
    ["//", "@", "*", "p:", "[", "not(", " and ", " or ", " | ", "text()", "comment()", "::",
     "contains(", "starts-with(", "string-length(", "normalize-space(", "concat(", "substring(",
     "translate(", "string(", "number(", "boolean(", "true()", "false()", "name(", "local-name(",
     "namespace-uri(", "count(", "sum(", "!=", "<=", ">="],
)  # fmt: skip
def test_expressions_contain(part: str) -> None:
    assert any(part in random_expression(Random(seed)) for seed in range(3_000))


@pytest.mark.parametrize("part", ["ancestor::", "following-sibling::", "last()", "position()"])
def test_wide_expressions_are_xpath_beyond_what_is_evaluated(part: str) -> None:
    wide = [random_expression(Random(seed), ExpressionKnobs(wide=True)) for seed in SEEDS]
    assert any(part in expression for expression in wide)
    for expression in wide:
        parse_expression(expression)
