"""The reference evaluator and the engine agree with lxml and Saxon on random forward twigs."""

import pytest
from saxonche import PySaxonApiError

from penstock.errors import QueryError
from penstock.languages.xpath import xpath
from penstock_testing.generate import NAMESPACES, ExpressionKnobs
from penstock_testing.peers import Libxml2, Saxon, by_value, same, without_document
from penstock_testing.reference import evaluate
from penstock_testing.tree import parse
from tests.differential.pairs import (
    BATCH,
    EMPTY_SECTION,
    WITHOUT_DOCTYPE,
    batches,
    pairs,
)
from tests.engines import ENGINES, ask_reference, identical
from tests.volume import short

BEYOND = ExpressionKnobs(beyond=True)


def check_lxml(first: int) -> None:
    for expression, document in pairs(first, documents=WITHOUT_DOCTYPE):
        document = document.replace(EMPTY_SECTION, b"")
        tree = parse(document)
        answer = evaluate(xpath(expression, namespaces=NAMESPACES), tree)
        theirs = Libxml2(tree).ask(expression, NAMESPACES)
        assert same(without_document(answer), theirs), (
            expression,
            document.decode(),
            answer,
            theirs,
        )


def check_saxon(saxon: Saxon, first: int) -> None:
    for expression, document in pairs(first):
        found = evaluate(xpath(expression, namespaces=NAMESPACES), parse(document))
        answer = by_value(found) if isinstance(found, list) else found
        try:
            theirs = saxon.ask(expression, document, NAMESPACES)
        except PySaxonApiError:
            # Saxon refuses sums of what is no number, where XPath 1.0 says NaN.
            assert "sum(" in expression
            continue
        assert same(answer, theirs), (expression, document.decode(), answer, theirs)


def check_kernel(first: int) -> None:
    ask = ENGINES["kernel"]
    refused = 0
    for expression, document in pairs(first, BEYOND):
        expected = ask_reference(expression, document, NAMESPACES)
        try:
            found = ask(expression, document, NAMESPACES)
        except QueryError:
            refused += 1  # understood, but not evaluated
            continue
        assert identical(found, expected), (expression, document.decode(), found, expected)
    assert refused < BATCH / 10


@pytest.mark.parametrize("first", short(batches(2_000), 2))
def test_reference_and_lxml_agree(first: int) -> None:
    check_lxml(first)


@pytest.mark.parametrize("first", short(batches(1_000), 2))
def test_reference_and_saxon_agree(saxon: Saxon, first: int) -> None:
    check_saxon(saxon, first)


@pytest.mark.parametrize("first", short(batches(2_000), 2))
def test_kernel_and_reference_agree(first: int) -> None:
    check_kernel(first)


@pytest.mark.slow
def test_reference_and_peers_agree_on_many_pairs(saxon: Saxon) -> None:
    for first in range(1_000_000, 1_030_000, 250):
        check_lxml(first)
        check_saxon(saxon, first)


@pytest.mark.slow
def test_kernel_and_reference_agree_on_many_pairs() -> None:
    for first in range(1_000_000, 1_100_000, 250):
        check_kernel(first)
