"""Runs an attack slice by slice in worker processes, so that a hang or a crash ends one slice.

A slice that does not end in time, or whose process dies, is halved and tried again, until the
seed is found that does it.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic

from penstock_testing.adversary.report import Failure, FailureKind, Tally

ATTACKS = (
    "xpath",
    "xscl",
    "xquery",
    "broker",
    "documents",
    "costs",
    "costs_on_spark",
    "constructed",
    "stacks",
    "views",
    "schemas",
    "tables",
)
HANG_SECONDS = 300.0
"""A slice takes about a second; even a very busy machine does it in this time."""
LONG_SECONDS = {"costs": 3_600.0, "costs_on_spark": 3_600.0, "constructed": 3_600.0}
"""Those whose slices take longer, and end by themselves what takes too long."""
SLICE_CASES = {
    "xpath": 2_048,
    "xscl": 200,
    "xquery": 256,
    "broker": 400,
    "documents": 4_000,
    "costs": 2,
    "costs_on_spark": 10,
    "constructed": 4,
    "stacks": 4,
    "views": 2_048,
    "schemas": 64,
    "tables": 128,
}
SMALLEST_SLICE = 64

Slice = tuple[int, int]
"""Seed and number of cases."""


def run(
    name: str,
    seed: int,
    count: int,
    processes: int = 1,
    *,
    package: str = __package__,
    hang_seconds: float | None = None,
) -> Tally:
    """Return what an attack found in ``count`` cases, run in as many processes as wished.

    The attack is the function ``attack`` of the module ``name`` of a package.
    """
    size = SLICE_CASES.get(name, SMALLEST_SLICE)
    if hang_seconds is None:
        hang_seconds = LONG_SECONDS.get(name, HANG_SECONDS)
    module = f"{package}.{name}"
    waiting = deque(
        (first, min(size, seed + count - first)) for first in range(seed, seed + count, size)
    )
    tally = Tally()
    workers = [_Worker.start(module, hang_seconds) for _ in range(max(1, processes))]
    try:
        while waiting or any(worker.is_busy for worker in workers):
            for worker in workers:
                if not worker.is_busy and waiting:
                    worker.take(waiting.popleft())
            _await(workers)
            for place, worker in enumerate(workers):
                outcome = worker.outcome()
                if isinstance(outcome, Tally):
                    tenths = 10 * tally.cases // count
                    tally.add(outcome)
                    if 10 * tally.cases // count > tenths:
                        _show_progress(name, tally, count)
                elif outcome is not None:
                    _give_up(outcome, worker.slice, waiting, tally)
                    worker.stop()
                    workers[place] = _Worker.start(module, hang_seconds)
    finally:
        for worker in workers:
            worker.stop()
    return tally


def _await(workers: list[_Worker]) -> None:
    busy = [worker for worker in workers if worker.is_busy]
    left = min(worker.deadline for worker in busy) - monotonic()
    wait([worker.channel for worker in busy], max(0.0, left))


def _give_up(kind: FailureKind, slice_: Slice, waiting: deque[Slice], tally: Tally) -> None:
    seed, count = slice_
    if count <= SMALLEST_SLICE:
        tally.cases += count
        tally.failures.append(Failure(kind, seed, f"{count} cases from this seed on"))
        return
    half = max(SMALLEST_SLICE, count // 2 // SMALLEST_SLICE * SMALLEST_SLICE)
    waiting.extendleft([(seed + half, count - half), (seed, half)])


def _show_progress(name: str, tally: Tally, count: int) -> None:
    failed = len(tally.failures)
    print(f"{name}: {tally.cases:,} of {count:,}, {failed} failed", file=sys.stderr, flush=True)


@dataclass(slots=True)
class _Worker:
    """A process that attacks one slice after the other."""

    process: BaseProcess
    channel: Connection
    hang_seconds: float
    slice: Slice = (0, 0)
    is_busy: bool = False
    deadline: float = 0.0

    @classmethod
    def start(cls, module: str, hang_seconds: float) -> _Worker:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(module, theirs), daemon=True)
        process.start()
        theirs.close()
        return cls(process, ours, hang_seconds)

    def take(self, slice_: Slice) -> None:
        self.slice, self.is_busy = slice_, True
        self.deadline = monotonic() + self.hang_seconds
        self.channel.send(slice_)

    def outcome(self) -> Tally | FailureKind | None:
        """Return the tally of the slice, how the slice failed, or None while it goes on."""
        if not self.is_busy:
            return None
        if self.channel.poll():
            self.is_busy = False
            try:
                tally: Tally | Exception = self.channel.recv()
            except EOFError:
                return "panic"
            if isinstance(tally, Exception):
                raise tally  # the attack itself is broken
            return tally
        if monotonic() < self.deadline:
            return None
        self.is_busy = False
        return "hang"

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.channel.close()


def _serve(module: str, channel: Connection) -> None:
    attack: Callable[[int, int], Tally] = import_module(module).attack
    while True:
        try:
            seed, count = channel.recv()
        except EOFError:
            return
        try:
            channel.send(attack(seed, count))
        except Exception as error:
            error.add_note(f"in the cases from seed {seed} on")
            channel.send(error)
