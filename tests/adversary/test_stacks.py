"""The short form of the attack on the stack: what a thread has of it does not matter."""

import threading

import pytest

from penstock import Engine, Registry, xquery
from penstock_testing.adversary.report import describe
from penstock_testing.adversary.running import run as run_attack
from penstock_testing.adversary.stacks.attack import PROCESSES_EVERY
from penstock_testing.adversary.stacks.generators import FUNCTIONS, NESTED, write_case

COUNT = 2 * PROCESSES_EVERY
COPY = (
    "declare function local:c($n) { if ($n/*) then <c>{for $x in $n/node() return local:c($x)}</c> "
    "else $n }; count(local:c(/a)/descendant-or-self::*)"
)


def test_an_attack_on_the_stack_finds_nothing() -> None:
    tally = run_attack("stacks", 0, COUNT)
    assert not tally.failures, describe("stacks", tally, 0)
    assert tally.cases == COUNT
    assert tally.non_empty > COUNT / 2
    assert 0 < tally.deviations["PL0021"] < COUNT


def test_all_ways_to_nest_come_about() -> None:
    queries = [query for seed in range(300) for query, _ in write_case(seed).questions]
    for function in FUNCTIONS:
        assert any(function.partition("DEPTH")[0] in query for query in queries), function
    for nested in NESTED:
        assert any(query.endswith(nested(3)) for query in queries), nested


@pytest.mark.parametrize("kib", [64, 1_024, 8_192])
@pytest.mark.parametrize(("depth", "expected"), [(999, "999"), (1_001, "PL0021")])
def test_recursion_max_decides_whatever_the_stack(kib: int, depth: int, expected: str) -> None:
    registry = Registry()
    registry.add("copy", xquery(COPY))
    ended: list[str] = []

    def work() -> None:
        for row in Engine(registry).run("<a>" * depth + "</a>" * depth):
            ended.append(row.error.code if row.error else str(row.value))

    before = threading.stack_size(kib << 10)
    thread = threading.Thread(target=work)
    thread.start()
    threading.stack_size(before)
    thread.join()
    assert ended == [expected]
