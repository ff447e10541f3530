"""Variables of ``let`` that are read once are replaced by what they stand for.

What is only counted is then never listed, and what is only written is never built. A variable stays
where its value would be computed more often than before, or with another context item: inside a
loop, a predicate or the body of a path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from penstock.planning.sequences.parts import all_parts, parts_of, rewrite, substitute
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q


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
    return q.Flwor((), inlined) if isinstance(body, q.Flwor) else inlined


def _inlined(flwor: q.Flwor, counts: Counter[str]) -> Any:
    place = 0
    while place < len(flwor.clauses):
        match flwor.clauses[place]:
            case q.Let(variable=variable, source=source, type=None) if counts[variable] == 1:
                rest = q.Flwor(flwor.clauses[place + 1 :], flwor.result)
                if variable in _read_once(rest):
                    rest = substitute(rest, {variable: _enclosed(source)})
                    flwor = replace(rest, clauses=(*flwor.clauses[:place], *rest.clauses))
                    continue
            case _:
                pass
        place += 1
    return flwor if flwor.clauses else flwor.result


def _enclosed(source: Any) -> Any:
    """Return a source that counts as an item where it becomes content of a message."""
    is_constructor = isinstance(source, q.NewElement | q.NewAttribute)
    return q.Sequence((source,)) if is_constructor else source


def _read_once(flwor: q.Flwor) -> set[str]:
    """Return the variables that are read where each evaluation of a FLWOR comes at most once."""
    names = set()
    waiting: list[Any] = [flwor]
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
