"""Texts of a known shape get the rows that they would have been compiled to by themselves."""

from __future__ import annotations

import re
from random import Random

import pytest

from penstock.errors import QueryError
from penstock.languages.xscl import xscl
from penstock.planning.templates import JoinQuery, compile_join, texts
from penstock.planning.templates.texts import JoinTexts
from penstock.twigs import Event, Query
from penstock_testing.generate import JoinKnobs, random_xscl

NAMES = ("a", "b", "c-d", "e.f", "AND2", "München") * 4 + ("s", "days")


def compiled(text: str) -> JoinQuery | Query:
    query = xscl(text)
    return compile_join(query) if isinstance(query.output, Event) else query


def paths(query: JoinQuery | Query) -> list[object]:
    """Return what equality of rows does not look at: paths, and whose values are needed."""
    if isinstance(query, Query):
        return []
    trees = list(query.trees)
    variables = [one for tree in trees for one in tree.variables]
    edges = [one for tree in trees for one in tree.edges]
    paths = [(one.alternatives, one.constants) for one in (*variables, *edges)]
    return [*paths, *(tree.valued for tree in trees)]


def renamed(random: Random, text: str) -> str:
    """Return the text with other names, constants and variables."""
    text = re.sub(r"\b[ab]\b", lambda _: random.choice(NAMES), text)
    text = re.sub(r"'[^']*'", lambda _: f"'{random.choice(('u', '', '7', 'a b'))}'", text)
    suffix = random.choice(("", "_x", ".1"))
    return re.sub(r"\b(v[0-9]+)\b", rf"\g<1>{suffix}", text)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the texts that are compiled by themselves, as they come."""
    seen: list[str] = []
    plain = texts._compile

    def noted(text: str, options: object, query: Query | None) -> JoinQuery | Query:
        seen.append(text)
        return plain(text, options, query)  # type: ignore[arg-type]

    monkeypatch.setattr(texts, "_compile", noted)
    return seen


def test_random_texts_are_filled_in_as_they_are_compiled(alone: list[str]) -> None:
    random = Random(6)
    table = JoinTexts()
    knobs = JoinKnobs(predicate=0.3, constant=0.3)
    count = 0
    for _ in range(100):
        shape = random_xscl(random, knobs)
        for _ in range(8):
            text = renamed(random, shape)
            expected, found = compiled(text), table.compile(text)
            assert found == expected, text
            assert paths(found) == paths(expected), text
            count += 1
    assert len(alone) < count * 0.7


def test_the_third_text_of_a_shape_is_filled_in(alone: list[str]) -> None:
    table = JoinTexts()
    made = [f"S//{n}->x[k->y] JOIN{{y = z, {n[1]} s}} T//b->z" for n in ("a1", "a2", "a3", "a4")]
    assert [table.compile(text) for text in made] == list(map(compiled, made))
    assert alone == made[:2]


def test_names_of_variables_are_free_but_not_how_they_refer(alone: list[str]) -> None:
    table = JoinTexts()
    straight = "S//a->x[b->p][c->q] JOIN{p = r AND q = s2, 1} S//a->y[b->r][c->s2]"
    crossed = "S//a->x[b->p][c->q] JOIN{p = s2 AND q = r, 1} S//a->y[b->r][c->s2]"
    other = straight.replace("p", "one").replace("q", "two")
    for text in (straight, straight, crossed, other, crossed):
        assert table.compile(text) == compiled(text)
    assert alone == [straight, straight, crossed]


@pytest.mark.parametrize(
    "text",
    [
        "S//a->x JOIN{x = nobody, 1} S//b->y",
        "S//a->x JOIN{x = y, 1} S//b->x",
        "S//a->x JOIN{x = y, 99999999999999} S//b->y",
    ],
)
def test_mistakes_are_told_in_a_known_shape_too(text: str) -> None:
    table = JoinTexts()
    for _ in range(3):
        table.compile("S//a->x JOIN{x = y, 1} S//b->y")
    with pytest.raises(QueryError) as caught:
        table.compile(text)
    with pytest.raises(QueryError) as expected:
        xscl(text)
    assert str(caught.value) == str(expected.value)


def test_literals_numbers_and_names_are_different_shapes() -> None:
    known = JoinTexts()
    # `x = 1` compares numbers, `x = 'u'` strings, `x = z` nodes.
    for operand in ("'u'", "1", "z", "'v'", "2", "z", "'w'", ".5"):
        text = f"S//a->x JOIN{{x = y AND x != {operand}, 1}} S//b->y[c->z]"
        assert known.compile(text) == compiled(text)


def test_options_are_part_of_the_shape() -> None:
    table = JoinTexts()
    text = "S//p:a->x JOIN{x = y, 1} S//b->y"
    for uri in ("urn:one", "urn:two", "urn:one", "urn:two"):
        options = {"namespaces": {"p": uri}}
        assert table.compile(text, options) == compile_join(xscl(text, namespaces={"p": uri}))


def test_a_bare_block_and_a_constructor_are_compiled_by_themselves() -> None:
    table = JoinTexts()
    for _ in range(3):
        assert table.compile("S//a->x") == xscl("S//a->x")
        text = "SELECT <e>{x}</e> FROM S//a->x JOIN{x = y, 1} S//b->y"
        assert table.compile(text) == compiled(text)


def test_the_table_of_shapes_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "SHAPES_MAX", 3)
    table = JoinTexts()
    for steps in range(1, 8):
        text = f"S{'/a' * steps}->x JOIN{{x = y, 1}} S//b->y"
        for _ in range(3):
            assert table.compile(text) == compiled(text)
        assert len(table._shapes) <= 3
