"""The class of costs that a verdict names bounds how counted work grows with the document."""

import math
from random import Random

import pytest

from penstock import verdict, xpath
from penstock.kernel import Plan, Session
from penstock.limits import Limits
from penstock.planning.compile import compile_query
from penstock.planning.verdicts import Cost

AXES = ("preceding", "following", "preceding-sibling", "following-sibling", "ancestor", "parent")
POSITIONS = (
    "",
    "",
    "[position()]",
    "[position() mod 2 = 1]",
    "[position() > 2]",
    "[2]",
    "[last()]",
)
USES = ("//{}", "//a[{}]", "//a[{} = .]", "//a[count({}) > 2]", "//b[sum({}) > 2]", "//a[{} = {}]")
SIZES = (16, 32, 64)
"""Records; work over the first ones is taken away, so that only growth is left."""
MOST = {Cost.FLAT: 1.6, Cost.KEPT: 1.6, Cost.PAIRS: 2.7}
"""The powers that the work of a class may grow with; logarithms and small sizes add to the whole
number."""
NONE = Limits(
    **dict.fromkeys(("pairs_max", "steps_max", "candidates_max", "buffer_bytes_max"), 1 << 50),
    memory_bytes_max=1 << 30,
)
COUNT = 80
DEAREST = "//preceding::*[position()]/following::*/preceding::*"


def write_path(random: Random) -> str:
    names = ("*", "a", "b")
    steps = (
        f"{random.choice(AXES)}::{random.choice(names)}{random.choice(POSITIONS)}"
        for _ in range(random.choice((1, 1, 2, 2, 3)))
    )
    return "/".join(steps)


def write_query(random: Random) -> str:
    use = random.choice(USES)
    return use.format(*(write_path(random) for _ in range(use.count("{}"))))


def work(query: str, records: int) -> int:
    """Return the steps that a document of so many records takes."""
    plan = Plan.build([compile_query(xpath(query))])
    session = Session(plan, NONE)
    session.begin()
    session.feed(b"<r>")
    for number in range(records):
        session.feed(f"<a><b>{number}</b></a>".encode())
        session.take()
    session.feed(b"</r>")
    session.finish()
    return session.statistics().steps


def power(query: str, sizes: tuple[int, int, int] = SIZES) -> float:
    """Return the power of the number of records that the work grows with."""
    first, second, third = (work(query, records) for records in sizes)
    return math.log2(max(third - second, 1) / max(second - first, 1))


def test_the_class_bounds_the_growth_of_work() -> None:
    random = Random(27)
    seen: set[Cost] = set()
    for _ in range(COUNT):
        query = write_query(random)
        cost = verdict(xpath(query)).cost
        seen.add(cost)
        if cost in MOST:
            assert power(query) < MOST[cost], f"{query} is said to be {cost.name}"
    assert seen >= {Cost.FLAT, Cost.PAIRS, Cost.POWERS}


@pytest.mark.parametrize(
    ("query", "least"),
    [
        (DEAREST, 3.8),
        ("//preceding::*[position()]/following::*", 2.8),
        ("//b[sum(following::b/preceding::b) > 2]", 3.5),
    ],
)
def test_what_grows_with_a_higher_power_is_no_pairs(query: str, least: float) -> None:
    assert verdict(xpath(query)).cost is Cost.POWERS
    assert power(query, (6, 12, 24)) > least
