"""The attack: each case in a small thread, or in a process whose stack is small."""

from __future__ import annotations

import subprocess
import sys
import threading
from random import Random

from penstock.engine import Engine
from penstock.errors import QueryError
from penstock_testing.adversary.costs.attack import attack_with
from penstock_testing.adversary.costs.cases import Case
from penstock_testing.adversary.costs.runs import Account, Outcome, run
from penstock_testing.adversary.report import Failure, Spent, Tally
from penstock_testing.adversary.stacks.generators import write_case

THREAD_KIB = (64, 96, 128, 256, 512, 1_024, 2_048, 3_072)
LARGE_KIB = 64 << 10
"""The stack of the thread whose rows are right."""
PROCESS_KIB = (512, 1_024, 2_048)
PROCESSES_EVERY = 16
"""One case of so many has a process of its own, whose first thread has a small stack."""
PROCESS_SECONDS = 600


def attack(seed: int, count: int) -> Tally:
    """Try the cases of so many seeds, and return what was found."""
    tally = attack_with(write_case, try_case, seed, count)
    for number in range(seed, seed + count):
        if number % PROCESSES_EVERY == 0:
            _in_small_process(number, tally)
    return tally


def try_case(case: Case, _compare: bool) -> Outcome:
    """Compare what a case gives in a small thread with what it gives in a large one."""
    random = Random(case.describe())
    expected, ours = (in_thread(case, kib) for kib in (LARGE_KIB, random.choice(THREAD_KIB)))
    codes = tuple(sorted({code for _, code in ours.failed}))
    rows = sum(count for count, _ in ours.checksums.values())
    wrong = ""
    if (ours.failed, ours.checksums) != (expected.failed, expected.checksums):
        wrong = f"{ours.failed} {dict(ours.checksums)}, not {expected.failed} {expected.checksums}"
    return Outcome(Spent(), codes, rows, wrong)


def in_thread(case: Case, kib: int) -> Account:
    """Return what a case gives in a thread with so much of the stack."""
    ended: list[Account | BaseException] = []

    def work() -> None:
        try:
            ended.append(answered(case))
        except BaseException as error:
            ended.append(error)

    before = threading.stack_size(kib << 10)
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    if isinstance(ended[0], BaseException):
        raise ended[0]
    return ended[0]


def answered(case: Case) -> Account:
    """Return what a case gives; a query that is not accepted gives its error."""
    try:
        registry = case.registry()
    except QueryError as error:
        return Account(failed=[(None, error.code)])
    return run(Engine(registry), case.way, case.documents)


def _in_small_process(seed: int, tally: Tally) -> None:
    """Run a case in the first thread of a process, and compare."""
    kib = Random(seed).choice(PROCESS_KIB)
    code = f"from {__name__} import answered, write_case; answered(write_case({seed}))"
    command = ["sh", "-c", f'ulimit -s {kib}; exec "$@"', "sh", sys.executable, "-c", code]
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=PROCESS_SECONDS, check=False
    )
    if ended.returncode:
        reason = f"with {kib} KiB: exit code {ended.returncode}\n{ended.stderr[-1_000:]}"
        failure = Failure("panic", seed, f"{reason}\n{write_case(seed).describe()}")
        tally.failures.append(failure)
