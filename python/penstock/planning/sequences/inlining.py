"""Variables of ``let`` that are read once are replaced by what they stand for.

What is only counted is then never listed, and what is only written is never built. A variable stays
where its value would be computed more often than before, or with another context item: inside a
loop, a predicate or the body of a path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.sequence_parts import all_parts, parts_of, rewrite, substitute

DEPTH_MAX = 40
"""The levels of expressions in a value that is inlined."""


def inline_variables(body: Any) -> Any:
    """Return an expression that has the same value, with fewer variables.

    Where the body is a FLWOR it stays one, so that a constructor in it gives a row, not a message.
    """
    if not any(isinstance(part, q.Let) for part in all_parts(body)):
        return body
    counts = Counter(part.name for part in all_parts(body) if isinstance(part, q.Variable))

    def change(part: Any) -> Any:
        return _inlined(part, counts) if isinstance(part, q.Flwor) else part

    inlined = rewrite(body, change)
    is_message = isinstance(inlined, q.NewElement | q.NewDocument)
    return q.Flwor((), inlined) if is_message and isinstance(body, q.Flwor) else inlined


def _inlined(flwor: q.Flwor, counts: Counter[str]) -> Any:
    parts: list[Any] = [*flwor.clauses, flwor.result]
    readers = _readers(parts, counts)
    values: dict[int, dict[str, Any]] = {}
    kept: list[Any] = []
    # The value of a variable is complete before the part that reads it is changed.
    for place, part in enumerate(parts):
        if place in values:
            part = substitute(part, values[place])
        match part:
            case q.Let(variable=variable, source=source, type=None) if readers.get(
                variable, -1
            ) > place and _is_shallow(source):
                values.setdefault(readers[variable], {})[variable] = _enclosed(source)
            case _:
                kept.append(part)
    *clauses, result = kept
    return q.Flwor(tuple(clauses), result) if clauses else result


def _readers(parts: list[Any], counts: Counter[str]) -> dict[str, int]:
    """Return where in a FLWOR variables are read, of those that are read once in all.

    A variable of ``let`` is left out if its reader is in a loop that the variable is not in.
    """
    readers: dict[str, int] = {}
    bound: set[str] = set()
    for place, part in enumerate(parts):
        names = _read_once(part.source if isinstance(part, q.For) else part)
        readers |= {name: place for name in names & bound if counts[name] == 1}
        if isinstance(part, q.For):
            bound = set()
        elif isinstance(part, q.Let):
            bound.add(part.variable)
    return readers


def _is_shallow(part: Any) -> bool:
    """Return whether a part may go inside others: a chain of variables must not become a tower."""
    level = [part]
    for _ in range(DEPTH_MAX):
        level = [inner for outer in level for inner in parts_of(outer)]
        if not level:
            return True
    return False


def _enclosed(source: Any) -> Any:
    """Return a source that counts as an item where it becomes content of a message."""
    is_constructor = isinstance(source, q.NewElement | q.NewAttribute)
    return q.Sequence((source,)) if is_constructor else source


def _read_once(part: Any) -> set[str]:
    """Return the variables that a part reads where it evaluates them at most once."""
    names = set()
    waiting: list[Any] = [part]
    while waiting:
        part = waiting.pop()
        if isinstance(part, q.Variable):
            names.add(part.name)
        waiting += _evaluated_once(part)
    return names


def _evaluated_once(part: Any) -> Iterator[Any]:
    """Yield the parts that are evaluated at most once, with the same context item."""
    match part:
        case x.Step(base=base) | x.Filter(base=base) | q.Each(base=base):
            yield base
        case q.Flwor(clauses=clauses, result=result):
            for clause in clauses:
                yield from parts_of(clause)
                if isinstance(clause, q.For):
                    return
            yield result
        case q.Quantified(bindings=bindings):
            yield bindings[0].source
        case q.OrderBy(keys=keys):
            yield from [key.key for key in keys]
        case _:
            yield from parts_of(part)
