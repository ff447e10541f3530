"""Steps that a schema makes impossible are reported, and false where it is trusted."""

from pathlib import Path

import pytest

import penstock
from benchmarks.broker.dtds import BIB, BOOK
from penstock.planning.schemas.impossible import impossible_steps
from penstock.planning.verdicts import Decided

BIB_SCHEMA = penstock.schema(BIB.path)
BOOK_SCHEMA = penstock.schema(BOOK.path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("//book/titel", "`child::titel` matches nothing below `book`; did you mean `title`?"),
        ("//titel", "`descendant::titel` matches nothing below `the document`; did you mean"),
        ("//book[@yeer]", "`attribute::yeer` matches nothing below `book`; did you mean `year`?"),
        ("/bib/author", "`child::author` matches nothing below `bib`; did you mean"),
        ("//price[last]", "`child::last` matches nothing below `price`"),
        ("//book[2]/titel", "`child::titel` matches nothing below `book`"),
        ("count(//book/titel)", "`child::titel` matches nothing below `book`"),
    ],
)
def test_an_impossible_step_is_named_with_the_nearest_name(text: str, said: str) -> None:
    (found,) = impossible_steps(penstock.xpath(text), BIB_SCHEMA)
    assert str(found).startswith(said)


@pytest.mark.parametrize(
    "text", ["//book/title", "//*", "//author/..", "//book/text()", "//book[@year]/@*", "/bib"]
)
def test_possible_steps_are_not_named(text: str) -> None:
    assert impossible_steps(penstock.xpath(text), BIB_SCHEMA) == []


def test_xquery_and_xscl_are_looked_at_too() -> None:
    query = penstock.xquery("for $b in //book where $b/prize > 3 return <x>{$b/title}</x>")
    assert [one.nearest for one in impossible_steps(query, BIB_SCHEMA)] == ["price"]
    join = penstock.xscl("S//book->b[.//prize->x] JOIN{x = y, 1 h} S//book[.//price->y]->c")
    assert [one.step for one in impossible_steps(join, BIB_SCHEMA)] == ["descendant::prize"]


def test_an_open_element_makes_nothing_below_it_impossible(tmp_path: Path) -> None:
    path = tmp_path / "a.dtd"
    path.write_text("<!ELEMENT a (b)><!ELEMENT b ANY>")
    schema = penstock.schema(path, root="a")
    assert impossible_steps(penstock.xpath("//b/x[@y]//z"), schema) == []
    assert len(impossible_steps(penstock.xpath("/a/x"), schema)) == 1


def test_a_trusted_schema_decides_impossible_queries_before_the_document() -> None:
    trusted = BIB_SCHEMA.with_mode("trust")
    query = penstock.xpath("//book/titel")
    assert penstock.verdict(query, trusted).decided is Decided.BEFORE
    assert penstock.verdict(query, BIB_SCHEMA).decided is not Decided.BEFORE
    assert "nothing can match" in penstock.explain(query, trusted)
