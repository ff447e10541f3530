"""The element graph: what one schema says of the elements of a document.

Elements are told apart by their names alone. Where a schema gives one name several types, an
element of the graph has the children of all of them, and a child is required or single only if it
is so in each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, get_args

from penstock.errors import SettingError

Mode = Literal["off", "trust", "verify"]
"""What an engine does with a schema: nothing, take it for granted, or check what it uses."""

CHAIN_MAX = 16
"""A way down from one element to another with more steps than this is not looked for."""


class Name(NamedTuple):
    """The name of an element; ``uri`` is None where the schema does not fix the namespace."""

    uri: str | None
    local: str

    def __str__(self) -> str:
        return f"{{{self.uri}}}{self.local}" if self.uri else self.local


class Occurs(NamedTuple):
    """How often a child occurs in its parent: whether at least once, and at most once."""

    is_required: bool
    is_single: bool

    def __str__(self) -> str:
        return {(True, True): "1", (False, True): "?", (True, False): "+", (False, False): "*"}[
            self
        ]

    def united(self, other: Occurs) -> Occurs:
        """Return what holds whichever of the two it is."""
        return Occurs(self.is_required and other.is_required, self.is_single and other.is_single)


MANY = Occurs(False, False)


@dataclass(frozen=True)
class Element:
    """What a schema says of an element of one name.

    ``children`` are the elements that may stand in it. With ``is_open`` others may, too, and
    nothing is known of what lies in them. ``attributes`` says of each whether it is required;
    with ``has_any_attributes`` there may be others.
    """

    name: Name
    children: Mapping[Name, Occurs]
    attributes: Mapping[Name, bool]
    has_text: bool = False
    is_open: bool = False
    has_any_attributes: bool = False

    def united(self, other: Element) -> Element:
        """Return an element that may be either."""
        absent = Occurs(False, True)
        names = [*dict.fromkeys([*self.children, *other.children])]
        children = {
            name: self.children.get(name, absent).united(other.children.get(name, absent))
            for name in names
        }
        attributes = {
            name: self.attributes.get(name, False) and other.attributes.get(name, False)
            for name in [*dict.fromkeys([*self.attributes, *other.attributes])]
        }
        return Element(
            self.name,
            children,
            attributes,
            self.has_text or other.has_text,
            self.is_open or other.is_open,
            self.has_any_attributes or other.has_any_attributes,
        )


@dataclass(frozen=True, eq=False)
class Schema:
    """The element graph of a DTD or an XSD; ``penstock.schema`` reads one.

    ``roots`` are the elements that a document may begin with. ``mode`` is what engines do with it:
    ``off`` ignores it; ``trust`` takes it for granted, so that a document that breaks it may get
    wrong answers; ``verify`` checks whatever is used, and evaluates a document that breaks it as
    if there were no schema.

    Raises:
        SettingError: There is no such mode.
    """

    elements: Mapping[Name, Element]
    roots: frozenset[Name]
    mode: Mode = "verify"
    source: str = ""

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            message = f"there is no mode {self.mode!r}; use `off`, `trust` or `verify`"
            raise SettingError("PM0010", message)

    def with_mode(self, mode: Mode) -> Schema:
        """Return the same schema in another mode.

        Raises:
            SettingError: There is no such mode.
        """
        return replace(self, mode=mode)

    def __repr__(self) -> str:
        return f"<Schema of {len(self.elements)} elements, {self.mode}: {self.source}>"

    def children(self, name: Name) -> Mapping[Name, Occurs]:
        """Return what may stand in an element; nothing if it is not declared."""
        element = self.elements.get(name)
        return {} if element is None else element.children

    def is_open(self, name: Name) -> bool:
        """Whether anything may stand in an element."""
        element = self.elements.get(name)
        return element is None or element.is_open

    @cached_property
    def below(self) -> Mapping[Name, frozenset[Name]]:
        """The elements at any depth below each one; itself only if it nests in itself."""
        return {name: frozenset(self._reach(self.children(name))) for name in self.elements}

    @cached_property
    def reachable(self) -> frozenset[Name]:
        """The elements that a document may have, those inside open ones left out."""
        return frozenset(self._reach(self.roots))

    @cached_property
    def has_open(self) -> bool:
        """Whether a document may have an element in which anything may stand."""
        return any(map(self.is_open, self.reachable))

    @cached_property
    def parents(self) -> Mapping[Name, frozenset[Name]]:
        """The elements that each one may stand in; a document's root may have none."""
        parents: dict[Name, set[Name]] = {name: set() for name in self.elements}
        for name in self.reachable:
            for child in self.children(name):
                parents.setdefault(child, set()).add(name)
        return {name: frozenset(found) for name, found in parents.items()}

    @cached_property
    def recursive(self) -> frozenset[Name]:
        """The elements that may stand, at some depth, in one of their own name."""
        return frozenset(name for name, below in self.below.items() if name in below)

    def on_one_loop(self, one: Name, other: Name) -> bool:
        """Whether each of two elements may stand, at some depth, in the other."""
        return other in self.below.get(one, ()) and one in self.below.get(other, ())

    def sees_open(self, names: Iterable[Name]) -> bool:
        """Whether anything may stand in some of these elements, at some depth."""
        return any(
            self.is_open(name) or any(map(self.is_open, self.below.get(name, ()))) for name in names
        )

    def chain(self, contexts: Iterable[Name | None], target: Name) -> tuple[Name, ...] | None:
        """Return the names on the only way down to an element, whichever context it starts from.

        None stands for the document. There is no such way where several lead there, where one of
        them has a loop, where something open may be on it, or where none leads there.
        """
        found: tuple[Name, ...] | None = None
        for context in contexts:
            ways = self._ways(context, target, CHAIN_MAX)
            if ways is None or len(ways) > 1 or (ways and found not in (None, ways[0])):
                return None
            if ways:
                found = ways[0]
        return found

    def _ways(
        self, context: Name | None, target: Name, length_max: int
    ) -> list[tuple[Name, ...]] | None:
        """Return up to two ways down to an element; None where there may be others."""
        ways: list[tuple[Name, ...]] = []
        below = self.roots if context is None else self.children(context)
        if (context is not None and self.is_open(context)) or not length_max:
            return None
        for child in below:
            if child == target:
                ways.append((child,))
            is_between = target in self.below.get(child, ())
            if not is_between:
                if child != target and self.sees_open([child]):
                    return None
                continue
            if child in self.recursive:
                return None
            rest = self._ways(child, target, length_max - 1)
            if rest is None:
                return None
            ways += [(child, *way) for way in rest]
            if len(ways) > 1:
                break
        return ways

    def _reach(self, names: Iterable[Name]) -> set[Name]:
        reached: set[Name] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += self.children(name)
        return reached
