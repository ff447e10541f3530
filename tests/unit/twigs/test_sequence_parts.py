"""Expressions over sequences are taken apart in the order of their printed form."""

from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import ANY_NODE, Axis
from penstock.twigs.sequence_parts import all_parts, depth_of, parts_of, roots_of, substitute

ONE, TWO, THREE = (q.Atomic("integer", text) for text in "123")


def test_clauses_and_keys_are_parts_with_parts_of_their_own() -> None:
    keys = (q.OrderKey(THREE), q.OrderKey(ONE))
    clauses = (q.For("a", ONE), q.Let("b", TWO), q.OrderBy(keys))
    assert parts_of(q.Flwor(clauses, TWO)) == [*clauses, TWO]
    assert parts_of(clauses[2]) == [*keys]
    atoms = [part for part in all_parts(q.Flwor(clauses, TWO)) if isinstance(part, q.Atomic)]
    assert atoms == [ONE, TWO, THREE, ONE, TWO]


def test_clauses_are_no_level_of_their_own() -> None:
    assert depth_of(q.Sequences(q.Flwor((q.For("a", ONE),), TWO))) == 2


def test_a_part_that_stays_is_the_same_object() -> None:
    flwor = q.Flwor((q.For("a", q.Variable("b")),), q.Variable("a"))
    assert substitute(flwor, {"c": ONE}) is flwor
    assert substitute(flwor, {"b": ONE}) == q.Flwor((q.For("a", ONE),), q.Variable("a"))


def test_cases_names_and_attributes_are_taken_apart() -> None:
    switch = q.TypeSwitch(ONE, (q.Case(None, "x", TWO),))
    assert parts_of(switch) == [ONE, q.Case(None, "x", TWO)]
    attribute = q.NewAttribute(q.Name("b"), (TWO,))
    assert parts_of(q.NewElement(ONE, (), (attribute, THREE))) == [ONE, attribute, THREE]
    assert list(all_parts(q.NewText(attribute))) == [q.NewText(attribute), attribute, TWO]


def test_the_roots_are_values_bodies_and_the_query_itself() -> None:
    function = q.Function(q.Name("f"), (), TWO)
    assert roots_of(q.Sequences(THREE, (function,), (q.Global("x", ONE),))) == [ONE, TWO, THREE]


def test_every_descendant_is_no_level_of_its_own() -> None:
    every = x.Step(x.Root(), Axis.DESCENDANT_OR_SELF, ANY_NODE)
    assert depth_of(q.Sequences(every)) == 1
    assert depth_of(q.Sequences(x.Step(every, Axis.CHILD, ANY_NODE))) == 2
    assert depth_of(q.Sequences(ONE, (), (q.Global("x", q.Signed("-", ONE)),))) == 2
