"""`explain` of a join says which templates it has, when its events come and what is held."""

import pytest

from penstock.errors import QueryError
from penstock.languages.xscl import xscl
from penstock.planning.explain import explain


def section(text: str, title: str) -> list[str]:
    """Return the lines of one section of an explanation."""
    for part in explain(xscl(text)).split("\n\n"):
        lines = part.strip("\n").splitlines()
        if lines[0] == title:
            return [line.strip() for line in lines[1:]]
    return []


BOOKS = (
    "S//book->b[.//author->x][.//title->t][isbn] FOLLOWED BY{x = y AND t = u, 7 days} "
    "T/blog->g[author->y][title->u]"
)


def test_an_operator_has_a_template_and_a_variable_for_each_slot() -> None:
    assert section(BOOKS, "operator 1") == [
        "FOLLOWED BY within 604800 s",
        "template: left 0(1 2), right 0(1 2), joining 1 = 1, 2 = 2",
        "left slot 0: self::document()/descendant::book[child::isbn] of S",
        "left slot 1: self::document()/descendant::book[child::isbn]/descendant::author of S",
        "left slot 2: self::document()/descendant::book[child::isbn]/descendant::title of S",
        "right slot 0: self::document()/child::blog of T",
        "right slot 1: self::document()/child::blog/child::author of T",
        "right slot 2: self::document()/child::blog/child::title of T",
    ]


def test_what_is_held_depends_on_the_operator() -> None:
    assert section(BOOKS, "held") == [
        "witnesses of S: until event time has passed it by the window",
        "witnesses of T: while an earlier left side may still arrive",
    ]
    assert section("S/a->x JOIN{x = y, 1} T/b->y", "held") == [
        "witnesses of S and witnesses of T: until event time has passed them by the window"
    ]


def test_an_infinite_window_is_named() -> None:
    text = "S/a->x JOIN{x = y, INF} T/b->y"
    assert section(text, "held") == ["witnesses of S and witnesses of T: for ever"]
    assert section(text, "memory") == ["grows without end: a window is infinite"]


def test_absence_is_decided_by_time() -> None:
    text = "S/a->x FOLLOWED BY{x = y, 1} S/b->y NOT FOLLOWED BY{x = z AND y < z, 2} S/c->z"
    assert section(text, "decided") == [
        "FOLLOWED BY: when the later of the two arrives, at its end",
        "NOT FOLLOWED BY: when event time has passed the window",
    ]
    assert section(text, "operator 2") == [
        "NOT FOLLOWED BY within 2 s",
        "template: left 0, right 0, joining 0 = 0",
        "left: partial matches of the operator before",
        "right slot 0: self::document()/child::c of S",
        "terms beside the value joins: 1",
    ]


def test_a_query_of_one_block_holds_nothing() -> None:
    text = "SELECT x, y FROM S/a->x[b->y]"
    assert section(text, "variables") == [
        "kept beside: self::document()/child::a[child::b] of S",
        "kept beside: self::document()/child::a/child::b of S",
    ]
    assert section(text, "held") == ["nothing from one document to the next"]


def test_a_bare_block_is_explained_like_a_path() -> None:
    assert section("S/a->x[b->y]", "decided") == [
        "child::a: at the end tag of child::a at the latest, earlier once child::b is certain"
    ]


def test_blocks_without_a_normal_form_are_refused_by_name() -> None:
    conditions = "".join(f"[/r{n}/b = 1 or /r{n}/c = 2]" for n in range(12))
    with pytest.raises(QueryError) as caught:
        explain(xscl(f"S//a{conditions}->x JOIN{{x = y, 1}} S//b->y"))
    assert caught.value.code == "PQ0415"
