"""Recognises a query over several streams as loops over streams, equalities, and a message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from penstock.planning.bindings.equalities import Equal, equality_of
from penstock.planning.bindings.parts import (
    KEYS_MAX,
    STREAMS_MAX,
    BindingJoin,
    Edge,
    Key,
    Side,
    conjuncts,
)
from penstock.planning.bindings.refusals import Refusals
from penstock.planning.sequences.context import (
    free_variables,
    has_context,
    is_downward,
    is_truth,
    reads_documents,
    reads_root,
    replace_context,
)
from penstock.planning.sequences.streams import streams_of
from penstock.twigs import Query
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import Axis, NodeKind
from penstock.twigs.sequence_parts import all_parts, map_roots, roots_of, substitute

_BOUND = (NodeKind.ELEMENT, NodeKind.ATTRIBUTE, NodeKind.TEXT)


def is_over_streams(output: q.Sequences) -> bool:
    """Return whether a query joins what it reads of several streams, or of several documents."""
    names = streams_of(output)
    return len(names) > 1 or (len(names) == 1 and _joined_alone(_without_names(output)) is not None)


def recognise(query: Query) -> tuple[BindingJoin, q.Sequences]:
    """Return the stages of a query, and the query without the variables that stand for streams.

    Raises:
        QueryError: It has another form; the error shows a way out.
    """
    assert isinstance(query.output, q.Sequences)
    output = _without_names(query.output)
    refusals = Refusals(query.text)
    unbounded = None if query.options.get("within") else _joined_alone(output)
    if unbounded is not None:
        raise refusals.unbounded(*unbounded)
    return _Recognition(output, refusals).join(), output


def _joined_alone(output: q.Sequences) -> tuple[str, str, str] | None:
    """Return a stream whose documents loops join with each other, and two such loops."""
    names = streams_of(output)
    current = names[0] if len(names) == 1 else None
    known: dict[str, tuple[str, bool]] = {}
    for part in all_parts(*roots_of(output)):
        stream = _stream_below(part.source, current) if isinstance(part, q.For) else None
        if stream is None:
            continue
        first, is_whole = known.setdefault(stream.name, (part.variable, False))
        if first != part.variable and (is_whole or stream.is_whole):
            return stream.name, first, part.variable
        known[stream.name] = first, is_whole or stream.is_whole
    return None


def _without_names(output: q.Sequences) -> q.Sequences:
    """Return a query whose variables for streams are replaced by them."""
    values: dict[str, Any] = {}
    kept = []
    for variable in output.variables:
        value = substitute(variable.value, values)
        if variable.type is None and _stream_below(value, None) is not None:
            values[variable.name] = value
        else:
            kept.append(replace(variable, value=value))
    changed = map_roots(replace(output, variables=()), lambda root: substitute(root, values))
    return replace(changed, variables=tuple(kept))


class _Recognition:
    """Takes the clauses of a query apart."""

    def __init__(self, output: q.Sequences, refusals: Refusals) -> None:
        self._refuse = refusals
        self._output = output
        names = streams_of(output)
        self._current = names[0] if len(names) == 1 else None
        """The stream whose document `/` is."""
        self._loops: list[tuple[q.For, q.Stream, NodeKind]] = []
        self._inner: list[q.For | q.Let] = []
        self._tests: list[Any] = []
        self._known = {variable.name for variable in output.variables}
        self._values: dict[str, Any] = {}
        """What variables of ``let`` stand for, as expressions over loops."""
        self._items: dict[str, Any] = {}
        """What the variables of further loops are items of, likewise."""

    def join(self) -> BindingJoin:
        """Return the stages."""
        bodies = [function.body for function in self._output.functions]
        values = [variable.value for variable in self._output.variables]
        if any(map(reads_documents, [*bodies, *values])):
            raise self._refuse.reading()
        clauses, result = _flattened(self._output.body)
        for clause in clauses:
            self._take(clause)
        if len(self._loops) < 2:
            raise self._refuse.reading()
        if len(self._loops) > STREAMS_MAX:
            raise self._refuse.many(STREAMS_MAX)
        self._check_inside([*self._inner, *self._tests, result])
        return self._joined(result)

    def _take(self, clause: Any) -> None:
        match clause:
            case q.For(position=str() as position):
                raise self._refuse.counting(position)
            case q.For(source=source) if (
                stream := _stream_below(source, self._current)
            ) is not None:
                self._take_loop(clause, stream)
            case q.For(variable=variable, source=source):
                self._items[variable] = self._resolved(source)
                self._inner.append(clause)
            case q.Let(variable=variable, source=source):
                if clause.type is None:
                    self._values[variable] = self._resolved(source)
                self._inner.append(clause)
            case q.Where(test=test):
                self._tests += conjuncts(test)
            case _:
                raise self._refuse.ordering()

    def _take_loop(self, loop: q.For, stream: q.Stream) -> None:
        source = loop.source
        predicates = source.predicates if isinstance(source, x.Step | x.Filter) else ()
        is_about_others = any(free_variables(one) - self._known for one in predicates)
        if all(map(is_truth, predicates)) and (is_about_others or all(map(_is_inside, predicates))):
            # They are conditions like those of `where`, and may compare with another loop.
            item = q.Variable(loop.variable)
            for predicate in predicates:
                self._tests += conjuncts(replace_context(predicate, item))
            if isinstance(source, x.Step):
                source = replace(source, predicates=())
            elif isinstance(source, x.Filter):
                source = source.base
        elif is_about_others:
            raise self._refuse.reading()
        bound = _bound_by(source)
        if bound is None:
            raise self._refuse.binding(loop.variable)
        streams = [part for part in all_parts(source) if isinstance(part, q.Stream)]
        if free_variables(source) - self._known or len(streams) > 1:
            raise self._refuse.reading()
        self._loops.append((replace(loop, source=source), stream, bound))

    def _resolved(self, part: Any) -> Any:
        return substitute(part, self._values)

    def _sides_of(self, part: Any) -> set[int]:
        """Return the loops that a part depends on, through whatever variables."""
        numbers = {loop.variable: number for number, (loop, _, _) in enumerate(self._loops)}
        found, waiting, seen = set[int](), [*free_variables(part)], set[str]()
        sources = {one.variable: one.source for one in self._inner}
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            if name in numbers:
                found.add(numbers[name])
            elif name in sources:
                waiting += free_variables(sources[name])
        return found

    def _check_inside(self, parts: list[Any]) -> None:
        """See whether the message can be made of bindings alone."""
        for part in parts:
            if reads_documents(part) or reads_root(part) or has_context(part):
                raise self._refuse.reading()
        for inner in all_parts(*parts):
            match inner:
                case q.NodeCompare() | q.Combine() | x.Union() if len(self._sides_of(inner)) > 1:
                    raise self._refuse.comparing_nodes()
                case q.OrderBy() if inner in parts:
                    raise self._refuse.ordering()
                case _:
                    pass

    def _joined(self, result: Any) -> BindingJoin:
        own: list[list[Any]] = [[] for _ in self._loops]
        keys: list[list[Key]] = [[] for _ in self._loops]
        edges: list[Edge] = []
        kept: list[q.Where] = []
        for test in self._tests:
            resolved = self._resolved(test)
            numbers = self._sides_of(resolved)
            is_own = free_variables(resolved) <= self._known | self._loop_names()
            if len(numbers) == 1 and is_own:
                own[numbers.pop()].append(resolved)
                continue
            equal = equality_of(resolved, self._items, self._sides_of)
            if equal is not None:
                edges.append(_edge(equal, keys))
            if equal is None or not equal.is_exact:
                kept.append(q.Where(test))
        edges += self._within_documents(keys)
        self._check_connected(edges)
        if any(len(one) > KEYS_MAX for one in keys):
            raise self._refuse.many(STREAMS_MAX)
        clauses = (*self._inner, *kept)
        for part in (*clauses, result):
            if not is_downward(part):
                raise self._refuse.looking_around()
        if not all(is_downward(function.body) for function in self._output.functions):
            raise self._refuse.looking_around()
        sides = [
            Side(loop, stream.name, bound, tuple(own[number]), tuple(keys[number]))
            for number, (loop, stream, bound) in enumerate(self._loops)
        ]
        return BindingJoin(tuple(sides), tuple(dict.fromkeys(edges)), clauses, result)

    def _within_documents(self, keys: list[list[Key]]) -> Iterator[Edge]:
        """Yield the edges between loops over one document; the last key of each stands for it."""
        before: dict[str, int] = {}
        for number, (_, stream, _) in enumerate(self._loops):
            if stream.is_whole:
                continue
            if stream.name in before:
                first = before[stream.name]
                yield Edge((first, len(keys[first])), (number, len(keys[number])))
            before[stream.name] = number

    def _loop_names(self) -> set[str]:
        return {loop.variable for loop, _, _ in self._loops}

    def _check_connected(self, edges: list[Edge]) -> None:
        reached, count = {0}, 0
        while len(reached) > count:
            count = len(reached)
            for (left, _), (right, _) in edges:
                if left in reached or right in reached:
                    reached |= {left, right}
        for number, (loop, _, _) in enumerate(self._loops):
            if number not in reached:
                raise self._refuse.unconnected(self._loops[0][0].variable, loop.variable)


def _edge(equal: Equal, keys: list[list[Key]]) -> Edge:
    """Return the edge of an equality; its keys are added where they are new."""
    ends = []
    for side, source in ((equal.left_side, equal.left), (equal.right_side, equal.right)):
        key = Key(source, equal.is_number)
        if key not in keys[side]:
            keys[side].append(key)
        ends.append((side, keys[side].index(key)))
    return Edge(*ends)


def _is_inside(predicate: Any) -> bool:
    """Return whether a predicate looks at nothing outside of the node that it tests."""
    return is_downward(predicate) and not reads_root(predicate) and not reads_documents(predicate)


def _flattened(body: Any) -> tuple[list[Any], Any]:
    """Return the clauses of loops in loops, and what the innermost returns."""
    clauses: list[Any] = []
    while True:
        match body:
            case q.Flwor():
                clauses += body.clauses
                body = body.result
            case q.If(test=test, then=then, otherwise=q.Sequence(parts=())):
                clauses.append(q.Where(test))
                body = then
            case _:
                return clauses, body


def _stream_below(path: Any, current: str | None) -> q.Stream | None:
    """Return the stream that a path starts from; `/` is the document of the current one."""
    while isinstance(path, x.Step | x.Filter):
        path = path.base
    if isinstance(path, x.Root) and current is not None:
        return q.Stream(current)
    return path if isinstance(path, q.Stream) else None


def _bound_by(source: Any) -> NodeKind | None:
    """Return the kind of the nodes of a path, if it is one that can be joined."""
    while isinstance(source, x.Filter):
        source = source.base
    if not isinstance(source, x.Step):
        return None
    kind = source.test.kind
    is_attribute = source.axis is Axis.ATTRIBUTE
    if kind not in _BOUND or is_attribute != (kind is NodeKind.ATTRIBUTE):
        return None
    return kind
