"""Which elements a step may reach, by an element graph."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from re import escape, fullmatch
from weakref import WeakKeyDictionary

from penstock.schemas import Name, Schema
from penstock.twigs.nodetests import Axis, NodeKind, NodeTest

Contexts = frozenset[Name | None] | None
"""The elements that nodes may be, None among them for the document node. Nodes that are neither
add nothing. None instead of a set: they may be anything."""
DOCUMENT: Contexts = frozenset([None])
NOWHERE: Contexts = frozenset()

_BELOW = {Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF}
_ANSWERS_MAX = 100_000
_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"


class Knowledge:
    """Answers questions about steps, and remembers the answers."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._reaches: dict[tuple[frozenset[Name | None], Axis], Contexts] = {}
        self._chains: dict[tuple[frozenset[Name | None], Name], tuple[Name, ...] | None] = {}

    @staticmethod
    def of(schema: Schema) -> Knowledge:
        """Return what is known by a schema; the same object as long as the schema is used."""
        known = _KNOWN.get(schema)
        if known is None or len(known._reaches) + len(known._chains) > _ANSWERS_MAX:
            known = _KNOWN[schema] = Knowledge(schema)
        return known

    def after(self, contexts: Contexts, axis: Axis, test: NodeTest) -> Contexts:
        """Return the elements that a step may reach."""
        if contexts is None:
            return None
        if axis is Axis.ATTRIBUTE:
            return NOWHERE
        key = (contexts, axis)
        if key not in self._reaches:
            self._reaches[key] = self._reached(contexts, axis)
        reached = self._reaches[key]
        if reached is None:
            return None
        return frozenset(name for name in reached if fits(test, name))

    def _reached(self, contexts: frozenset[Name | None], axis: Axis) -> Contexts:
        schema = self.schema
        if axis is Axis.SELF:
            return contexts
        if axis is Axis.CHILD:
            if any(name is not None and schema.is_open(name) for name in contexts):
                return None
            return frozenset(child for name in contexts for child in self.children(name))
        if axis not in _BELOW:
            return None
        reached: set[Name | None] = set()
        for name in contexts:
            names = self.children(name)
            if (name is not None and schema.is_open(name)) or schema.sees_open(names):
                return None
            reached.update(names)
            for child in names:
                reached |= schema.below.get(child, frozenset())
        return frozenset(reached | contexts if axis is Axis.DESCENDANT_OR_SELF else reached)

    def children(self, name: Name | None) -> Iterable[Name]:
        """Return what may stand in an element; in the document, the roots."""
        return self.schema.roots if name is None else self.schema.children(name)

    def chain(self, contexts: Contexts, test: NodeTest) -> tuple[Name, ...] | None:
        """Return the only way down from any of the contexts to what passes a test, if there is one.

        The test must be for one name.
        """
        targets = self.after(contexts, Axis.DESCENDANT, test)
        if contexts is None or targets is None or len(targets) != 1:
            return None
        (target,) = targets
        if target is None or not is_exact(test, target):
            return None
        key = (contexts, target)
        if key not in self._chains:
            self._chains[key] = self.schema.chain(contexts, target)
        return self._chains[key]

    def single(self, contexts: Contexts, test: NodeTest) -> Contexts:
        """Return the one child that passes a test and occurs at most once; else None."""
        reached = self.after(contexts, Axis.CHILD, test)
        if contexts is None or reached is None or len(reached) != 1:
            return None
        (child,) = reached
        if child is None or None in contexts or not is_exact(test, child):
            return None
        for name in contexts:
            assert name is not None
            occurs = self.schema.children(name).get(child)
            if occurs is not None and not occurs.is_single:
                return None
        return reached

    def is_impossible(self, contexts: Contexts, axis: Axis, test: NodeTest) -> bool:
        """Whether a step certainly reaches nothing."""
        if not contexts:
            # An empty set may stand for nodes that are no elements.
            return False
        if axis is Axis.ATTRIBUTE:
            return self._lacks_attribute(contexts, test)
        if test.kind is not NodeKind.ELEMENT or axis is Axis.SELF:
            return False
        return self.after(contexts, axis, test) == NOWHERE

    def _lacks_attribute(self, contexts: frozenset[Name | None], test: NodeTest) -> bool:
        if test.kind is not NodeKind.ATTRIBUTE or (test.uris and _INSTANCE in test.uris):
            return False
        for name in contexts:
            element = None if name is None else self.schema.elements.get(name)
            if element is None or element.has_any_attributes or element.is_open:
                return False
            if any(_fits_name(test, attribute) for attribute in element.attributes):
                return False
        return True

    def nearest(self, contexts: Contexts, axis: Axis, test: NodeTest) -> str | None:
        """Return the name in the place of a step that resembles that of its test most."""
        assert contexts is not None
        names: set[str] = set()
        if axis is Axis.ATTRIBUTE:
            elements = [self.schema.elements.get(name) for name in contexts if name is not None]
            names = {one.local for element in elements if element for one in element.attributes}
        else:
            anything = NodeTest(NodeKind.ELEMENT)
            reached = self.after(contexts, axis, anything) or ()
            names = {name.local for name in reached if name is not None}
            if not get_close_matches(test.local or "", names):
                names = {name.local for name in self.schema.elements}
        near = get_close_matches(test.local or "", sorted(names), n=1)
        return near[0] if near else None


_KNOWN: WeakKeyDictionary[Schema, Knowledge] = WeakKeyDictionary()


def fits(test: NodeTest, name: Name | None) -> bool:
    """Whether an element, or the document node, may pass a test."""
    if test.kind is NodeKind.ANY:
        return True
    if name is None:
        return test.kind is NodeKind.DOCUMENT
    return test.kind is NodeKind.ELEMENT and _fits_name(test, name)


def _fits_name(test: NodeTest, name: Name) -> bool:
    if test.local is not None and test.local != name.local:
        return False
    if test.uris is None or name.uri is None:
        return True
    return any(_matches(pattern, name.uri) for pattern in test.uris)


def _matches(pattern: str, uri: str) -> bool:
    return bool(fullmatch(escape(pattern).replace(r"\*", "(?s:.*)"), uri))


def is_exact(test: NodeTest, name: Name) -> bool:
    """Whether every element that passes a test has a name."""
    if test.local != name.local:
        return False
    return name.uri is None or test.uris == (name.uri,)


def test_of(name: Name) -> NodeTest:
    """Return the test for a name."""
    return NodeTest(NodeKind.ELEMENT, name.local, None if name.uri is None else (name.uri,))
