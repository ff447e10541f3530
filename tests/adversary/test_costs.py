"""The short form of the attack on costs: every pair ends within bounds, and harms nobody."""

import pytest

from penstock.engine import Engine
from penstock_testing.adversary.costs.cases import WAYS, Case
from penstock_testing.adversary.costs.documents import GOOD, SHAPES
from penstock_testing.adversary.costs.generators import write_case
from penstock_testing.adversary.costs.runs import run
from penstock_testing.adversary.report import describe
from penstock_testing.adversary.running import run as run_attack

SEED, COUNT = 5_030, 20
SLOW = (7, 21, 32, 47, 72, 186)
"""Seeds that took several seconds: readings again, pairs, scopes, tries, memory of bundles."""


def test_an_attack_on_costs_finds_nothing() -> None:
    tally = run_attack("costs", SEED, COUNT)
    assert not tally.failures, describe("costs", tally, 0)
    assert tally.cases == COUNT
    assert tally.non_empty > COUNT / 3
    # Pairs that are all cheap, or all stopped, prove little.
    assert 0 < tally.deviations["no error"] < COUNT


@pytest.mark.parametrize("seed", SLOW)
def test_a_pair_that_once_took_long_ends_within_bounds(seed: int) -> None:
    tally = run_attack("costs", seed, 1)
    assert not tally.failures, describe("costs", tally, 0)
    assert tally.measures[0].end, "it is stopped"


def test_all_ways_and_shapes_come_about() -> None:
    cases = [write_case(seed) for seed in range(SEED, SEED + 10 * COUNT)]
    assert {case.way for case in cases} == set(WAYS)
    assert {case.kind.rpartition(" ")[2] for case in cases} >= {shape.__name__ for shape in SHAPES}


@pytest.mark.parametrize("way", WAYS)
def test_ways_give_the_same_rows(way: str) -> None:
    case = Case("", (("//*[. = preceding::*]", "query"),), (GOOD,), GOOD, "run")
    rows = run(Engine(case.registry()), way, [GOOD])  # type: ignore[arg-type]
    expected = run(Engine(case.registry()), "run", [GOOD])
    assert not rows.failed
    assert rows.checksums["q0"][0] == expected.checksums["q0"][0] > 0
