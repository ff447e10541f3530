"""The attack: each case in a process of its own, with little memory and little patience."""

from __future__ import annotations

import os
import pickle
import resource
import select
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from penstock_testing.adversary.costs.cases import Case
from penstock_testing.adversary.costs.generators import write_case
from penstock_testing.adversary.costs.runs import Outcome, try_case
from penstock_testing.adversary.report import Failure, FailureKind, Measure, Tally

ADDRESS_BYTES_MAX = 1 << 30
CORE_SECONDS_MAX = 120
"""A case takes some seconds at most, but it is run several times."""
PATIENCE_SECONDS = 1_500.0
"""A process that waits takes no core time, and a busy machine is slow."""
OUT_OF_TIME = f"no end after {CORE_SECONDS_MAX} s of core time"
MESSAGE_MAX = 2_000
COMPARED_EVERY = 3
"""One case of so many is run again with each subscription alone."""


def attack(seed: int, count: int) -> Tally:
    """Try the cases of so many seeds, and return what was found and measured."""
    return attack_with(write_case, try_case, seed, count)


Trial = Callable[[Case, bool], Outcome]
"""Runs a case, and compares each subscription alone if it should."""


def attack_with(write_case: Callable[[int], Case], try_case: Trial, seed: int, count: int) -> Tally:
    """Try the cases of so many seeds, each in a process of its own."""
    tally = Tally()
    for number in range(seed, seed + count):
        _try(write_case(number), try_case, number, tally)
    return tally


def _try(case: Case, try_case: Trial, seed: int, tally: Tally) -> None:
    tally.cases += 1
    ended = _in_process(case, try_case, seed)
    outcome = ended.outcome
    if not isinstance(outcome, Outcome):
        kind: FailureKind = "hang" if outcome in (None, OUT_OF_TIME) else "panic"
        reason = outcome or "no end"
        tally.failures.append(Failure(kind, seed, f"{reason}\n{case.describe()}"))
        return
    if outcome.wrong:
        described = f"{outcome.wrong}\n{case.describe()}"
        tally.failures.append(Failure("wrong", seed, described))
    tally.non_empty += outcome.row_count > 0
    for code in outcome.codes or ("no error",):
        tally.deviations[code] += 1
    if outcome.unfair:
        tally.deviations["failed together, not alone"] += 1
    tally.measures.append(Measure(seed, outcome.spent, ended.memory_bytes, "|".join(outcome.codes)))


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a process ended: with an outcome, with the reason why it has none, or not in time."""

    outcome: Outcome | str | None
    memory_bytes: int


def _in_process(case: Case, try_case: Trial, seed: int) -> _Ended:
    """Run a case in a fork of this process, which is small and has no threads."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _serve(case, try_case, seed, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        is_ready, _, _ = select.select([pipe], [], [], PATIENCE_SECONDS)
        if not is_ready:
            os.kill(child, signal.SIGKILL)
        written = pipe.read()
    _, status, usage = os.wait4(child, 0)
    memory_bytes = usage.ru_maxrss << 10
    if not is_ready:
        return _Ended(None, memory_bytes)
    if written:
        return _Ended(pickle.loads(written), memory_bytes)
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGXCPU:
        return _Ended(OUT_OF_TIME, memory_bytes)
    reason = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    return _Ended(f"the process died: {reason}", memory_bytes)


def _serve(case: Case, try_case: Trial, seed: int, writer: int) -> None:
    """Run a case and write its outcome; never return."""
    try:
        _limit_memory(ADDRESS_BYTES_MAX)
        resource.setrlimit(resource.RLIMIT_CPU, (CORE_SECONDS_MAX, resource.RLIM_INFINITY))
        outcome: Outcome | str = try_case(case, seed % COMPARED_EVERY == 0)
    except BaseException as error:  # a panic and a lack of memory are found here
        _limit_memory(resource.RLIM_INFINITY)
        last = traceback.format_exception(error, limit=-3)
        outcome = "".join(reversed(last))[:MESSAGE_MAX]
    os.write(writer, pickle.dumps(outcome))
    os._exit(0)


def _limit_memory(bytes_max: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (bytes_max, resource.RLIM_INFINITY))
