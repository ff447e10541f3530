"""The attack on stream views finds what is wrong with them."""

import pytest

from penstock.routing.covering import Nodes
from penstock_testing.adversary.views import attack
from penstock_testing.adversary.views.attacking import HIT

COUNT = 4_096


def test_many_triples_are_hits() -> None:
    tally = attack(0, COUNT)
    assert not tally.failures
    assert tally.deviations[HIT] > COUNT / 20


def _absent_is_the_end(nodes: Nodes, view: int) -> int:
    return nodes._constant(0)


@pytest.mark.parametrize(
    ("method", "mutant"),
    [
        ("_beyond", _absent_is_the_end),
        ("_exists", lambda nodes, view: nodes._constant(1)),
        ("_negation", lambda nodes, part: part),
        (
            "_passes",
            lambda nodes, view, test, is_empty_if_absent=False: nodes._exists(view),
        ),
    ],
)
def test_a_mutant_is_caught(method: str, mutant: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Nodes, method, mutant)
    seeds = range(0, 40 * 512, 512)
    assert any(attack(seed, 512).failures for seed in seeds)
