"""The attack: each case in a process of its own, with the bounds of the attack on costs."""

from __future__ import annotations

import resource

from penstock.engine import Engine
from penstock.limits import Limits
from penstock_testing.adversary.constructed.generators import write_case
from penstock_testing.adversary.costs.attack import attack_with
from penstock_testing.adversary.costs.cases import Case
from penstock_testing.adversary.costs.runs import Account, Clock, Outcome, run
from penstock_testing.adversary.report import Tally

MEMORY_BYTES_MAX = 64 << 20
"""Low, so that a process with too much of it is told from one that only read Python's modules."""
GROWTH_MAX = 4
"""A process grows by so many times of that at most: a value may be copied when it is too large
already, and the system's allocator keeps blocks."""


def attack(seed: int, count: int) -> Tally:
    """Try the cases of so many seeds, and return what was found and measured."""
    return attack_with(write_case, try_case, seed, count)


def try_case(case: Case, _compare: bool) -> Outcome:
    """Run a case, then a small document, then each subscription that did not fail alone."""
    limits = Limits(memory_bytes_max=MEMORY_BYTES_MAX)
    engine = Engine(case.registry(), limits)
    # A plan is frozen and adopted once, and what the way needs is imported once.
    run(engine, case.way, [case.good])
    before = _peak_bytes()
    clock = Clock()
    together = run(engine, case.way, case.documents)
    spent = clock.spent() - together.own
    grown = _peak_bytes() - before
    codes = tuple(sorted({code for _, code in together.failed}))
    rows = sum(count for count, _ in together.checksums.values())
    wrong, unfair = _judged(case, limits, together)
    if grown > GROWTH_MAX * MEMORY_BYTES_MAX:
        wrong = wrong or f"the process grew by {grown >> 20} MiB"
    return Outcome(spent, codes, rows, wrong, unfair)


def _judged(case: Case, limits: Limits, together: Account) -> tuple[str, int]:
    """Say what is wrong, and how many fail though they do not alone.

    A document that is read again without the one to blame has half the steps, so a second one that
    takes more than half of them fails beside the first one.
    """
    if not together.is_whole:
        return f"the document failed for all: {together.failed}", 0
    unfair = 0
    for number in range(len(case.questions)):
        name = f"q{number}"
        alone = run(Engine(case.registry_of(number), limits), case.way, case.documents)
        if name in together.names_failed:
            unfair += not alone.failed
        elif together.checksums[name] != alone.checksums[name]:
            return f"{name} gets {together.checksums[name]}, {alone.checksums[name]} alone", unfair
    if unfair == len(together.names_failed) and unfair:
        return f"all that fail do not alone: {together.failed}", unfair
    return "", unfair


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
