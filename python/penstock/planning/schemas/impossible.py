"""What can never match: steps to elements and attributes that the schema has not there.

Under a schema that is trusted such conditions are false, and paths with such steps are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from penstock.planning.normalise import normalise
from penstock.planning.schemas.knowledge import Contexts, Knowledge
from penstock.planning.schemas.walking import Walk
from penstock.schemas import Schema
from penstock.twigs import Query
from penstock.twigs import expressions as x
from penstock.twigs.expression_printing import print_step
from penstock.twigs.nodetests import Axis, NodeTest
from penstock.twigs.sequences import Sequences

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Impossible:
    """A step that reaches nothing: its text, where it starts, and a name like it."""

    step: str
    below: tuple[str, ...]
    nearest: str | None

    def __str__(self) -> str:
        places = ", ".join(f"`{name}`" for name in self.below[:_SHOWN])
        places += ", …" if len(self.below) > _SHOWN else ""
        hint = f"; did you mean `{self.nearest}`?" if self.nearest else ""
        return f"`{self.step}` matches nothing below {places}{hint}"


def impossible_steps(query: Query, schema: Schema) -> list[Impossible]:
    """Return the steps of a query that reach nothing in any document that fits a schema.

    Raises:
        QueryError: The query is nested too deeply.
    """
    finding = _Finding(Knowledge.of(schema))
    finding.query(query if isinstance(query.output, Sequences) else normalise(query))
    return [*dict.fromkeys(finding.steps)]


def drop_impossible(query: Query, knowledge: Knowledge) -> Query:
    """Return the query without conditions and alternatives that can never match."""
    return _Dropping(knowledge).query(query)


class _Finding(Walk):
    """Notes what is impossible, and changes nothing."""

    def __init__(self, knowledge: Knowledge) -> None:
        super().__init__(knowledge)
        self.steps: list[Impossible] = []

    def change_twig(self, node: x.TwigNode, contexts: Contexts) -> x.TwigNode:
        self._note(contexts, node.axis, node.test)
        return node

    def change_step(self, step: x.Step, contexts: Contexts, above: Contexts) -> Any:
        if above is not None and step.axis is Axis.CHILD:
            self._note(above, Axis.DESCENDANT, step.test)
        else:
            self._note(contexts, step.axis, step.test)
        return step

    def _note(self, contexts: Contexts, axis: Axis, test: NodeTest) -> None:
        knowledge = self.knowledge
        if knowledge.is_impossible(contexts, axis, test):
            assert contexts is not None
            below = sorted("the document" if name is None else name.local for name in contexts)
            nearest = knowledge.nearest(contexts, axis, test)
            self.steps.append(Impossible(print_step(axis, test), tuple(below), nearest))


class _Dropping(Walk):
    """Marks what is impossible in twigs as false; constants are folded afterwards."""

    def change_twig(self, node: x.TwigNode, contexts: Contexts) -> x.TwigNode:
        if self.knowledge.is_impossible(contexts, node.axis, node.test):
            return replace(node, where=x.FALSE)
        return node
