"""Conditions are built flat and without what changes nothing."""

from penstock.twigs import FALSE, TRUE, And, Call, Condition, Not, Or, Slot, ValueType
from penstock.twigs.logic import conjunction, conjuncts, disjunction, negation

A, B, C = (Call("boolean", (Slot(index, ValueType.STRING),)) for index in range(3))


def test_nothing_to_join_is_neutral() -> None:
    assert conjunction() == TRUE
    assert disjunction() == FALSE


def test_one_part_stands_alone() -> None:
    assert conjunction(A, TRUE) == A
    assert disjunction(FALSE, A) == A


def test_parts_of_the_same_kind_are_flat() -> None:
    assert conjunction(And((A, B)), C) == And((A, B, C))
    assert disjunction(A, Or((B, C))) == Or((A, B, C))
    assert conjunction(A, Or((B, C))) == And((A, Or((B, C))))


def test_one_part_may_decide() -> None:
    assert conjunction(A, FALSE) == FALSE
    assert disjunction(TRUE, A) == TRUE


def test_negation_undoes_itself() -> None:
    assert negation(Not(A)) == A
    assert negation(TRUE) == FALSE
    assert negation(A) == Not(A)


def test_conjuncts_are_what_must_hold() -> None:
    cases: list[tuple[Condition, tuple[Condition, ...]]] = [
        (TRUE, ()),
        (A, (A,)),
        (And((A, B)), (A, B)),
        (Or((A, B)), (Or((A, B)),)),
    ]
    for condition, parts in cases:
        assert conjuncts(condition) == parts
