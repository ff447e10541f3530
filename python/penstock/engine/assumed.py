"""Subscriptions as they are evaluated over documents that fit a schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from threading import RLock

from penstock.kernel import Plan
from penstock.planning.programs import compile_program
from penstock.planning.schemas.programs import compile_for, is_joined, rewrite_blocks
from penstock.planning.schemas.watching import watch, watched
from penstock.registry import AnyRegistry, MemoryRegistry, Snapshot
from penstock.registry.plans.live import LivePlan
from penstock.registry.subscriptions import Subscription
from penstock.schemas import Name, Schema

Compile = Callable[[Subscription], tuple[bytes | None, frozenset[Name]]]
"""What makes the program of a subscription, and says what it relies on; None: it stays."""


class AssumingRegistry(AnyRegistry):
    """A registry with other programs: it follows all changes of the one it is made of.

    A change costs one look at every subscription, and the compilation of those that changed. In
    the mode ``verify`` the plan ends with programs that match documents which break what the
    others rely on; their numbers begin where the names end. ``schema`` is that of all documents.
    """

    def __init__(
        self, registry: AnyRegistry, compile_one: Compile, schema: Schema | None = None
    ) -> None:
        self._registry = registry
        self._compile = compile_one
        self.schema = schema
        self._lock = RLock()
        self._mirror = MemoryRegistry()
        self._known: dict[str, tuple[bytes, frozenset[Name]]] = {}
        self._version = -1
        self._mirrored: Snapshot | None = None
        self._snapshot: Snapshot | None = None
        self.watched: list[Name] = []
        """The elements whose places are checked."""
        self._watching = Plan.build([])
        self.changed: set[str] = set()
        """The subscriptions that are evaluated otherwise than without the schema."""

    @property
    def version(self) -> int:
        return self._registry.version

    def get(self, name: str) -> Subscription | None:
        return self._registry.get(name)

    def snapshot(self) -> Snapshot:
        with self._lock:
            version = self._registry.version
            if version != self._version:
                self._follow()
                self._version = version
            mirrored = self._mirror.snapshot()
            if mirrored is not self._mirrored or self._snapshot is None:
                self._mirrored = mirrored
                parts = [(mirrored.plan, 0), (self._watching, len(mirrored.names))]
                plan = Plan.attached(parts) if self.watched else mirrored.plan
                self._snapshot = Snapshot(version, mirrored.names, plan)
            return self._snapshot

    compact = snapshot

    def branch(self) -> LivePlan:
        """Return the plan without the schema: a document that does not end is not checked."""
        return self._registry.branch()

    def __iter__(self) -> Iterator[Subscription]:
        return iter(self._registry)

    def __len__(self) -> int:
        return len(self._registry)

    def __contains__(self, name: object) -> bool:
        return name in self._registry

    def _follow(self) -> None:
        """Take over what has changed."""
        gone = {*self._known}
        with self._mirror.changes():
            for one in self._registry:
                gone.discard(one.name)
                known = self._known.get(one.name)
                if known is None or known[0] != one.program:
                    self._take_over(one, is_new=known is None)
            for name in gone:
                self._mirror.remove(name)
                del self._known[name]
                self.changed.discard(name)
        self._watch()

    def _take_over(self, one: Subscription, is_new: bool) -> None:
        program, targets = self._compile(one)
        self._known[one.name] = (one.program, targets)
        self.changed.discard(one.name)
        if program is not None:
            self.changed.add(one.name)
        changed = replace(one, program=program or one.program)
        if is_new:
            self._mirror._add(changed)
        else:
            self._mirror._replace(changed)

    def _watch(self) -> None:
        if self.schema is None or self.schema.mode != "verify":
            return
        targets = frozenset[Name]().union(*[targets for _, targets in self._known.values()])
        names = watched(self.schema, targets)
        if names != self.watched:
            self.watched = names
            self._watching = Plan.build([watch(self.schema, name) for name in names])
            self._snapshot = None


def rows_under(registry: AnyRegistry, schema: Schema, *, is_fed: bool) -> AssumingRegistry:
    """Return a registry for the documents of one stream; what joins them stays as it is.

    ``is_fed`` is said of documents that come in pieces.
    """

    def compile_one(one: Subscription) -> tuple[bytes | None, frozenset[Name]]:
        return compile_for(one.query, one.mode, schema, is_fed=is_fed)

    return AssumingRegistry(registry, compile_one, schema)


def joins_under(registry: AnyRegistry, schemas: Mapping[str, Schema]) -> AnyRegistry:
    """Return a registry for joins: the blocks of trusted streams are rewritten."""
    trusted = {name: one for name, one in schemas.items() if one.mode == "trust"}
    if not trusted:
        return registry

    def compile_one(one: Subscription) -> tuple[bytes | None, frozenset[Name]]:
        if one.language == "xpath" and isinstance(one.question, str):
            return None, frozenset()
        query = one.query
        rewritten = rewrite_blocks(query, trusted) if is_joined(query) else query
        if rewritten is query:
            return None, frozenset()
        return compile_program(rewritten, one.mode), frozenset()

    return AssumingRegistry(registry, compile_one)
