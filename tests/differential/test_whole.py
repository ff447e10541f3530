"""Reference, engine, lxml and Saxon agree on random expressions of all of XPath 1.0.

Where lxml or Saxon deviate, they do it in the ways that docs/notes/differences.md lists.
"""

from __future__ import annotations

import pytest
from saxonche import PySaxonApiError

from penstock.languages.xpath import xpath
from penstock_testing.generate import NAMESPACES
from penstock_testing.peers import (
    Answer,
    Libxml2,
    Saxon,
    as_libxml2,
    by_value,
    same,
    saxon_refuses,
    without_document,
)
from penstock_testing.reference import evaluate
from penstock_testing.tree import parse
from tests.differential.pairs import BATCH, batches, whole_pairs
from tests.engines import ENGINES, ask_reference, identical
from tests.volume import short

NAMESPACE_QUERIES = (
    "//namespace::*",
    "//a/namespace::p | //b/namespace::node()",
    "//*[namespace::p]/@x",
    "count(//namespace::q) + count(//b/namespace::*)",
    "//namespace::q[. = 'urn:q']/..",
    "//a[namespace::* = //b/namespace::*]",
    "//*[name(namespace::p) = 'p'][not(namespace::q)]",
)


def check_lxml(first: int) -> None:
    deviations = 0
    for expression, document in whole_pairs(first):
        tree = parse(document)
        query = xpath(expression, namespaces=NAMESPACES)
        answer = without_document(evaluate(query, tree))
        theirs = Libxml2(tree).ask(expression, NAMESPACES)
        if not same(answer, theirs):
            deviations += 1
            with as_libxml2(tree):
                predicted = without_document(evaluate(query, tree))
            assert same(predicted, theirs), (expression, document.decode(), answer, theirs)
    assert deviations < BATCH / 50


def check_saxon(saxon: Saxon, first: int) -> None:
    refused = 0
    for expression, document in whole_pairs(first):
        found = evaluate(xpath(expression, namespaces=NAMESPACES), parse(document))
        answer = by_value(found) if isinstance(found, list) else found
        try:
            theirs = saxon.ask(expression, document, NAMESPACES)
        except PySaxonApiError as error:
            if not saxon_refuses(expression, str(error)):
                raise
            refused += 1
            continue
        assert same(answer, theirs), (expression, document.decode(), answer, theirs)
    assert refused < BATCH / 20


def check_kernel(first: int) -> None:
    for expression, document in whole_pairs(first):
        expected = ask_reference(expression, document, NAMESPACES)
        found = ENGINES["kernel"](expression, document, NAMESPACES)
        assert identical(found, expected), (expression, document.decode(), found, expected)


@pytest.mark.parametrize("first", short(batches(1_000), 2))
def test_reference_and_lxml_agree(first: int) -> None:
    check_lxml(first)


@pytest.mark.parametrize("first", short(batches(1_000), 2))
def test_reference_and_saxon_agree(saxon: Saxon, first: int) -> None:
    check_saxon(saxon, first)


@pytest.mark.parametrize("first", short(batches(1_000), 2))
def test_kernel_and_reference_agree(first: int) -> None:
    check_kernel(first)


@pytest.mark.parametrize("expression", NAMESPACE_QUERIES)
def test_all_agree_on_namespace_nodes_but_for_their_order(expression: str, saxon: Saxon) -> None:
    for _, document in whole_pairs(0, count=40):
        found = evaluate(xpath(expression, namespaces=NAMESPACES), tree := parse(document))
        theirs = Libxml2(tree).ask(expression, NAMESPACES)
        assert same(_in_any_order(found), _in_any_order(theirs)), document.decode()
        ours = by_value(found) if isinstance(found, list) else found
        theirs = saxon.ask(expression, document, NAMESPACES)
        assert same(_in_any_order(ours), _in_any_order(theirs)), document.decode()
        answers = [ask(expression, document, NAMESPACES) for ask in ENGINES.values()]
        assert identical(*answers), document.decode()


def _in_any_order(answer: Answer) -> Answer:
    return sorted(answer, key=repr) if isinstance(answer, list) else answer


@pytest.mark.slow
def test_reference_and_peers_agree_on_many_pairs(saxon: Saxon) -> None:
    for first in range(1_000_000, 1_020_000, BATCH):
        check_lxml(first)
        check_saxon(saxon, first)


@pytest.mark.slow
def test_kernel_and_reference_agree_on_many_pairs() -> None:
    for first in range(1_000_000, 1_050_000, BATCH):
        check_kernel(first)
