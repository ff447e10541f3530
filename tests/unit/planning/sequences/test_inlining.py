"""Variables that are read once are inlined, and only where that changes nothing."""

from typing import Any

import pytest

import penstock
from penstock.planning.sequences.inlining import DEPTH_MAX, inline_variables
from penstock.twigs import sequences as q
from penstock.twigs.sequence_parts import all_parts, parts_of


def body(text: str) -> Any:
    output = penstock.xquery(text).output
    assert isinstance(output, q.Sequences)
    return inline_variables(output.body)


def bound(text: str) -> set[str]:
    """Return the variables of ``let`` that stay."""
    return {part.variable for part in all_parts(body(text)) if isinstance(part, q.Let)}


@pytest.mark.parametrize(
    "text",
    [
        "let $x := 1 return $x",
        "for $p in //p let $x := $p/a return count($x)",
        "for $p in //p let $x := $p/a where $p/b order by $x return 1",
        "let $x := 5 for $y in 1 to $x return $y",
        "let $x := 1 let $y := $x + 1 return $y",
        "for $p in //p let $x := $p/a return let $z := 1 return ($z, $x)",
        "let $x := //a return if (1 = 2) then $x else ()",
    ],
)
def test_a_variable_that_is_read_once_goes(text: str) -> None:
    assert bound(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "let $x := <a/> return ($x, $x)",
        "let $x := 1 for $y in //p return $x",
        "let $x := 1 return //p[@k = $x]",
        "let $x := //a return some $y in //b satisfies $x = $y",
        "let $x := 1 return //p/string-join((., $x), '')",
        "let $x as xs:integer := 1 return $x",
    ],
)
def test_a_variable_stays_where_its_value_would_be_computed_again(text: str) -> None:
    assert bound(text) == {"x"}


def test_a_message_is_made_of_a_constructor_only_if_the_query_is_one() -> None:
    assert isinstance(body("let $x := 1 return <a>{$x}</a>"), q.Flwor)
    assert isinstance(body("<a>{let $x := 1 return $x}</a>"), q.NewElement)


def test_a_constructor_stays_an_item_of_its_message() -> None:
    new = body("<a>{let $x := <b/> return $x}</a>")
    assert [type(part) for part in new.content] == [q.Sequence]


def test_a_chain_of_variables_does_not_become_a_tower() -> None:
    links = [f"let $v{at} := $v{at - 1} + 1" for at in range(1, 1000)]
    text = " ".join(["let $v0 := 1", *links, "return $v999"])
    depth, level = 0, [body(text)]
    while level:
        depth += 1
        level = [inner for part in level for inner in parts_of(part)]
    assert len(bound(text)) < 1000 / 10
    assert depth < 2 * DEPTH_MAX
