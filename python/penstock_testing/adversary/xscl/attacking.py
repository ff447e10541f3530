"""Cases by their seeds: what brute force expects, what the engine gives, and where they differ."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from functools import lru_cache
from random import Random

from penstock_testing.adversary.report import Failure, FailureKind, Tally
from penstock_testing.adversary.xscl.answers import WAYS, answer
from penstock_testing.adversary.xscl.arrivals import random_arrivals
from penstock_testing.adversary.xscl.cases import Case
from penstock_testing.adversary.xscl.expectation import Row, expect
from penstock_testing.adversary.xscl.queries import random_queries
from penstock_testing.adversary.xscl.shrink import shrink
from penstock_testing.adversary.xscl.syntax import Query

RUNS_OF_QUERIES = 16
"""So many seeds in a row have the same subscriptions, because compiling them costs the most."""
TRIALS_MAX = 6
"""So many sets of subscriptions are tried for one that finds something."""
HANG_SECONDS = 20.0
"""On a core, however busy the machine is: a case takes some milliseconds."""
FAILURES_MAX = 20
"""An attack that finds so many failures ends."""


def attack(seed: int, count: int) -> Tally:
    """Return what ``count`` cases found, whose seeds are ``seed`` and those after it."""
    tally = Tally()
    for one in range(seed, seed + count):
        case = case_of(one)
        expected = expect(case)
        started = time.process_time()
        difference = differ(case, expected)
        tally.cases += 1
        tally.non_empty += _has_rows(expected)
        if difference is None and time.process_time() - started > HANG_SECONDS:
            difference = ("hang", f"took more than {HANG_SECONDS:g} seconds")
        if difference is not None:
            tally.failures.append(_failure(one, case, *difference))
            if len(tally.failures) >= FAILURES_MAX:
                break
    return tally


def _failure(seed: int, case: Case, kind: FailureKind, told: str) -> Failure:
    """Return a failure with a case that is as small as it can be."""
    smaller = shrink(case, lambda other: _kind_of(other) == kind)
    _, told = differ(smaller, expect(smaller)) or (kind, told)
    return Failure(kind, seed, f"{smaller.describe()}\n{told}")


def case_of(seed: int) -> Case:
    """Return the case of a seed."""
    random = Random(seed)
    queries = _queries_of(seed // RUNS_OF_QUERIES)
    return Case(
        queries,
        random_arrivals(random, queries),
        random.choice((None, None, None, 0.0, 1.0, 2.5)),
        random.choice((None, None, None, None, 4, 5)),
        random.choice(("shared", "shared", "shared", *WAYS)),
    )


@lru_cache(maxsize=4)
def _queries_of(number: int) -> tuple[Query, ...]:
    """Return the subscriptions of some cases; mostly such that find something."""
    random = Random(f"queries {number}")
    for _ in range(TRIALS_MAX):
        queries = random_queries(random)
        samples = (Case(queries, random_arrivals(random, queries)) for _ in range(3))
        if random.random() < 0.1 or any(map(_has_rows, map(expect, samples))):
            break
    return queries


def _has_rows(expected: Counter[Row]) -> bool:
    return any(row[0] == "row" for row in expected)


def _kind_of(case: Case) -> FailureKind | None:
    difference = differ(case, expect(case))
    return None if difference is None else difference[0]


def differ(case: Case, expected: Counter[Row]) -> tuple[FailureKind, str] | None:
    """Return how the engine differs from what is expected; None if it does not."""
    try:
        actual = Counter(answer(case))
    except Exception:
        return "error", traceback.format_exc()
    except KeyboardInterrupt:
        raise
    except BaseException:  # a panic of the kernel is no Exception
        return "panic", traceback.format_exc()
    if actual == expected:
        return None
    missing, extra = expected - actual, actual - expected
    lines = [f"missing: {row}" for row in missing.elements()]
    lines += [f"extra: {row}" for row in extra.elements()]
    return "wrong", "\n".join(lines)
