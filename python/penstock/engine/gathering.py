"""Subscriptions to several streams as sessions read them: what gathers their bindings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from threading import RLock

from penstock.errors import RegistryError
from penstock.kernel import Plan
from penstock.planning.bindings import BindingProgram
from penstock.planning.program import Request
from penstock.registry import AnyRegistry
from penstock.registry.plans.live import Branch
from penstock.registry.requests import requests_of
from penstock.registry.subscriptions import Snapshot, Subscription


@dataclass(frozen=True, slots=True)
class Bound:
    """A subscription to several streams; ``place`` tells it from others of its name."""

    place: int
    program: BindingProgram


@dataclass(frozen=True, slots=True)
class GatheringSnapshot(Snapshot):
    """A snapshot whose plan ends with what gathers bindings; it begins where the names end.

    Each side of a join is there once, whoever joins it.
    """

    sides: tuple[bytes, ...]
    bound: Mapping[str, Bound]
    joining: tuple[tuple[str, ...], ...]
    """For each side: the subscriptions that join it."""

    def unused_sides(self, without: Collection[str]) -> list[int]:
        """Return the numbers of the sides that are joined by these subscriptions alone."""
        first = len(self.names)
        joining = enumerate(self.joining, start=first)
        return [number for number, names in joining if all(name in without for name in names)]


def sides_of(program: BindingProgram) -> tuple[bytes, ...]:
    """Return the programs that gather the bindings of a subscription in an engine."""
    if program.outline is not None:
        return program.outline.sides
    return tuple([side.program for side in program.sides])


class GatheringRegistry(AnyRegistry):
    """A registry whose plan also gathers the bindings of subscriptions to several streams.

    It follows all changes of the one it is made of, and is the same where nobody asks for
    bindings. With ``is_served`` False such subscriptions are refused.
    """

    def __init__(self, registry: AnyRegistry, *, is_served: bool = True) -> None:
        self._registry = registry
        self._is_served = is_served
        self._lock = RLock()
        self._plain: Snapshot | None = None
        self._snapshot: Snapshot | None = None
        self._known: dict[str, tuple[bytes, Bound]] = {}

    @property
    def version(self) -> int:
        return self._registry.version

    def get(self, name: str) -> Subscription | None:
        return self._registry.get(name)

    def snapshot(self) -> Snapshot:
        with self._lock:
            plain = self._registry.snapshot()
            if plain is not self._plain or self._snapshot is None:
                self._snapshot = self._gathering(plain)
                self._plain = plain
            return self._snapshot

    compact = snapshot

    def branch(self) -> Branch:
        """Return the plan without bindings: a document that does not end gathers none."""
        return self._registry.branch()

    def __iter__(self) -> Iterator[Subscription]:
        return iter(self._registry)

    def __len__(self) -> int:
        return len(self._registry)

    def __contains__(self, name: object) -> bool:
        return name in self._registry

    def _gathering(self, plain: Snapshot) -> Snapshot:
        requested = requests_of(plain, Request.BINDINGS)
        if not requested:
            self._known = {}
            return plain
        if not self._is_served:
            name = next(iter(requested))
            message = (
                f"`{name}` joins streams, which an engine with schemas does not; leave them away"
            )
            raise RegistryError("PR0011", message)
        known = {}
        for name, (place, program) in requested.items():
            before = self._known.get(name)
            if before is not None and before[0] == program and before[1].place == place:
                known[name] = before
            else:
                known[name] = program, Bound(place, BindingProgram.read(program))
        self._known = known
        bound = {name: one for name, (_, one) in known.items()}
        sides: dict[bytes, dict[str, None]] = {}
        for name, one in bound.items():
            for side in sides_of(one.program):
                sides.setdefault(side, {})[name] = None
        plan = Plan.attached([(plain.plan, 0), (Plan.build([*sides]), len(plain.names))])
        joining = tuple(tuple(names) for names in sides.values())
        return GatheringSnapshot(plain.version, plain.names, plan, tuple(sides), bound, joining)
