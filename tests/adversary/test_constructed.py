"""The short form of the attack on constructed data: errors with codes, and bounded memory."""

import pytest

from penstock_testing.adversary.constructed.generators import LOOPS, MADE, write_case
from penstock_testing.adversary.report import describe
from penstock_testing.adversary.running import run as run_attack

SEED, COUNT = 100, 40


def test_an_attack_with_constructed_data_finds_nothing() -> None:
    tally = run_attack("constructed", SEED, COUNT)
    assert not tally.failures, describe("constructed", tally, 0)
    assert tally.cases == COUNT
    # What is all cheap, or all stopped, proves little.
    assert 0 < tally.deviations["no error"] < COUNT
    assert tally.non_empty == COUNT, "cheap subscriptions have their rows beside those that fail"


@pytest.mark.parametrize("kind", MADE)
def test_all_ways_to_make_values_come_about(kind: str) -> None:
    queries = [query for seed in range(400) for query, _ in write_case(seed).questions]
    for made in (*MADE[kind], *LOOPS):
        assert any(made.replace("$n", "1") in query or made in query for query in queries), made
