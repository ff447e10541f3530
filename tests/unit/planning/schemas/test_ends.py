"""Behind which end tags a query has no more matches."""

from pathlib import Path

import pytest

import penstock
from penstock.planning.modes import Mode
from penstock.planning.schemas.ends import end_program, ends_of, outermost
from penstock.planning.schemas.knowledge import Knowledge
from penstock.schemas import Mode as SchemaMode

DTD = """
<!ELEMENT page (head, note?, body)>
<!ELEMENT head (title, meta*, group?)>
<!ELEMENT group (meta*)>
<!ELEMENT note (title?)>
<!ELEMENT body (section*)>
<!ELEMENT section (#PCDATA | section | link)*>
<!ELEMENT title (#PCDATA)> <!ELEMENT meta (#PCDATA)> <!ELEMENT link EMPTY>
<!ATTLIST meta name CDATA #IMPLIED>
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> penstock.Schema:
    path = Path(tmp_path_factory.mktemp("schemas"), "page.dtd")
    path.write_text(DTD, "utf-8")
    return penstock.schema(path, mode="trust")


def written(schema: penstock.Schema, text: str, mode: Mode = "query") -> list[str] | None:
    """Return the ends of a query as paths."""
    ends = ends_of(penstock.xpath(text), mode, Knowledge.of(schema))
    return None if ends is None else ["/".join(map(str, end)) for end in outermost(ends)]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("/page/head", ["page/head"]),
        ("//meta", ["page/head"]),
        ("//group/meta", ["page/head/group"]),
        ("//meta/@name", ["page/head"]),
        ("//meta/text()", ["page/head"]),
        ("//title", ["page/head/title", "page/note/title"]),
        ("//head//title | //note", ["page/head/title", "page/note"]),
        ("//title[. = 'x']", ["page/head/title", "page/note/title"]),
        ("/page[body/section]/head/title", ["page/head/title"]),
        ("//section[link]", ["page/body"]),
        ("//link", ["page/body"]),
        ("//head/*", ["page/head/group", "page/head"]),
        ("//titel", []),
        ("/page", ["page"]),
        ("//*", ["page"]),
        ("//comment()", ["page"]),
    ],
)
def test_matches_lie_in_elements_that_occur_once(
    page: penstock.Schema, text: str, ends: list[str]
) -> None:
    outer = [end for end in ends if not any(end.startswith(f"{other}/") for other in ends)]
    assert written(page, text) == outer


@pytest.mark.parametrize(
    "text", ["count(//meta)", "string(//title)", "boolean(//title)", "//meta[2]/following::*"]
)
def test_rows_of_the_whole_document_have_no_end_before_it(page: penstock.Schema, text: str) -> None:
    assert written(page, text) is None


def test_conditions_of_a_filter_have_to_be_decided_as_well(page: penstock.Schema) -> None:
    assert written(page, "//title", "filter") == ["page/head/title", "page/note/title"]
    assert written(page, "//head[group]/title", "filter") == ["page/head"]
    assert written(page, "/page[body/section]/head/title", "filter") == ["page"]
    assert written(page, "//title[/page/body]", "filter") is None


def test_explain_names_the_end_tags(page: penstock.Schema) -> None:
    def lines(text: str, mode: SchemaMode = "trust") -> str:
        return penstock.explain(penstock.xpath(text), page.with_mode(mode))

    assert "no match after </head> (page/head)\n" in lines("//meta")
    both = "no match after </title> (page/head/title) and </title> (page/note/title)\n"
    assert both in lines("//title")
    for said in (lines("//*"), lines("//titel"), lines("count(//meta)"), lines("//meta", "verify")):
        assert "no match" not in said
    anywhere = "matches may lie anywhere: documents in pieces are read to their end\n"
    assert anywhere in lines("//*")
    assert anywhere in lines("count(//meta)")
    for said in (lines("//meta"), lines("//titel"), lines("//*", "verify")):
        assert "anywhere" not in said


def test_no_program_holds_before_the_root_ends(page: penstock.Schema) -> None:
    knowledge = Knowledge.of(page)
    for text, is_known in (("//meta", True), ("//*", False), ("//titel", True)):
        ends = ends_of(penstock.xpath(text), "query", knowledge)
        assert ends is not None
        assert (end_program(knowledge, ends) is not None) is is_known
