"""The attack with XQuery finds what is wrong, and shrinks it."""

from __future__ import annotations

import pytest

from penstock_testing.adversary.xquery import asking, attack
from penstock_testing.adversary.xquery.asking import Failed, difference
from penstock_testing.sequences.describing import Described

COUNT = 128


def test_an_attack_finds_nothing() -> None:
    tally = attack(0, COUNT)
    assert tally.failures == []
    assert tally.cases == COUNT
    assert tally.non_empty > 0.8 * COUNT


def test_a_seed_makes_the_same_case_again() -> None:
    assert attack(7, 3) == attack(7, 3)


def test_a_wrong_answer_is_found_and_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    right = asking.describe

    def only_the_first(items: asking.Items) -> list[Described]:
        return right(items)[:1]

    monkeypatch.setattr(asking, "describe", only_the_first)
    monkeypatch.setattr(asking, "as_values", lambda described, items: described)
    tally = attack(0, 24)
    assert tally.failures
    assert {failure.kind for failure in tally.failures} == {"wrong"}
    shortest = min((failure.case for failure in tally.failures), key=len)
    query, document, *_ = shortest.split("\n")
    assert len(query) < 40
    assert document.count("<") <= 4


def test_errors_differ_in_the_ways_that_processors_are_free_in() -> None:
    failed, items = Failed("FORG0001", "x"), [("", "integer", "1")]
    assert difference(failed, Failed("FORG0006", "y")) is None
    assert difference(items, list(items)) is None
    assert difference(items, []) == "wrong"
    assert difference(failed, items) == "no error where the reference has one"
    assert difference(items, failed) == "an error where the reference has none"
