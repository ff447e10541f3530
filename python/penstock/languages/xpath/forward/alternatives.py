"""Forward paths in the making, and the pieces of syntax that rules put together."""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock.languages.xpath import syntax as s
from penstock.twigs import Axis

REVERSE = frozenset({Axis.PARENT, Axis.ANCESTOR, Axis.ANCESTOR_OR_SELF})


@dataclass(frozen=True, slots=True)
class Alternative:
    """A forward path from the document node or, where it is relative, from the context node.

    ``guards`` are steps up from the context node that must find something there. If the path
    itself went up beyond the context node, it ``has_left``: all the rest of it is in a guard.
    """

    absolute: bool
    steps: tuple[s.Step, ...] = ()
    guards: tuple[s.Step, ...] = ()
    has_left: bool = False

    @property
    def above(self) -> Alternative:
        """The path without its last step."""
        return replace(self, steps=self.steps[:-1])

    def then(self, *steps: s.Step) -> Alternative:
        """Return the path with further steps."""
        return replace(self, steps=(*self.steps, *steps))

    def guarded(self, step: s.Step) -> Alternative:
        """Return the path with a forward step that its last node must be able to make."""
        condition = exists(step)
        if not self.steps:
            return self.then(any_self(step, (condition,)))
        last = self.steps[-1]
        return self.above.then(replace(last, predicates=(*last.predicates, condition)))

    def is_met_by(self, step: s.Step) -> bool:
        """Return whether the last node may be what a step to itself asks for, by its test."""
        if step.test == ANY_TEST:
            return True
        if not self.steps:
            return not self.absolute  # the document node has no name and is no text
        last = self.steps[-1].test
        if isinstance(last, s.NameTest) and isinstance(step.test, s.NameTest):
            return last.local is None or step.test.local in (None, last.local)
        return last == ANY_TEST or type(last) is type(step.test)


ANY_TEST = s.KindTest("node", None, (0, 0))


def on(axis: Axis, step: s.Step) -> s.Step:
    """Return a step on another axis."""
    return replace(step, axis=axis)


def any_self(step: s.Step, predicates: tuple[s.Expression, ...] = ()) -> s.Step:
    """Return ``self::node()`` with predicates, at the place of a step."""
    return replace(step, axis=Axis.SELF, test=ANY_TEST, predicates=predicates)


def having(axis: Axis, step: s.Step, below: s.Step) -> s.Step:
    """Return a step on another axis to nodes that can make a further step."""
    return replace(step, axis=axis, predicates=(*step.predicates, exists(below)))


def exists(*steps: s.Step) -> s.Path:
    """Return the condition that a relative path finds something."""
    return s.Path(False, steps, (steps[0].span[0], steps[-1].span[1]))


def nothing(span: s.Span) -> s.Path:
    """Return a path that selects nothing: the document node is no text."""
    step = s.Step(Axis.SELF, s.KindTest("text", None, span), (), span, span)
    return s.Path(True, (step,), span)


def joined(operator: str, parts: list[s.Expression]) -> s.Expression:
    """Return the parts under ``and`` or ``or``; one part alone."""
    if len(parts) == 1:
        return parts[0]
    return s.Logical(operator, tuple(parts), (parts[0].span[0], parts[-1].span[1]))
