"""Results depend on the document and the query, and on nothing else."""

from hypothesis import given

from penstock.languages.xpath import xpath
from penstock_testing.generate import NAMESPACES, ExpressionKnobs
from penstock_testing.reference import evaluate
from penstock_testing.tree import parse
from tests.property.strategies import documents, expressions

NODES = ExpressionKnobs(values=0)


@given(expressions(NODES), documents())
def test_results_are_distinct_and_in_document_order(expression: str, document: bytes) -> None:
    found = evaluate(xpath(expression, namespaces=NAMESPACES), parse(document))
    assert isinstance(found, list)
    orders = [node.order for node in found]
    assert orders == sorted(set(orders))


@given(expressions(NODES), documents())
def test_a_count_is_the_number_of_results(expression: str, document: bytes) -> None:
    tree = parse(document)
    found = evaluate(xpath(expression, namespaces=NAMESPACES), tree)
    assert isinstance(found, list)
    assert evaluate(xpath(f"count({expression})", namespaces=NAMESPACES), tree) == len(found)


@given(expressions(NODES), expressions(NODES), documents())
def test_a_union_has_the_results_of_both_parts(one: str, other: str, document: bytes) -> None:
    tree = parse(document)
    union, left, right = (
        evaluate(xpath(text, namespaces=NAMESPACES), tree)
        for text in (f"{one} | {other}", one, other)
    )
    assert isinstance(union, list)
    assert isinstance(left, list)
    assert isinstance(right, list)
    assert set(union) == {*left, *right}
