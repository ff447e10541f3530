"""Which queries over several streams are joined, and what the others are told."""

from __future__ import annotations

import pytest

import penstock
from penstock.errors import QueryError
from penstock.planning.bindings import BindingProgram
from penstock.planning.programs import compile_program

LOOPS = "for $a in doc('s')//a, $b in doc('t')//b "


def program_of(text: str, **options: str) -> BindingProgram:
    return BindingProgram.read(compile_program(penstock.xquery(text, **options)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "code", "underlined"),
    [
        (LOOPS + "return $a", "PQ0535", "$b"),
        (LOOPS + "where $a/k < $b/k return $a", "PQ0535", "$b"),
        (LOOPS + "where $a/k = $b/k or $a/l = $b/l return $a", "PQ0535", "$b"),
        (LOOPS + "where $a/k = $b/k order by $a/k return $a", "PQ0536", "order by"),
        ("for $a at $n in doc('s')//a, $b in doc('t')//b where $a = $b return $n", "PQ0536", "$n"),
        (LOOPS + "where $a/k = $b/k return $a/..", "PQ0538", None),
        (LOOPS + "where $a/k = $b/k return root($a)", "PQ0538", None),
        (LOOPS + "where $a/k = $b/k return ($a | $b)", "PQ0538", None),
        (LOOPS + "where $a/k = $b/k and $a << $b return $a", "PQ0538", None),
        ("for $a in doc('s')//a, $b in doc('t') where $a = $b return $a", "PQ0537", "$b"),
        ("for $a in doc('s')//a return count(doc('t')//b)", "PQ0532", None),
        ("for $a in doc('s')//a let $b := doc('t')//b[k = $a/k] return $b", "PQ0532", None),
        (f"<all>{{{LOOPS} where $a = $b return $a}}</all>", "PQ0532", None),
        (LOOPS + "where $a/k = $b/k return doc('s')//c", "PQ0532", None),
        (
            "for $a in //a, $b in doc('s')//b, $c in doc('t')//c where $b = $c return $a",
            "PQ0532",
            None,
        ),
    ],
)
def test_what_cannot_be_joined_is_rejected_with_a_way_out(
    text: str, code: str, underlined: str | None
) -> None:
    with pytest.raises(QueryError) as caught:
        compile_program(penstock.xquery(text))
    error = caught.value
    assert error.code == code
    assert error.help
    start, end = error.span
    assert text[start:end] == (text if underlined is None else underlined)


@pytest.mark.parametrize(
    "text",
    [
        LOOPS + "where $a/k = $b/k return $a",
        "for $a in doc('s')//a for $b in doc('t')//b where $a/k = $b/k return $a",
        "for $a in doc('s')//a return for $b in doc('t')//b where $a/k = $b/k return $a",
        LOOPS + "return if ($a/k = $b/k) then $a else ()",
        "for $a in doc('s')//a, $b in doc('t')//b[$a/k = k] return $a",
        LOOPS + "let $k := $a/k where $k = $b/k return $a",
    ],
)
def test_all_ways_to_write_a_join_are_the_same_join(text: str) -> None:
    program = program_of(text)
    assert [side.stream for side in program.sides] == ["s", "t"]
    assert program.edges == program_of(LOOPS + "where $a/k = $b/k return $a").edges
    assert [side.program for side in program.sides] == [
        side.program for side in program_of(LOOPS + "where $a/k = $b/k return $a").sides
    ]


def test_each_pair_may_have_its_own_equality() -> None:
    text = (
        "for $a in doc('s')//a, $b in doc('t')//b, $c in doc('u')//c "
        "where $a/k = $b/k and $b/l = $c/l and $a/k = $c/m return $c"
    )
    program = program_of(text)
    assert [side.key_count for side in program.sides] == [1, 2, 2]
    assert len(program.edges) == 3


def test_more_than_eight_loops_are_too_many() -> None:
    def text(count: int) -> str:
        loops = ", ".join(f"$v{n} in doc('s{n}')//a" for n in range(count))
        tests = " and ".join(f"$v{n} = $v{n + 1}" for n in range(count - 1))
        return f"for {loops} where {tests} return $v0"

    assert len(program_of(text(8)).sides) == 8
    with pytest.raises(QueryError, match="PQ0534"):
        program_of(text(9))


@pytest.mark.parametrize(
    ("within", "us"),
    [("2 h", 7_200_000_000), ("90", 90_000_000), ("1.5min", 90_000_000), ("INF", None)],
)
def test_windows_have_units(within: str, us: int | None) -> None:
    assert program_of(LOOPS + "where $a = $b return $a", within=within).within_us == us


@pytest.mark.parametrize("within", ["soon", "2 hrs", "-1 s", ""])
def test_a_window_that_is_none_is_rejected(within: str) -> None:
    with pytest.raises(QueryError, match="PQ0512"):
        penstock.xquery(LOOPS + "where $a = $b return $a", within=within)


def test_one_stream_has_no_window() -> None:
    with pytest.raises(QueryError, match="PQ0512"):
        compile_program(penstock.xquery("doc('s')//a", within="2 h"))


def test_the_picture_has_a_line_for_each_stream() -> None:
    text = (
        "for $a in doc('s')//a, $b in doc('long')//b, $c in doc('u')//c "
        "where $a = $b and $b = $c return $c"
    )
    lines = penstock.explain(penstock.xquery(text)).splitlines()
    at = lines.index("plan")
    assert lines[at + 1 : at + 4] == [
        "  s    ─► twig $a ─┐",
        "  long ─► twig $b ─┤",
        "  u    ─► twig $c ─┴─► join ─► message ─► rows",
    ]
    assert not penstock.verdict(penstock.xquery(text)).suits_endless
    assert penstock.verdict(penstock.xquery(text, within="1 h")).suits_endless
