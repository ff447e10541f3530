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

from penstock.planning.values import call, is_true
from penstock.twigs import Axis, NodeKind, NodeTest, Slot, ValueType
from penstock.twigs import expressions as x
from penstock.twigs.blanks import Atom as Constant
from penstock.twigs.nodetests import ANY_NODE, DOCUMENT_NODE
from penstock.twigs.own_parts import own_parts, replace_own_parts
from penstock.twigs.parts import map_parts, parts_of
from penstock.twigs.slots import SlotTable

_UNDER = (Axis.CHILD, Axis.ATTRIBUTE, Axis.NAMESPACE)
_NOTHING: dict[ValueType, Constant] = {
    ValueType.BOOLEAN: False,
    ValueType.NUMBER: 0.0,
    ValueType.STRING: "",
}
"""What an atom says of a set without nodes."""


def ask_parents(
    expression: x.Expression,
    slots: SlotTable,
    here: NodeTest = ANY_NODE,
    parent: NodeTest = ANY_NODE,
) -> Any:
    """Return the expression with atoms at parents where that is possible.

    ``slots`` gets the constants that are new; ``here`` and ``parent`` are tests that the context
    node and its parent, if any, are known to pass.
    """
    match expression:
        case x.Step(base=x.Here(), axis=Axis.PARENT, test=test, predicates=()) if test == ANY_NODE:
            return x.Step(x.Here(), Axis.PARENT, parent)
        case x.Step(base=base, axis=axis, test=test, predicates=predicates):
            around = test_of(base, here) if axis in _UNDER else ANY_NODE
            base = ask_parents(base, slots, here, parent)
            asked = [ask_parents(one, slots, test, around) for one in predicates]
            return x.Step(base, axis, test, tuple(asked))
        case x.Filter(base=base, predicates=predicates):
            inside = test_of(base, here)
            base = ask_parents(base, slots, here, parent)
            return x.Filter(base, tuple([ask_parents(one, slots, inside) for one in predicates]))
        case x.Here() | x.Root() | x.Union() | x.Identified():
            tests = None
        case _:
            tests = _parent_tests(expression)
    if tests is None or len(tests) != 1 or not _goes_on(expression):
        return map_parts(expression, lambda part: ask_parents(part, slots, here, parent))
    test = tests.pop()
    test = parent if test == ANY_NODE else test
    inner = replace_own_parts(expression, _at_parent)
    nothing = _value_of_nothing(inner, slots)
    is_truth = x.type_of(inner) is ValueType.BOOLEAN
    otherwise = slots.add(is_true(nothing) if is_truth else nothing)
    return x.Above(test, ask_parents(inner, slots, test), otherwise)


def test_of(nodes: x.Nodes, here: NodeTest) -> NodeTest:
    """Return a test that all nodes of a set pass, if the context node passes ``here``."""
    match nodes:
        case x.Here():
            return here
        case x.Root():
            return DOCUMENT_NODE
        case x.Step(test=test):
            return test
        case x.Filter(base=base):
            return test_of(base, here)
        case x.Identified():
            return NodeTest(NodeKind.ELEMENT)
        case x.Union(parts=parts):
            tests = {test_of(part, here) for part in parts}
            return tests.pop() if len(tests) == 1 else ANY_NODE
        case x.TwigNode():
            raise AssertionError("a twig stands in no expression")


def _parent_tests(part: x.Expression) -> set[NodeTest] | None:
    """Return the tests of the first steps of all sets; None if some first step is no such step."""
    match part:
        case x.Step(base=x.Here(), axis=Axis.PARENT, test=test, predicates=()):
            return {test}
        case x.Step(base=x.Here()):
            return None
        case x.Step(base=base) | x.Filter(base=base):
            return _parent_tests(base)
        case x.Here() | x.Root() | x.Identified() | x.Position() | x.Last() | x.Above():
            return None
    tests: set[NodeTest] = set()
    for inner in parts_of(part):
        inner_tests = _parent_tests(inner)
        if inner_tests is None:
            return None
        tests |= inner_tests
    return tests


def _goes_on(atom: x.Expression) -> bool:
    """Return whether some set of an atom is more than the parent itself."""
    return any(
        isinstance(part, x.Step | x.Filter) and not isinstance(part.base, x.Here)
        for part in own_parts(atom)
    )


def _at_parent(part: x.Expression) -> x.Nodes | None:
    """Return the context node for the step that leads to it."""
    return x.Here() if isinstance(part, x.Step) and isinstance(part.base, x.Here) else None


def _value_of_nothing(atom: x.Atom, slots: SlotTable) -> Constant:
    """Return the value of an atom whose sets are empty."""
    match atom:
        case Slot() | x.Constant():
            return slots[atom]
        case x.Compare(operator=operator, left=left, right=right):
            return call(operator, [_value_of_nothing(part, slots) for part in (left, right)])
        case x.Call(function=function, arguments=arguments):
            return call(function, [_value_of_nothing(part, slots) for part in arguments])
        case x.And(parts=parts):
            return all(is_true(_value_of_nothing(part, slots)) for part in parts)
        case x.Or(parts=parts):
            return any(is_true(_value_of_nothing(part, slots)) for part in parts)
        case x.Not(part=part):
            return not is_true(_value_of_nothing(part, slots))
        case _:
            return _NOTHING[x.type_of(atom)]
