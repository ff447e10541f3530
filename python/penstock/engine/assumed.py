"""Subscriptions as they are evaluated over documents that fit a schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from threading import RLock

from penstock.kernel import Plan
from penstock.planning.programs import compile_program
from penstock.planning.schemas.ends import End, end_program, is_whole, outermost
from penstock.planning.schemas.knowledge import Knowledge
from penstock.planning.schemas.programs import (
    Compiled,
    compile_for,
    is_joined,
    rewrite_blocks,
)
from penstock.planning.schemas.watching import watch, watched
from penstock.registry import AnyRegistry, MemoryRegistry, Snapshot
from penstock.registry.plans.live import Branch
from penstock.registry.subscriptions import Subscription
from penstock.schemas import Name, Schema

Compile = Callable[[Subscription], Compiled]
"""What makes the program of a subscription."""


class AssumingRegistry(AnyRegistry):
    """A registry with other programs: it follows all changes of the one it is made of.

    A change costs one look at every subscription, and the compilation of those that changed. In
    the mode ``verify`` the plan ends with programs that match documents which break what the
    others rely on; their numbers begin where the names end. Where all subscriptions have ends,
    it ends with a program that holds behind them. ``schema`` is that of all documents.
    """

    def __init__(
        self, registry: AnyRegistry, compile_one: Compile, schema: Schema | None = None
    ) -> None:
        self._registry = registry
        self._compile = compile_one
        self.schema = schema
        self._lock = RLock()
        self._mirror = MemoryRegistry()
        self._known: dict[str, tuple[bytes, Compiled]] = {}
        self._version = -1
        self._mirrored: Snapshot | None = None
        self._snapshot: Snapshot | None = None
        self.watched: list[Name] = []
        """The elements whose places are checked."""
        self.ends: list[End] = []
        """Where a document is read no further, if the elements at these ends have ended."""
        self.endless: list[str] = []
        """The subscriptions for whose sake a document is read to its end, if ends are asked for."""
        self._further: list[bytes] = []
        """Programs that belong to no subscription, and their plan."""
        self._further_plan = Plan.build([])
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
                parts = [(mirrored.plan, 0), (self._further_plan, len(mirrored.names))]
                plan = Plan.attached(parts) if self._further else mirrored.plan
                self._snapshot = Snapshot(version, mirrored.names, plan)
            return self._snapshot

    compact = snapshot

    def branch(self) -> Branch:
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
        self._add_further()

    def _take_over(self, one: Subscription, is_new: bool) -> None:
        compiled = self._compile(one)
        self._known[one.name] = (one.program, compiled)
        self.changed.discard(one.name)
        if compiled.program is not None:
            self.changed.add(one.name)
        changed = replace(one, program=compiled.program or one.program)
        if is_new:
            self._mirror._add(changed)
        else:
            self._mirror._replace(changed)

    def _add_further(self) -> None:
        if self.schema is None:
            return
        compiled = [one for _, one in self._known.values()]
        if self.schema.mode == "verify":
            further = self._watch(self.schema, compiled)
        else:
            further = self._end(self.schema, compiled)
        if further != self._further:
            self._further = further
            self._further_plan = Plan.build(further)
            self._snapshot = None

    def _watch(self, schema: Schema, compiled: list[Compiled]) -> list[bytes]:
        names = watched(schema, frozenset[Name]().union(*[one.targets for one in compiled]))
        if names == self.watched:
            return self._further
        self.watched = names
        return [watch(schema, name) for name in names]

    def _end(self, schema: Schema, compiled: list[Compiled]) -> list[bytes]:
        known = [one.ends for one in compiled if one.ends is not None]
        self.ends = []
        own = self._known.items()
        self.endless = [name for name, (_, one) in own if is_whole(one.ends)]
        if not known or len(known) < len(compiled):
            return []
        ends = outermost(frozenset[End]().union(*known))
        program = end_program(Knowledge.of(schema), ends)
        if program is None:
            return []
        self.ends = ends
        return [program]


def rows_under(
    registry: AnyRegistry, schema: Schema, *, is_fed: bool, with_end: bool = False
) -> AssumingRegistry:
    """Return a registry for the documents of one stream; what joins them stays as it is.

    ``is_fed`` is said of documents that come in pieces; ``with_end``, of those that are not read
    further than to the last possible match.
    """

    def compile_one(one: Subscription) -> Compiled:
        return compile_for(one.query, one.mode, schema, is_fed=is_fed, with_ends=with_end)

    return AssumingRegistry(registry, compile_one, schema)


def joins_under(registry: AnyRegistry, schemas: Mapping[str, Schema]) -> AnyRegistry:
    """Return a registry for joins: the blocks of trusted streams are rewritten."""
    trusted = {name: one for name, one in schemas.items() if one.mode == "trust"}
    if not trusted:
        return registry

    def compile_one(one: Subscription) -> Compiled:
        if one.language == "xpath" and isinstance(one.question, str):
            return Compiled()
        query = one.query
        rewritten = rewrite_blocks(query, trusted) if is_joined(query) else query
        if rewritten is query:
            return Compiled()
        return Compiled(compile_program(rewritten, one.mode))

    return AssumingRegistry(registry, compile_one)
