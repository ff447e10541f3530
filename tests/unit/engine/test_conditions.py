"""When the parts of a condition of XQuery are evaluated."""

import pytest

import penstock

DOCUMENT = "<r><b>q</b></r>"


@pytest.mark.parametrize(
    "query",
    [
        "for $y in //b, $x in //never where xs:integer($y) = 1 return $x",
        "for $y in //b for $x in //never let $z := 1 where xs:integer($y) = $z return $x",
        "for $y in //b, $x in //b where $x = 'z' and xs:integer($y) = 1 return $x",
        "some $y in //b, $x in //never satisfies xs:integer($y) = 1",
    ],
)
def test_a_part_is_evaluated_as_soon_as_its_variables_are_bound(query: str) -> None:
    registry = penstock.Registry()
    registry.add("q", penstock.xquery(query))
    (row,) = penstock.Engine(registry).run(DOCUMENT)
    assert row.error is not None
    assert row.error.reason.startswith("FORG0001")


@pytest.mark.filterwarnings("ignore::penstock.PenstockWarning")
@pytest.mark.parametrize(
    "query",
    [
        "for $x in //never where 1 idiv 0 = 1 return $x",
        "for $x in //never where xs:integer(/r/b) = 1 return $x",
        "for $y in //b, $x in //never where xs:integer(/r/b) = 1 return $x",
        "for $y in //b, $x in //never where ($x, xs:integer($y)) = 1 return $x",
        "for $y in //b return (for $x in //never where xs:integer($y) = 1 return $x)",
        "for $x in //never return 1 idiv 0",
    ],
)
def test_what_a_loop_without_bindings_holds_is_not_evaluated(query: str) -> None:
    registry = penstock.Registry()
    registry.add("q", penstock.xquery(query))
    assert [*penstock.Engine(registry).run(DOCUMENT)] == []
