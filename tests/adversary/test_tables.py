"""The attack with tables finds what is wrong."""

from __future__ import annotations

import pytest

from penstock_testing.adversary.tables import attack

COUNT = 300


def test_an_attack_finds_nothing() -> None:
    tally = attack(0, COUNT)
    assert tally.failures == []
    assert tally.cases == 3 * COUNT
    assert tally.non_empty > tally.cases / 4


def test_a_seed_makes_the_same_case_again() -> None:
    assert attack(7, 3) == attack(7, 3)


def test_a_wrong_row_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from penstock_testing.adversary.tables import oracle

    monkeypatch.setattr(oracle, "typed", lambda type_, value: str(value))
    assert {failure.kind for failure in attack(0, 20).failures} == {"wrong"}
