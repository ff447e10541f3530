"""Rows fall into rounds: what a round reads is made by rounds before it."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from papers.mmqjp.spark.rounds import Plan, publishers_first
from penstock.planning.programs import compile_program
from penstock.planning.templates import Row

AB = "A//a->x FOLLOWED BY{x = y, 5} B//b->y"


def programs_of(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {name: compile_program(text, language="xscl") for name, text in texts.items()}


def plan_of(**texts: str) -> Plan:
    return Plan(programs_of(texts))


def rounds_of(plan: Plan) -> dict[str, int]:
    """Return the round of each subscription's last row."""
    return {
        one.name: number
        for number, round_ in enumerate(plan.rounds)
        for one in plan.subscribers
        if one.row in round_.rows
    }


def test_a_chain_has_a_round_for_each_operator() -> None:
    plan = plan_of(three=f"{AB} JOIN{{x = z, 5}} C//c->z", two=AB, one="A//a->x")
    assert rounds_of(plan) == {"three": 1, "two": 0, "one": 0}
    assert plan.parts_of(next(iter(plan.rounds[1].rows.values()))) == 3


def test_readers_come_after_all_publishers_of_their_stream() -> None:
    texts = {
        "reader": "P//e->x JOIN{x = y, 5} B//b->y PUBLISH Q",
        "last": "A//a->x FOLLOWED BY{x = y, 5} Q//e->y",
        "one": f"SELECT <e>{{x}}</e> FROM {AB} PUBLISH P",
        "other": f"SELECT <e>{{x}}</e> FROM {AB} JOIN{{x = z, 5}} C//c->z PUBLISH P",
    }
    names = list(texts)
    Random(1).shuffle(names)
    plan = plan_of(**{name: texts[name] for name in names})
    assert rounds_of(plan) == {"one": 0, "other": 1, "reader": 2, "last": 3}
    ordered = publishers_first(programs_of({name: texts[name] for name in names}))
    assert ordered.index("reader") > max(ordered.index("one"), ordered.index("other"))
    assert ordered.index("last") > ordered.index("reader")


def test_equal_rows_are_one_row() -> None:
    longer = f"{AB} JOIN{{x = z, 5}} C//c->z"
    plan = plan_of(one=AB, same=AB, longer=longer, again=longer)
    rows = [row for round_ in plan.rounds for row in round_.rows.values()]
    # The first operator of the chain keeps other nodes than the pair alone.
    assert len(rows) == 3
    assert len({one.row for one in plan.subscribers}) == 2


def test_rows_of_one_template_are_one_group_whatever_they_keep() -> None:
    plan = plan_of(
        all=AB,
        left=f"SELECT x FROM {AB}",
        until="A//a->x JOIN{x = y, INF} B//b->y",
        absent="A//a->x NOT FOLLOWED BY{x = y, 5} B//b->y",
    )
    (group,) = plan.rounds[0]
    assert len(group.rows) == 4
    assert all(isinstance(row, Row) for row in group.rows.values())
    # JOIN and FOLLOWED BY differ in distances alone.
    assert len(group.shapes) == 3
