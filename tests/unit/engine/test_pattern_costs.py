"""Regular expressions in XQuery cost what they read, and can be stopped in the middle."""

import pytest

import penstock
from penstock import Limits, evaluate, xquery
from penstock.errors import LimitError

LIMITS = Limits(steps_max=200_000)
TEXT = f"<t>{'a' * 40_000}</t>"
AGAIN = "a[^b]*b|a"
"""Every match reads all of the text that is left."""


@pytest.mark.parametrize(
    "query",
    [
        f"string-length(replace(/t, '{AGAIN}', 'x'))",
        f"count(tokenize(/t, '{AGAIN}'))",
        "matches(/t, '[ab]*a[ab]{4000}c')",
        "string-length(replace(/t, '(a+)', '" + 2_000 * "$1" + "'))",
        "count(for $i in 1 to 3000 where contains(/t, string($i)) return $i)",
        "count(for $i in 1 to 100 where matches('a', concat('\\w{10}', $i)) return $i)",
    ],
)
def test_what_reads_its_text_again_and_again_passes_the_limit_on_steps(query: str) -> None:
    with pytest.raises(LimitError) as caught:
        evaluate(xquery(query), TEXT, limits=LIMITS)
    assert caught.value.code == "PL0014"


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("string-length(replace(/t, 'a(.)', '$1$1$1'))", 60_000),
        ("count(tokenize(/t, 'a'))", 40_001),
        ("string-length(replace(/t, '(\\w)(\\w)', '$2$1'))", 40_000),
        ("matches(/t, '^[a-z]+$')", True),
        ("contains(/t, 'b')", False),
    ],
)
def test_what_reads_its_text_once_stays_below(query: str, value: object) -> None:
    assert evaluate(xquery(query), TEXT, limits=LIMITS) == [value]


def test_a_long_text_allows_more_work_than_a_short_one() -> None:
    long = f"<t>{'ab ' * 500_000}</t>"
    swapped = xquery("string-length(replace(/t, '(\\w)(\\w)', '$2$1'))")
    assert evaluate(swapped, long, limits=LIMITS) == [1_500_000]


def test_the_subscription_that_costs_too_much_fails_alone() -> None:
    registry = penstock.Registry()
    registry.add("greedy", xquery(f"count(tokenize(/t, '{AGAIN}'))"))
    registry.add("modest", xquery("string-length(/t)"))
    rows = penstock.Engine(registry, LIMITS).run(TEXT)
    assert {(row.subscription, row.error.code if row.error else row.value) for row in rows} == {
        ("greedy", "PL0014"),
        ("modest", "40000"),
    }
