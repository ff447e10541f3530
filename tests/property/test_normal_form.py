"""The normal form asks the same question, and its answers come no later and hold no more."""

import pytest

from penstock.errors import QueryError
from penstock.languages.xpath import xpath
from penstock.planning.normalise import normalise
from penstock.twigs import Fragments
from penstock_testing.generate import NAMESPACES
from penstock_testing.kleene import steps
from penstock_testing.peers import same
from penstock_testing.reference import evaluate
from penstock_testing.tree import parse
from tests.differential.pairs import pairs
from tests.property.probes import examine, ideal_trace


def check(first: int, count: int) -> None:
    for expression, document in pairs(first, count=count):
        query = xpath(expression, namespaces=NAMESPACES)
        try:
            normal = normalise(query)
        except QueryError:
            continue  # too large in normal form
        tree = parse(document)
        if isinstance(query.output, Fragments):
            findings = examine(ideal_trace(steps(normal, tree), tree), steps(query, tree), tree)
            assert findings.is_clean, (expression, document.decode(), findings)
        else:
            before, after = evaluate(query, tree), evaluate(normal, tree)
            assert not isinstance(before, list)
            assert not isinstance(after, list)
            assert same(before, after), (expression, document.decode(), before, after)


def test_the_normal_form_changes_no_result_and_delays_none() -> None:
    check(0, 500)


@pytest.mark.slow
def test_the_normal_form_changes_no_result_and_delays_none_on_many_pairs() -> None:
    check(1_000_000, 20_000)
