"""Parts of a query that are evaluated while the document is read, binding by binding.

A loop over a path from the document, or the path itself, need not wait for the end of the document
if the bindings have nothing to do with each other: each one is evaluated when its element is
complete, and its memory serves the next one. Such a part is cut out of the query and *gathers*
items; what is left of the query reads them as ``Gathered``.

The path is cut in two. Its first steps, elements without predicates, are matched by events: they
lead to the *region*. Nested elements that match make one region, which ends with the outermost of
them, so order and duplicates inside a region are the evaluator's business. The other steps are
evaluated in the region, from ``Variable(REGION)``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from penstock.planning.sequences.context import (
    free_variables,
    has_context,
    is_downward,
    is_truth,
    reads_documents,
)
from penstock.planning.sequences.streams import CURRENT
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import Axis, NodeKind
from penstock.twigs.sequence_parts import all_parts, map_parts

REGION = "#region"
"""The variable that holds the nodes of a region. No query can have that name."""

FOLDS = ("items", "count", "sum", "avg", "min", "max", "exists", "empty")
"""What becomes of the items of all regions: their codes in a program are their places here."""


@dataclass(frozen=True, slots=True)
class Gather:
    """A part that gathers: the steps to its regions, what to evaluate there, and the fold.

    It reads the current document; others have been read before.
    """

    steps: tuple[x.Step, ...]
    body: Any
    fold: str

    @property
    def is_counted(self) -> bool:
        """Whether only the number of elements matters, so that nothing of them is kept."""
        return self.body == q.Variable(REGION) and self.fold in ("count", "exists", "empty")


class Gathering:
    """Cuts a query, which is in normal form, into what gathers and what is left."""

    def __init__(self, query: q.Sequences) -> None:
        self.gathers: list[Gather] = []
        # Variables of the prolog that do not wait for the document.
        self._known: set[str] = set()
        for variable in query.variables:
            if self._is_known(variable.value) and not reads_documents(variable.value):
                self._known.add(variable.name)
        bodies = [function.body for function in query.functions]
        self._is_possible = is_downward(query.body) and all(map(is_downward, bodies))
        # Functions have no context item, but they may read documents by name.
        self._calls_read = any(map(reads_documents, bodies))

    def cut(self, body: Any) -> Any:
        """Return the body with ``Gathered`` for each part that gathers."""
        return self._output(body) if self._is_possible else body

    def _output(self, part: Any) -> Any:
        """Cut an expression whose items are written out, and nothing else becomes of them."""
        gather = self._gather(part, "items")
        if gather is not None:
            return gather
        match part:
            case q.Sequence(parts=parts):
                return q.Sequence(tuple(map(self._output, parts)))
            case q.NewElement(content=content):
                return replace(part, content=tuple(map(self._output, content)))
            case q.NewDocument(content=content):
                return q.NewDocument(self._output(content))
            case q.If(test=test, then=then, otherwise=otherwise):
                # An error of a part that gathers is raised by whoever reads what it gathered.
                return q.If(self._value(test), self._output(then), self._output(otherwise))
            case q.Flwor(clauses=clauses, result=result):
                return q.Flwor(tuple(map(self._value, clauses)), self._output(result))
            case _:
                return self._value(part)

    def _value(self, part: Any) -> Any:
        """Cut an expression for whose value the identity of nodes may matter.

        Somebody may look into what is constructed here, so its content is no mere output: what
        gathers is written, and nothing is left to look into.
        """
        match part:
            case x.Call(function=function, arguments=(argument,)) if function in FOLDS:
                gather = self._gather(argument, function)
                return part if gather is None else gather
            case x.Step(base=base) | x.Filter(base=base) | q.Each(base=base):
                # Predicates have another context item, and with it perhaps another document.
                return replace(part, base=self._value(base))
            case _:
                return map_parts(part, self._value)

    def _gather(self, part: Any, fold: str) -> q.Gathered | None:
        match part:
            case q.Flwor(clauses=(q.For(source=source, position=position) as first, *rest)):
                if any(isinstance(clause, q.OrderBy) for clause in rest):
                    return None
                region = _region(source)
                if region is None:
                    return None
                steps, source = region
                # Positions count the bindings of all regions.
                first = replace(first, source=source, goes_on=position is not None)
                loop = q.Flwor((first, *rest), part.result)
                gather = Gather(steps, loop, fold)
            case q.Each(base=base):
                region = _region(base)
                if region is None:
                    return None
                steps, source = region
                gather = Gather(steps, replace(part, base=source), fold)
            case x.Step() | x.Filter():
                region = _region(part)
                if region is None:
                    return None
                gather = Gather(*region, fold)
            case _:
                return None
        if not self._is_closed(gather.body):
            return None
        if fold in ("sum", "avg", "min", "max"):
            gather = replace(gather, body=x.Call("data", (gather.body,)))
        self.gathers.append(gather)
        return q.Gathered(len(self.gathers) - 1)

    def _is_closed(self, body: Any) -> bool:
        if not self._is_known(body) or has_context(body) or reads_documents(body):
            return False
        return not (self._calls_read and any(isinstance(p, q.OwnCall) for p in all_parts(body)))

    def _is_known(self, part: Any) -> bool:
        return free_variables(part) <= self._known | {REGION}


def _region(path: Any) -> tuple[tuple[x.Step, ...], Any] | None:
    """Return the steps of a path to its regions, and the rest from ``Variable(REGION)``."""
    steps: list[x.Step] = []
    while isinstance(path, x.Step):
        steps.append(path)
        path = path.base
    if not isinstance(path, x.Root) and path != q.Stream(CURRENT):
        return None
    steps.reverse()
    known: list[x.Step] = []
    rest: Any = q.Variable(REGION)
    for place, step in enumerate(steps):
        is_region = (
            len(known) == place
            and step.axis in (Axis.CHILD, Axis.DESCENDANT)
            and step.test.kind is NodeKind.ELEMENT
            and all(map(is_truth, step.predicates))
        )
        if is_region and not (known and known[-1].predicates):
            known.append(step)
            if step.predicates:
                rest = x.Filter(rest, step.predicates)
        else:
            rest = x.Step(rest, step.axis, step.test, step.predicates)
    if not known:
        return None
    return tuple([replace(step, predicates=()) for step in known]), rest
