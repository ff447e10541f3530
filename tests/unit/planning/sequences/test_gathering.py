"""Which parts of a query are evaluated binding by binding."""

import pytest

import penstock
from penstock.planning.sequences.gathering import Gather, Gathering
from penstock.planning.sequences.normal import normalise
from penstock.planning.sequences.streams import read_current
from penstock.twigs import sequences as q


def gathers_of(text: str) -> list[Gather]:
    query = penstock.xquery(text).output
    assert isinstance(query, q.Sequences)
    normal = normalise(read_current(query))
    gathering = Gathering(normal)
    gathering.cut(normal.body)
    return gathering.gathers


def regions(text: str) -> list[tuple[str, str]]:
    """Return the names on the way to regions, and the folds."""
    return [
        ("/".join(step.test.local or "*" for step in gather.steps), gather.fold)
        for gather in gathers_of(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for $b in /a/b return $b", [("a/b", "items")]),
        ("for $b at $i in /a/b[c] return $i", [("a/b", "items")]),
        ("/a/b[@id = 'x']/c", [("a/b", "items")]),
        ("//b/c/string()", [("b/c", "items")]),
        ("count(//b)", [("b", "count")]),
        ("<r>{count(/a/b), sum(/a/c)}</r>", [("a/b", "count"), ("a/c", "sum")]),
        ("count(for $b in /a/b where $b/c > 1 return $b)", [("a/b", "count")]),
        ("let $d := doc('x') return for $b in $d/a/b return $b", [("a/b", "items")]),
        ("for $a in /a return count($a//b)", [("a", "exists"), ("a/b", "count")]),
        ("if (exists(//b)) then count(//c) else 0", [("b", "exists"), ("c", "count")]),
        ("declare variable $n := 3; for $b in //b where $b/@n = $n return $b", [("b", "items")]),
    ],
)
def test_bindings_that_stand_alone_are_gathered(text: str, expected: list[object]) -> None:
    assert regions(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "for $b in /a/b order by $b/c return $b",
        "for $b at $i in (/a/b)[2] return $i",
        "for $b at $i in /a/b order by $b/c return $i",
        "for $b in /a/b where $b/c = /a/d return $b",
        "for $b in /a/b return $b/..",
        "for $b in /a/b return $b/following-sibling::b[1]",
        "(//b)[2]",
        "for $b in (//b | //c) return $b",
        "declare function local:f() { doc('x')//c }; for $b in //b return local:f()",
        "declare variable $n := count(//c); for $b in //b where $b/@n = $n return $b",
    ],
)
def test_bindings_that_depend_on_others_wait(text: str) -> None:
    assert [fold for _, fold in regions(text) if fold == "items"] == []


def test_a_position_is_counted_among_all_siblings() -> None:
    assert regions("/a/b[2]/c") == [("a", "items")]


def test_elements_that_are_only_counted_need_no_region() -> None:
    assert [gather.is_counted for gather in gathers_of("count(//b)")] == [True]
    assert [gather.is_counted for gather in gathers_of("count(//b[c])")] == [False]
