"""Which nodes of a document a query needs, and what of them.

A *projection* is a tree of steps from the document node. Each place in it says what is needed of
the nodes that reach it: that they exist, their string value, their source as bytes, or everything
inside them. The kernel keeps such nodes and forgets all others.

The analysis follows values through a query: the *places* of an expression are those where its nodes
come from. Whoever uses the value marks these places. Where values go through functions of the
query, everything inside them is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from penstock.planning.sequences.context import is_downward
from penstock.planning.sequences.gathering import REGION, Gather
from penstock.planning.sequences.streams import CURRENT
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import DOCUMENT_NODE, Axis, NodeTest
from penstock.twigs.sequence_parts import all_parts, parts_of

NODE, VALUE, BYTES, TREE = 1, 2, 4, 8
"""What is needed of nodes. Whatever is needed, the node itself is."""

_ITSELF = {"exactly-one", "zero-or-one", "one-or-more", "unordered", "reverse", "trace"}
_FIRST_ITSELF = {"subsequence", "remove"}
_EXISTENCE = set("count exists empty not boolean name local-name namespace-uri node-name".split())
_EVERYTHING = {"deep-equal", "in-scope-prefixes", "namespace-uri-for-prefix", "resolve-QName"}


@dataclass(eq=False, slots=True)
class Place:
    """A place in a projection.

    ``marks`` are needed as long as the region lasts that the place belongs to, ``kept`` until the
    end of the document. ``held`` are needed until the element ends that is ``levels`` above: only
    tables hold nodes so.
    """

    axis: Axis
    test: NodeTest
    marks: int = 0
    kept: int = 0
    held: int = 0
    levels: int = 0
    gathers: list[int] = field(default_factory=list)
    children: dict[tuple[Axis, NodeTest], Place] = field(default_factory=dict)
    above: Place | None = None

    def step(self, axis: Axis, test: NodeTest) -> Place:
        """Return the place that a step leads to."""
        key = (axis, test)
        return self.children.setdefault(key, Place(axis, test, above=self))

    def document(self) -> Place:
        """Return the document node that the place belongs to."""
        place = self
        while place.above is not None:
            place = place.above
        return place


Places = frozenset[Place]
_NOWHERE: Places = frozenset()


class Projection:
    """The nodes that a query needs: ``roots`` has the document node of each document, by name."""

    def __init__(
        self, query: q.Sequences, body: Any, gathers: list[Gather], documents: Iterable[str]
    ) -> None:
        self.roots = {name: Place(Axis.SELF, DOCUMENT_NODE) for name in documents}
        self._functions = query.functions
        self._variables: dict[str, Places] = {}
        self._is_region = False
        bodies = [body, *(one.body for one in query.functions)]
        values = [one.value for one in query.variables]
        if not all(map(is_downward, [*bodies, *values])):
            # Whatever looks around needs what is there.
            for part in [*bodies, *values]:
                for inner in all_parts(part):
                    if isinstance(inner, x.Root | q.Stream):
                        self._root(inner).kept = TREE
            return
        for variable in query.variables:
            self._variables[variable.name] = self._of(variable.value)
        for function in query.functions:
            for parameter in function.parameters:
                self._variables[parameter.name] = _NOWHERE
            self._use(function.body, TREE)
        self._write(body)
        for number, gather in enumerate(gathers):
            self._add_gather(number, gather)

    @property
    def has_trees(self) -> bool:
        """Whether everything inside some node is needed, and not only its source."""
        waiting = [*self.roots.values()]
        while waiting:
            place = waiting.pop()
            if (place.marks | place.kept) & TREE:
                return True
            waiting += place.children.values()
        return False

    def _add_gather(self, number: int, gather: Gather) -> None:
        place = self.roots[CURRENT]
        for step in gather.steps:
            place = place.step(step.axis, step.test)
        place.gathers.append(number)
        if gather.is_counted:
            return
        self._variables[REGION] = frozenset({place})
        self._is_region = True
        place.marks |= NODE
        match gather.fold:
            case "items":
                self._write(gather.body)
            case "count" | "exists" | "empty":
                self._use(gather.body, NODE)
            case _:
                self._use(gather.body, VALUE)
        self._is_region = False

    def _root(self, part: x.Root | q.Stream) -> Place:
        return self.roots[part.name if isinstance(part, q.Stream) else CURRENT]

    def _mark(self, places: Iterable[Place], mark: int) -> None:
        for place in places:
            # A document may have comments beside its element, so its source is no element.
            needed = TREE if mark == BYTES and place.above is None else mark
            if self._is_region:
                place.marks |= needed
            else:
                place.kept |= needed

    def _use(self, part: Any, mark: int, here: Places = _NOWHERE) -> None:
        """Go through an expression whose nodes are used in some way."""
        self._mark(self._of(part, here), mark)

    def _use_all(self, parts: Iterable[Any], mark: int, here: Places) -> None:
        for part in parts:
            self._use(part, mark, here)

    def _write(self, part: Any, here: Places = _NOWHERE) -> None:
        """Go through an expression whose items are written out."""
        match part:
            case q.Sequence(parts=parts):
                for inner in parts:
                    self._write(inner, here)
            case q.NewElement(name=name, content=content):
                self._use_name(name, here)
                for inner in content:
                    self._write(inner, here)
            case q.NewDocument(content=content):
                self._write(content, here)
            case q.If(test=test, then=then, otherwise=otherwise):
                self._use(test, NODE, here)
                self._write(then, here)
                self._write(otherwise, here)
            case q.Flwor(clauses=clauses, result=result):
                self._clauses(clauses, here)
                self._write(result, here)
            case _:
                self._use(part, BYTES, here)

    def _use_name(self, name: Any, here: Places) -> None:
        if not isinstance(name, q.Name | str):
            self._use(name, VALUE, here)

    def _clauses(self, clauses: Iterable[Any], here: Places) -> None:
        for clause in clauses:
            match clause:
                case (
                    q.For(variable=variable, source=source)
                    | q.Let(variable=variable, source=source)
                ):
                    self._variables[variable] = self._of(source, here)
                    self._mark(self._variables[variable], NODE)
                    if isinstance(clause, q.For) and clause.position is not None:
                        self._variables[clause.position] = _NOWHERE
                case q.Where(test=test):
                    self._use(test, NODE, here)
                case q.OrderBy(keys=keys):
                    for key in keys:
                        self._use(key.key, VALUE, here)

    def _of(self, part: Any, here: Places = _NOWHERE) -> Places:
        """Return the places of an expression's nodes; all that it uses itself is marked."""
        match part:
            case x.Here():
                return here
            case q.Variable(name=name):
                return self._variables.get(name, _NOWHERE)
            case x.Root() if here:
                return frozenset([place.document() for place in here])
            case x.Root() | q.Stream():
                return frozenset({self._root(part)})
            case x.Step(base=base, axis=axis, test=test, predicates=predicates):
                bases = self._of(base, here)
                places = frozenset([place.step(axis, test) for place in bases])
                self._predicates(predicates, places)
                # A place that is only passed needs no mark, but a set that is counted does.
                return places
            case x.Filter(base=base, predicates=predicates):
                places = self._of(base, here)
                self._predicates(predicates, places)
                return places
            case q.Each(base=base, body=body):
                places = self._of(base, here)
                self._mark(places, NODE)
                return self._of(body, places)
            case x.Union(parts=parts) | q.Sequence(parts=parts):
                return frozenset().union(*[self._of(inner, here) for inner in parts])
            case q.Combine(left=left, right=right):
                return self._of(left, here) | self._marked(right, NODE, here)
            case q.If(test=test, then=then, otherwise=otherwise):
                self._use(test, NODE, here)
                return self._of(then, here) | self._of(otherwise, here)
            case q.Flwor(clauses=clauses, result=result):
                self._clauses(clauses, here)
                return self._of(result, here)
            case q.Quantified(bindings=bindings, test=test):
                self._clauses(bindings, here)
                self._use(test, NODE, here)
                return _NOWHERE
            case q.TypeSwitch(operand=operand, cases=cases):
                places = self._marked(operand, TREE, here)
                for case in cases:
                    if case.variable is not None:
                        self._variables[case.variable] = places
                return frozenset().union(*[self._of(case.result, here) for case in cases])
            case q.TreatAs(operand=operand):
                return self._marked(operand, TREE, here)
            case q.InstanceOf(operand=operand):
                self._use(operand, TREE, here)
                return _NOWHERE
            case x.Call(function=function, arguments=arguments):
                return self._call(function, arguments, here)
            case q.OwnCall(function=number, arguments=arguments):
                parameters = self._functions[number].parameters
                for argument, parameter in zip(arguments, parameters, strict=True):
                    kind = parameter.type and parameter.type.item.kind
                    self._use(argument, VALUE if kind == "atomic" else TREE, here)
                return _NOWHERE
            case x.And(parts=parts) | x.Or(parts=parts):
                self._use_all(parts, NODE, here)
                return _NOWHERE
            case q.NodeCompare(left=left, right=right):
                self._use_all((left, right), NODE, here)
                return _NOWHERE
            case q.NewElement() | q.NewDocument():
                # Somebody looks into what is constructed.
                self._use_all(_expressions(part), TREE, here)
                return _NOWHERE
            case _:
                self._use_all(_expressions(part), VALUE, here)
                return _NOWHERE

    def _marked(self, part: Any, mark: int, here: Places) -> Places:
        places = self._of(part, here)
        self._mark(places, mark)
        return places

    def _predicates(self, predicates: Iterable[Any], places: Places) -> None:
        for predicate in predicates:
            self._mark(places, NODE)
            self._use(predicate, NODE, places)

    def _call(self, function: str, arguments: tuple[Any, ...], here: Places) -> Places:
        if function in _ITSELF or (function in _FIRST_ITSELF and arguments):
            first, *others = arguments
            self._use_all(others, VALUE, here)
            return self._marked(first, NODE, here)
        if function == "insert-before":
            first, place, inserted = arguments
            self._use(place, VALUE, here)
            return self._marked(first, NODE, here) | self._marked(inserted, NODE, here)
        mark = TREE if function in _EVERYTHING else VALUE
        self._use_all(arguments, NODE if function in _EXISTENCE else mark, here)
        return _NOWHERE


def _expressions(part: Any) -> Iterable[Any]:
    return [inner for inner in parts_of(part) if not isinstance(inner, q.Name)]
