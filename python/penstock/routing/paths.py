"""Paths of views and queries: when two are the same, and what is a part of what.

Two paths are the same if their programs are: compiling is canonical. Parts of a path are parts of
its text, found by the spans of its syntax tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from penstock.errors import QueryError
from penstock.languages.xpath import parse, xpath
from penstock.languages.xpath import syntax as s
from penstock.languages.xpath.namespaces import NamespaceMap, Namespaces
from penstock.planning.compile import compile_query
from penstock.twigs import Axis

Bindings = tuple[tuple[str, tuple[str, ...]], ...]
"""Prefixes and what they stand for, sorted."""

_DOWNWARD = {Axis.SELF, Axis.CHILD, Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF, Axis.ATTRIBUTE}
# Their values depend on what lies outside an element: its ancestors, its document, its caller.
_OUTWARD_FUNCTIONS = {"id", "lang"}
_POSITIONAL_FUNCTIONS = {"position", "last"}


@dataclass(frozen=True)
class Path:
    """A location path from the root of a document, with the namespaces of its prefixes."""

    text: str
    bindings: Bindings = ()

    @property
    def key(self) -> bytes:
        """What equal paths have in common: the program that returns the places of their nodes."""
        return _program(self.text, self.bindings)

    @property
    def namespaces(self) -> dict[str, tuple[str, ...]]:
        """What the prefixes stand for."""
        return dict(self.bindings)

    def at(self, text: str) -> Path:
        """Return another path with the same namespaces."""
        return Path(text, self.bindings)

    def __str__(self) -> str:
        return self.text


class Prefix(NamedTuple):
    """A path that another one begins with, and the rest: predicates, then steps, as text."""

    path: Path
    rest: str
    is_inside: bool
    """Whether the rest can be evaluated on the nodes of the prefix alone, each by itself."""


class Position(NamedTuple):
    """A path with one position in it, taken apart."""

    base: Path
    """The path without the position."""
    step: Path
    """The base up to the step that has the position."""
    position: int


def bindings_of(namespaces: NamespaceMap | None) -> Bindings:
    """Return namespaces in the form that paths keep.

    Raises:
        QueryError: A binding is none.
    """
    bound = Namespaces(namespaces, "").bindings
    given = {prefix: bound[prefix] for prefix in (namespaces or {})}
    return tuple(sorted(given.items()))


def view_path(text: str, namespaces: Mapping[str, tuple[str, ...]] | Bindings = ()) -> Path:
    """Return a path that can be a view.

    Raises:
        QueryError: The text is no path, or not one that is evaluated.
    """
    path = Path(text, tuple(sorted(dict(namespaces).items())))
    parsed = parse(text)
    if not _is_path(parsed):
        message, way_out = "a view is a path to nodes", "name the nodes: /news/head/agency"
        raise QueryError("PQ0601", message, (0, len(text)), way_out, text)
    _ = path.key
    return path


def _is_path(parsed: s.Expression) -> bool:
    match parsed:
        case s.Union(parts=parts):
            return all(_is_path(part) for part in parts)
        case s.Path(start=None) as path:
            # Inside a larger expression the path alone would have to be absolute.
            return bool(path.steps)
        case _:
            return False


@lru_cache(maxsize=1 << 16)
def _program(text: str, bindings: Bindings) -> bytes:
    return compile_query(xpath(text, namespaces=dict(bindings)), is_spans=True)


def prefixes(path: Path) -> Iterator[Prefix]:
    """Yield what a path begins with, the longest first, the path itself left out."""
    parsed = parse(path.text)
    if not isinstance(parsed, s.Path) or parsed.start is not None:
        return
    text = path.text
    for place in range(len(parsed.steps) - 1, -1, -1):
        step = parsed.steps[place]
        if text[slice(*step.span)] == "//":
            continue
        later = parsed.steps[place + 1 :]
        is_inside = all(_is_inside(step) for step in later)
        if later:
            yield _prefix(path, parsed, step.span[1], is_inside)
        for number in range(len(step.predicates) - 1, -1, -1):
            cut = _bracket(text, step, number)
            conditions = step.predicates[number:]
            is_condition = all(_is_condition(condition) for condition in conditions)
            yield _prefix(path, parsed, cut, is_inside and is_condition)


def _prefix(path: Path, parsed: s.Path, cut: int, is_inside: bool) -> Prefix:
    start, end = parsed.span
    return Prefix(path.at(path.text[start:cut]), path.text[cut:end], is_inside)


def positions(path: Path) -> Iterator[Position]:
    """Yield a path taken apart at each of its steps that ends with a position."""
    parsed = parse(path.text)
    if not isinstance(parsed, s.Path) or parsed.start is not None:
        return
    text, (start, end) = path.text, parsed.span
    for step in parsed.steps:
        if not step.predicates or not isinstance(last := step.predicates[-1], s.Number):
            continue
        if last.value < 1 or last.value != int(last.value):
            continue
        cut = _bracket(text, step, len(step.predicates) - 1)
        base = text[start:cut] + text[step.span[1] : end]
        yield Position(path.at(base), path.at(text[start:cut]), int(last.value))


def _bracket(text: str, step: s.Step, number: int) -> int:
    """Return where the bracket of a predicate opens."""
    return text.rindex("[", step.span[0], step.predicates[number].span[0])


def _is_inside(step: s.Step) -> bool:
    inner = [node for predicate in step.predicates for node in s.nodes_in(predicate)]
    return step.axis in _DOWNWARD and _stays_inside(inner)


def _is_condition(predicate: s.Expression) -> bool:
    """Whether a predicate is about its node alone, not about its place among others."""
    match predicate:
        case s.Logical(parts=parts):
            return all(_is_condition(part) for part in parts)
        case s.Path() | s.Union():
            pass
        case s.Binary(operator=operator) if operator in s.COMPARISONS:
            pass
        case s.FunctionCall(name="not" | "contains" | "starts-with" | "boolean"):
            pass
        case _:
            return False
    nodes = list(s.nodes_in(predicate))
    positional = any(
        isinstance(node, s.FunctionCall) and node.name in _POSITIONAL_FUNCTIONS for node in nodes
    )
    return not positional and _stays_inside(nodes)


def _stays_inside(nodes: list[object]) -> bool:
    for node in nodes:
        match node:
            case s.Path(absolute=True) | s.Variable():
                return False
            case s.Step(axis=axis) if axis not in _DOWNWARD:
                return False
            case s.FunctionCall(name=name) if name in _OUTWARD_FUNCTIONS:
                return False
            case _:
                pass
    return True
