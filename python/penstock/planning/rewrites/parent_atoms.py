"""What is asked of the parent is evaluated there, once for all its children.

``a[count(../b) > 5]`` asks every ``a`` the same question about its parent. It becomes
``a[above(parent::node(), count(b) > 5, false)]``: the atom is wired at the parent when that opens,
and its children take the answer. A node without such a parent has the value that the atom has of
empty sets, which is a constant.

An atom is as large as can be: whole comparisons and connectives, as long as all their sets begin
with the same step to the parent and some set goes on from there. The step has no predicates: when
the parent opens they are undecided, and a count that waits for them ends later than one that is
asked afterwards.
"""

from __future__ import annotations

from typing import Any

from penstock.planning.values import call, compare, is_true
from penstock.twigs import Axis, NodeKind, NodeTest, Slot, ValueType
from penstock.twigs.blanks import Atom as Constant
from penstock.twigs.expression_parts import own_parts, parts_of, replace_own_parts, with_parts
from penstock.twigs.expressions import (
    Above,
    All,
    Apply,
    Atom,
    Expression,
    Filter,
    Here,
    Identified,
    Inverse,
    Last,
    Nodes,
    Position,
    Root,
    Some,
    Step,
    Union,
    atom_type,
)
from penstock.twigs.logic import FLIPPED
from penstock.twigs.nodetests import ANY_NODE, DOCUMENT_NODE
from penstock.twigs.slots import SlotTable

_UNDER = (Axis.CHILD, Axis.ATTRIBUTE, Axis.NAMESPACE)
_NOTHING: dict[ValueType, Constant] = {
    ValueType.BOOLEAN: False,
    ValueType.NUMBER: 0.0,
    ValueType.STRING: "",
}
"""What an atom says of a set without nodes."""


def ask_parents(
    expression: Expression,
    slots: SlotTable,
    here: NodeTest = ANY_NODE,
    parent: NodeTest = ANY_NODE,
) -> Any:
    """Return the expression with atoms at parents where that is possible.

    ``slots`` gets the constants that are new; ``here`` and ``parent`` are tests that the context
    node and its parent, if any, are known to pass.
    """
    match expression:
        case Step(base=Here(), axis=Axis.PARENT, test=test, predicates=()) if test == ANY_NODE:
            return Step(Here(), Axis.PARENT, parent)
        case Step(base=base, axis=axis, test=test, predicates=predicates):
            around = test_of(base, here) if axis in _UNDER else ANY_NODE
            base = ask_parents(base, slots, here, parent)
            asked = [ask_parents(one, slots, test, around) for one in predicates]
            return Step(base, axis, test, tuple(asked))
        case Filter(base=base, predicates=predicates):
            inside = test_of(base, here)
            base = ask_parents(base, slots, here, parent)
            return Filter(base, tuple([ask_parents(one, slots, inside) for one in predicates]))
        case Here() | Root() | Union() | Identified():
            tests = None
        case _:
            tests = _parent_tests(expression)
    if tests is None or len(tests) != 1 or not _goes_on(expression):
        parts = [ask_parents(part, slots, here, parent) for part in parts_of(expression)]
        return with_parts(expression, parts)
    test = tests.pop()
    test = parent if test == ANY_NODE else test
    inner = replace_own_parts(expression, _at_parent)
    otherwise = slots.add(_value_of_nothing(inner, slots))
    return Above(test, ask_parents(inner, slots, test), otherwise)


def test_of(nodes: Nodes, here: NodeTest) -> NodeTest:
    """Return a test that all nodes of a set pass, if the context node passes ``here``."""
    match nodes:
        case Here():
            return here
        case Root():
            return DOCUMENT_NODE
        case Step(test=test):
            return test
        case Filter(base=base):
            return test_of(base, here)
        case Identified():
            return NodeTest(NodeKind.ELEMENT)
        case Union(parts=parts):
            tests = {test_of(part, here) for part in parts}
            return tests.pop() if len(tests) == 1 else ANY_NODE


def _parent_tests(part: Expression) -> set[NodeTest] | None:
    """Return the tests of the first steps of all sets; None if some first step is no such step."""
    match part:
        case Step(base=Here(), axis=Axis.PARENT, test=test, predicates=()):
            return {test}
        case Step(base=Here()):
            return None
        case Step(base=base) | Filter(base=base):
            return _parent_tests(base)
        case Here() | Root() | Identified() | Position() | Last() | Above():
            return None
    tests: set[NodeTest] = set()
    for inner in parts_of(part):
        found = _parent_tests(inner)
        if found is None:
            return None
        tests |= found
    return tests


def _goes_on(atom: Expression) -> bool:
    """Return whether some set of an atom is more than the parent itself."""
    return any(
        isinstance(part, Step | Filter) and not isinstance(part.base, Here)
        for part in own_parts(atom)
    )


def _at_parent(part: Expression) -> Nodes | None:
    """Return the context node for the step that leads to it."""
    return Here() if isinstance(part, Step) and isinstance(part.base, Here) else None


def _value_of_nothing(atom: Atom, slots: SlotTable) -> Constant:
    """Return the value of an atom whose sets are empty."""
    match atom:
        case Slot():
            return slots[atom]
        case Apply(function=function, arguments=arguments):
            values = [_value_of_nothing(one, slots) for one in arguments]
            if function in FLIPPED:
                return compare(function, values[0], values[1])
            return call(function, values)
        case All(parts=parts):
            return all(is_true(_value_of_nothing(part, slots)) for part in parts)
        case Some(parts=parts):
            return any(is_true(_value_of_nothing(part, slots)) for part in parts)
        case Inverse(part=part):
            return not is_true(_value_of_nothing(part, slots))
        case _:
            return _NOTHING[atom_type(atom)]
