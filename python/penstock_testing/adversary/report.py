"""What an attack found: how many cases it tried, how many had an answer, which failed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from penstock.errors import DocumentError

SHOWN_MAX = 25
"""Failures that are printed, each with another first line."""
WORST_SHOWN = 8
"""Cases that are printed because they cost most."""

FailureKind = Literal["wrong", "panic", "hang", "error"]


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that failed: the seed that makes it again, and the shrunk case as text."""

    kind: FailureKind
    seed: int
    case: str


@dataclass(frozen=True, slots=True)
class Spent:
    """Time on the wall, which depends on how busy the machine is, and of cores, which does less."""

    seconds: float = 0.0
    core_seconds: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.seconds + other.seconds, self.core_seconds + other.core_seconds)

    def shared_by(self, count: int) -> Spent:
        """Return the part of each, where several share it."""
        return Spent(self.seconds / max(1, count), self.core_seconds / max(1, count))

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.seconds - other.seconds, self.core_seconds - other.core_seconds)


@dataclass(frozen=True, slots=True)
class Measure:
    """What a case cost; ``end`` says how it ended."""

    seed: int
    spent: Spent
    memory_bytes: int
    end: str


@dataclass(slots=True)
class Tally:
    """Counts of an attack.

    ``non_empty`` are the cases whose expected answer was not empty: an attack with few of them
    proves little. ``deviations`` counts the cases in which another engine gave a wrong answer of
    a known kind, by the name of that kind. ``measures`` are those of an attack on costs.
    """

    cases: int = 0
    non_empty: int = 0
    failures: list[Failure] = field(default_factory=list)
    deviations: Counter[str] = field(default_factory=Counter)
    measures: list[Measure] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add the counts of another part of the same attack."""
        self.cases += other.cases
        self.non_empty += other.non_empty
        self.failures += other.failures
        self.deviations += other.deviations
        self.measures += other.measures


def kind_of(error: BaseException) -> FailureKind:
    """Return which failure an error of the kernel is.

    Raises:
        BaseException: The error itself, if it is none of the kernel.
    """
    if isinstance(error, DocumentError):
        return "error"
    # A panic is no ordinary exception, and its class belongs to nobody.
    if type(error).__name__ == "PanicException":
        return "panic"
    raise error


def describe(name: str, tally: Tally, seconds: float) -> str:
    """Return the counts of an attack as text, with its failures."""
    kinds = Counter(failure.kind for failure in tally.failures)
    counted = ", ".join(f"{kinds[kind]} {kind}" for kind in ("wrong", "panic", "hang", "error"))
    lines = [
        f"{name}: {tally.cases:,} cases, {tally.non_empty:,} with a non-empty answer, "
        f"{counted}, {seconds:,.0f} s"
    ]
    lines += [f"  {count:,} times {what}" for what, count in sorted(tally.deviations.items())]
    lines += _describe_measures(tally.measures)
    distinct = {failure.case.partition("\n")[0]: failure for failure in tally.failures}
    for failure in list(distinct.values())[:SHOWN_MAX]:
        lines += [f"-- {failure.kind}, seed {failure.seed}", failure.case]
    if len(distinct) > SHOWN_MAX:
        lines.append(f"-- and {len(distinct) - SHOWN_MAX} more")
    return "\n".join(lines)


def _describe_measures(measures: list[Measure]) -> list[str]:
    """Return how long cases took, the most memory, and the worst cases."""
    if not measures:
        return []
    lines = []
    ends = {"with errors": True, "without": False}
    for what, is_error in ends.items():
        some = [measure.spent for measure in measures if bool(measure.end) == is_error]
        if some:
            lines += [
                f"  {len(some):,} {what}: core time {_quantiles([s.core_seconds for s in some])}; "
                f"on the wall {_quantiles([s.seconds for s in some])}"
            ]
    memory = max(measure.memory_bytes for measure in measures)
    lines.append(f"  at most {memory / 1e6:,.0f} MB resident")
    for what, worst in (
        ("slowest", sorted(measures, key=lambda m: -m.spent.core_seconds)[:WORST_SHOWN]),
        ("largest", sorted(measures, key=lambda m: -m.memory_bytes)[:WORST_SHOWN]),
    ):
        lines += [
            f"  {what}: seed {measure.seed}, {measure.spent.core_seconds:.2f} s, "
            f"{measure.memory_bytes / 1e6:,.0f} MB, {measure.end or 'no error'}"
            for measure in worst
        ]
    return lines


def _quantiles(numbers: list[float]) -> str:
    numbers = sorted(numbers)
    late = numbers[min(len(numbers) * 99 // 100, len(numbers) - 1)]
    return f"p50 {numbers[len(numbers) // 2]:.3f} s, p99 {late:.3f} s, max {numbers[-1]:.3f} s"
