"""The attack with schemas finds what is wrong."""

from collections.abc import Iterable

import pytest

from penstock.planning.schemas import watching
from penstock.schemas import Name, Schema
from penstock_testing.adversary.schemas import attack

COUNT = 24


def test_an_attack_finds_nothing() -> None:
    tally = attack(0, COUNT)
    assert tally.failures == []
    assert tally.cases == COUNT
    assert tally.non_empty > 0.9 * COUNT


def test_an_assumption_that_is_not_checked_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(schema: Schema, targets: Iterable[Name]) -> list[Name]:
        return []

    monkeypatch.setattr("penstock.engine.assumed.watched", nothing)
    assert watching.watched is not nothing
    failures = attack(0, COUNT).failures
    assert failures
    assert {one.case.partition(":")[0] for one in failures} == {"verify"}


def test_a_graph_that_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Schema, "_ways", lambda self, context, target, most: [(target,)])
    assert any(one.case.startswith("trust") for one in attack(0, 12).failures)
