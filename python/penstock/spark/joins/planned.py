"""The rows of subscriptions in the native joins, as every process builds them anew."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable
from dataclasses import dataclass, replace

from penstock.errors import StateError
from penstock.joins import Subscribers
from penstock.kernel import BucketedState
from penstock.limits import Limits
from penstock.spark.joins.bindings import BoundSubscriptions

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Added:
    """A subscription as it is written down; its number is its place among all ever added."""

    number: int
    name: str
    program: str
    """In base 64."""
    version: int | None = None
    """The batch from which on it sees documents, if not the one that it is written down with."""
    variables: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()
    """The numbers of its variables and rows, where those before it are not written down."""


class Planned:
    """Joins whose records are divided into buckets, and their subscribers."""

    def __init__(self, limits: Limits, hash_bits: int) -> None:
        self.joins = BucketedState(limits, hash_bits=hash_bits)
        self.subscribers = Subscribers(self.joins, limits)
        self.bound = BoundSubscriptions(self.joins, limits)
        self.applied: tuple[tuple[int, str], ...] = ()
        self._ranks: list[Pair] = []
        self._sides: tuple[bytes, ...] = ()
        self._numbered: tuple[set[int], set[int]] = (set(), set())
        """Variables and rows that have numbers which were written down."""

    def add(self, number: int, version: int, name: str, program: bytes) -> None:
        """Add a subscription, which sees documents read under a version from this on.

        Raises:
            ValueError: The program is none of this version of Penstock.
        """
        lowered = self.bound.lower(number, name, program)
        self.subscribers.add(number, version, name, lowered)

    def remove(self, number: int) -> None:
        """Remove a subscription."""
        self.bound.remove(number)
        self.subscribers.remove(number)

    def settle(self) -> None:
        """Let all changes take effect, before documents are read."""
        self.subscribers.settle()
        sides = self.bound.sides
        if sides != self._sides:
            self.bound.bind_published(self.subscribers)
            self._sides = sides

    def take_over(
        self,
        batch: int,
        added: Iterable[Added],
        removed: Iterable[int],
        ranks: Iterable[Pair] = (),
    ) -> None:
        """Take over changes, without the ranks taking effect: what is joined is learnt from.

        Raises:
            StateError: Another version of Penstock wrote them.
        """
        self._ranks += ranks
        for number in removed:
            self.remove(number)
        for one in added:
            if one.rows:
                self._vacate_for(one)
            version = batch if one.version is None else one.version
            try:
                self.add(one.number, version, one.name, b64decode(one.program))
            except ValueError:
                message = "the state was made by another version of Penstock, whose programs this "
                message += "one cannot read; begin a new stream with a new folder"
                raise StateError("PJ0005", message) from None
        self.settle()

    def _vacate_for(self, one: Added) -> None:
        """Let the next subscription have the numbers that are written down with it."""
        vacant = []
        for numbers, known in zip((one.variables, one.rows), self._numbered, strict=True):
            new = [number for number in dict.fromkeys(numbers) if number not in known]
            known.update(new)
            vacant.append(new[::-1])
        self.joins.vacate(*vacant)

    def numbered(self, one: Added, version: int) -> Added:
        """Return a subscription with its version and its numbers."""
        variables, rows = self.joins.numbers_of(one.number)
        own = version if one.version is None else one.version
        return replace(one, version=own, variables=tuple(variables), rows=tuple(rows))

    @property
    def ranks(self) -> tuple[Pair, ...]:
        """The pairs of variables that have ranks, in their order."""
        return tuple(self._ranks)

    def pin(self) -> None:
        """Let the ranks take effect: which pairs of variables drive the search."""
        self.joins.pin(self._ranks)

    def new_ranks(self) -> tuple[Pair, ...]:
        """Return the pairs that have no ranks yet, the rarest by what was joined here first."""
        known = set(self._ranks)
        return tuple(pair for pair in self.joins.ranked() if pair not in known)
