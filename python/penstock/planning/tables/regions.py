"""Where the records of a table lie: the steps to their regions, and the rest of the path.

The first steps of a record path, elements without positions, are matched by events and lead to the
*region*. Their predicates become a condition of the region's element, which looks back at the
elements around it: what a predicate asks of a header then needs no larger region. The other steps
are evaluated in the region, from ``Here``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock.twigs import expressions as x
from penstock.twigs.nodetests import DOCUMENT_NODE, Axis, NodeKind
from penstock.twigs.own_parts import is_positional


@dataclass(frozen=True, slots=True)
class Region:
    """The steps to regions, and the records from each element of one.

    Without steps the document is the only region.
    """

    steps: tuple[x.Step, ...]
    records: x.Nodes


def region_of(record: x.Nodes) -> Region:
    """Return where the records of a path lie."""
    path: x.Nodes = record
    steps: list[x.Step] = []
    while isinstance(path, x.Step):
        steps.append(path)
        path = path.base
    steps.reverse()
    known = 0
    while known < len(steps) and _is_matched(steps[known]):
        known += 1
    if not isinstance(path, x.Root) or not known:
        return Region((), record)
    records: x.Nodes = x.Here()
    if any(step.predicates for step in steps[:known]):
        records = x.Filter(records, (_condition(steps[:known]),))
    for step in steps[known:]:
        records = replace(step, base=records)
    return Region(tuple([replace(step, predicates=()) for step in steps[:known]]), records)


def _is_matched(step: x.Step) -> bool:
    """Return whether events tell that an element is one of the step, but for its predicates."""
    is_down = step.axis in (Axis.CHILD, Axis.DESCENDANT)
    is_element = step.test.kind is NodeKind.ELEMENT
    return is_down and is_element and not any(map(is_positional, step.predicates))


def _condition(steps: list[x.Step]) -> x.Atom:
    """Return when an element that the last step reaches is reached through all of them."""
    condition: x.Atom | None = None
    above: x.Step | None = None
    for step in steps:
        parts = [*step.predicates]
        if above is None:
            # The document is above the first step.
            if step.axis is Axis.CHILD:
                parts.append(x.Exists(x.Step(x.Here(), Axis.PARENT, DOCUMENT_NODE)))
        else:
            up = Axis.PARENT if step.axis is Axis.CHILD else Axis.ANCESTOR
            predicates = () if condition is None else (condition,)
            parts.append(x.Exists(x.Step(x.Here(), up, above.test, predicates)))
        condition = None
        if parts:
            condition = parts[0] if len(parts) == 1 else x.And(tuple(parts))
        above = step
    return x.TRUE if condition is None else condition
