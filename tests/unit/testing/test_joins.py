"""Windows, directions, absence and chains of joined documents."""

import pytest

from penstock.twigs import Branch, Comparison, Event, Join, JoinKind, Query
from penstock_testing.reference import Arrival, events, join
from penstock_testing.tree import parse
from tests.unit.testing.builders import block, child

LEFT = block(child("a", Branch(child("k", to="k1")), Branch(child("n", to="n1")), to="x1"))
RIGHT = block(child("a", Branch(child("k", to="k2")), Branch(child("n", to="n2")), to="x2"))


def arrival(name: str, time: float, key: str = "v", number: int = 1) -> Arrival:
    return Arrival(name, parse(f"<a><k>{key}</k><n>{number}</n></a>"), time)


def query(kind: JoinKind, window: float | None = None, *inequalities: Comparison) -> Query:
    joins = (Join(kind, 1, (("k1", "k2"),), window, inequalities),)
    return Query((LEFT, RIGHT), Event(), joins=joins)


def pairs(asked: Query, *arrivals: Arrival) -> list[tuple[str, ...]]:
    return [joined.documents for joined in join(asked, arrivals)]


def test_join_reports_both_orientations_ties_included() -> None:
    asked = query(JoinKind.JOIN, 5)
    assert pairs(asked, arrival("p", 0), arrival("q", 0)) == [("p", "q"), ("q", "p")]


def test_join_window_includes_its_bound() -> None:
    asked = query(JoinKind.JOIN, 5)
    assert len(pairs(asked, arrival("p", 0), arrival("q", 5))) == 2
    assert pairs(asked, arrival("p", 0), arrival("q", 5.5)) == []


def test_a_document_does_not_join_itself() -> None:
    assert pairs(query(JoinKind.JOIN), arrival("p", 0)) == []


def test_order_of_arrival_does_not_matter() -> None:
    early, late = arrival("p", 0), arrival("q", 1)
    asked = query(JoinKind.FOLLOWED_BY)
    assert pairs(asked, early, late) == pairs(asked, late, early) == [("p", "q")]


def test_different_values_do_not_meet() -> None:
    assert pairs(query(JoinKind.JOIN), arrival("p", 0), arrival("q", 0, "w")) == []


def test_absence_reports_what_nothing_followed() -> None:
    asked = query(JoinKind.NOT_FOLLOWED_BY, 5)
    assert pairs(asked, arrival("p", 0), arrival("q", 5), arrival("r", 11)) == [("q",), ("r",)]


@pytest.mark.parametrize(("operator", "count"), [("<", 1), (">", 0), ("!=", 1), (">=", 0)])
def test_inequalities_stand_beside_an_equality(operator: str, count: int) -> None:
    asked = query(JoinKind.FOLLOWED_BY, None, Comparison("n1", operator, "n2"))
    assert len(pairs(asked, arrival("p", 0, "v", 9), arrival("q", 1, "v", 10))) == count


def test_a_chain_counts_from_its_latest_part() -> None:
    third = block(child("a", Branch(child("k", to="k3")), to="x3"))
    joins = (
        Join(JoinKind.FOLLOWED_BY, 1, (("k1", "k2"),), 5),
        Join(JoinKind.FOLLOWED_BY, 2, (("k2", "k3"),), 5),
    )
    asked = Query((LEFT, RIGHT, third), Event(), joins=joins)
    found = join(asked, [arrival("p", 0), arrival("q", 4), arrival("r", 8), arrival("s", 20)])
    assert [(joined.documents, joined.time) for joined in found] == [(("p", "q", "r"), 8)]


def test_one_result_per_distinct_selection() -> None:
    twice = Arrival("p", parse("<a><k>v</k><k>v</k><n>1</n></a>"), 0)
    joins = (Join(JoinKind.FOLLOWED_BY, 1, (("k1", "k2"),)),)
    asked = Query((LEFT, RIGHT), Event(select=("x1", "x2")), joins=joins)
    assert len(join(asked, [twice, arrival("q", 1)])) == 2
    assert len(events(asked, [twice, arrival("q", 1)])) == 1


def test_blocks_read_their_own_stream() -> None:
    left = block(child("a", Branch(child("k", to="k1")), to="x1"), stream="s")
    right = block(child("a", Branch(child("k", to="k2")), to="x2"), stream="t")
    asked = Query((left, right), Event(), joins=(Join(JoinKind.MEET, 1, (("k1", "k2"),)),))
    tree = parse("<a><k>v</k></a>")
    assert pairs(asked, Arrival("p", tree, 0, "s"), Arrival("q", tree, 0, "t")) == [("p", "q")]
