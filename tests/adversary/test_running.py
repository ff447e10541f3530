"""A slice that crashes or hangs is named by its seed, and the others are run."""

from penstock_testing.adversary.running import SMALLEST_SLICE, run
from tests.adversary.deadly import CRASH, HANG


def test_a_crash_is_named_and_the_rest_is_run() -> None:
    tally = run("deadly", seed=128, count=512, package="tests.adversary")
    assert (tally.cases, tally.non_empty) == (512, 512 - SMALLEST_SLICE)
    (failure,) = tally.failures
    assert failure.kind == "panic"
    assert CRASH in range(failure.seed, failure.seed + SMALLEST_SLICE)


def test_a_case_that_never_ends_is_a_hang() -> None:
    tally = run("deadly", HANG, SMALLEST_SLICE, package="tests.adversary", hang_seconds=0)
    assert [(failure.kind, failure.seed) for failure in tally.failures] == [("hang", HANG)]
    assert tally.cases == SMALLEST_SLICE
