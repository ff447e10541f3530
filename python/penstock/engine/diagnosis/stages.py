"""The paths of an XPath text, cut off after each step and each predicate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from penstock.errors import QueryError
from penstock.languages.xpath import syntax as s
from penstock.languages.xpath.frontend import parse, xpath
from penstock.twigs import Axis, Query

_PATHS_MAX = 8
_STAGES_MAX = 32


@dataclass(frozen=True, slots=True)
class Stage:
    """A path up to a step, or up to one of its predicates; ``shown`` is what came last."""

    text: str
    shown: str
    step: s.Step | None = None
    predicate: s.Expression | None = None


@dataclass(frozen=True, slots=True)
class Wording:
    """A text with the options that it is read with."""

    text: str
    options: dict[str, Any]

    @classmethod
    def of(cls, query: Query) -> Wording | None:
        """Return the wording of a query; None if it is not XPath."""
        if query.language != "xpath" or not query.text:
            return None
        return cls(query.text, {k: v for k, v in query.options.items() if k != "select"})

    def query(self, text: str, **more: Any) -> Query | None:
        """Return the query of another text with the same options, if it is one for nodes."""
        try:
            query = xpath(text, **self.options, **more)
        except QueryError:
            return None
        return query if query.selects_nodes else None

    def source(self, part: Any) -> str:
        """Return the text of a part of the syntax tree."""
        start, end = part.span
        return self.text[start:end]


def paths_of(wording: Wording) -> list[list[Stage]]:
    """Return the stages of each outermost path of a text, in order."""
    tree = parse(wording.text, dialect=wording.options.get("dialect", "xpath"))
    found = []
    for path in islice(_outermost(tree), _PATHS_MAX):
        stages = _stages(path, path.span[0], wording.text)
        # Each stage is a query of its own, so the bound comes before they are compiled.
        first = islice(stages, _STAGES_MAX)
        kept = [stage for stage in first if wording.query(stage.text) is not None]
        if kept:
            found.append(kept)
    return found


def _outermost(tree: Any) -> Iterator[s.Path | s.Filter]:
    match tree:
        case s.Path() | s.Filter():
            yield tree
        case s.Union(parts=parts) | s.Logical(parts=parts):
            for part in parts:
                yield from _outermost(part)
        case s.Binary(left=left, right=right):
            yield from _outermost(left)
            yield from _outermost(right)
        case s.Negate(operand=operand):
            yield from _outermost(operand)
        case s.FunctionCall(arguments=arguments):
            for argument in arguments:
                yield from _outermost(argument)


def _stages(path: Any, start: int, text: str) -> Iterator[Stage]:
    """Yield the stages of a path that begins at a place of the text."""
    if isinstance(path, s.Filter):
        # A parenthesis before the primary expression ends behind it.
        inner = path.primary.span[0] if text[start] == "(" else start
        yield from _stages(path.primary, inner, text)
        yield from _predicates(path.predicates, start, text, None)
    elif isinstance(path, s.Path):
        shown_from = start
        if path.start is not None:
            yield from _stages(path.start, start, text)
            shown_from = path.start.span[1]
        for step in path.steps:
            end = step.test.span[1]
            if text[end - 2 : end] == "//":
                continue  # it belongs to the next step
            yield Stage(text[start:end], text[shown_from:end], step)
            yield from _predicates(step.predicates, start, text, step)
            shown_from = step.span[1]
    elif isinstance(path, s.FunctionCall):
        yield Stage(text[start : path.span[1]], text[start : path.span[1]])


def _predicates(
    predicates: tuple[s.Expression, ...], start: int, text: str, step: s.Step | None
) -> Iterator[Stage]:
    for predicate in predicates:
        # Between an expression and its bracket there are parentheses and white space only.
        opened = text.rindex("[", 0, predicate.span[0])
        closed = text.index("]", predicate.span[1]) + 1
        yield Stage(text[start:closed], text[opened:closed], step, predicate)


def names_beside(stage: Stage, before: Stage) -> str | None:
    """Return a path to what stands where a step looked for its name, or None."""
    step = stage.step
    if step is None or not isinstance(step.test, s.NameTest):
        return None
    if step.axis is Axis.ATTRIBUTE:
        return f"{before.text}/@*"
    if step.axis is Axis.CHILD:
        return f"{before.text}{'//' if stage.shown.startswith('//') else '/'}*"
    return None
