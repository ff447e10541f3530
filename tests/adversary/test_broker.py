"""The attack on the broker finds what is wrong."""

from __future__ import annotations

import pytest

from penstock_testing.adversary.broker import attack
from penstock_testing.adversary.broker.attack import COUNT, Answer

CASES = 10 * COUNT


def test_an_attack_finds_nothing() -> None:
    tally = attack(0, CASES)
    assert tally.failures == []
    assert tally.cases == CASES
    assert tally.non_empty > 0.25 * CASES


def test_a_wrong_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(texts: list[str], document: bytes) -> list[Answer]:
        return [None] * len(texts)

    monkeypatch.setitem(attack.__globals__, "ask", ask)
    tally = attack(0, COUNT)
    assert {failure.kind for failure in tally.failures} == {"wrong"}
