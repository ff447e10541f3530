"""Random documents and expressions: repeatable, readable, and with everything in them."""

from random import Random

import pytest

from penstock.languages.xpath import xpath
from penstock.twigs import Aggregate, Fragments, NodeKind, Value
from penstock_testing.generate import (
    NAMESPACES,
    WholeKnobs,
    random_document,
    random_expression,
    random_xpath,
)
from penstock_testing.tree import parse

SEEDS = range(600)


def test_the_same_seed_gives_the_same_document_and_expression() -> None:
    assert random_document(Random(7)) == random_document(Random(7))
    assert random_expression(Random(7)) == random_expression(Random(7))


def test_documents_are_well_formed_and_have_nodes_of_every_kind() -> None:
    kinds = {node.kind for seed in SEEDS for node in parse(random_document(Random(seed))).nodes}
    assert kinds == set(NodeKind) - {NodeKind.ANY}


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


@pytest.mark.parametrize(
    "part",
    ["self::", "child::", "descendant::", "descendant-or-self::", "attribute::", "parent::",
     "ancestor::", "ancestor-or-self::", "following-sibling::", "preceding-sibling::",
     "following::", "preceding::", "namespace::", "last()", "position()", "mod 2", "[2]", ")[",
     ")/", "id(", "lang(", "count(", "sum(", "floor(", "ceiling(", "round(", "substring-before(",
     "substring-after(", " div ", " mod ", " * ", " + ", " - ", "-("],
)  # fmt: skip
def test_expressions_of_the_whole_language_contain(part: str) -> None:
    knobs = WholeKnobs(namespace_nodes=0.1)
    assert any(part in random_xpath(Random(seed), knobs) for seed in range(3_000))


def test_expressions_of_the_whole_language_are_queries() -> None:
    for seed in SEEDS:
        xpath(random_xpath(Random(seed)), namespaces=NAMESPACES)
