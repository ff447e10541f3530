"""Any text is a query of XSCL or gets an error with a place, alone and in a known shape."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import QUERY_CODES, QueryError
from penstock.languages.xscl import xscl
from penstock.planning.templates import JoinQuery, compile_join
from penstock.planning.templates.texts import JoinTexts
from penstock.twigs import Event, Query
from penstock_testing.generate import random_xscl

PIECES = [*"{}[]<>=,.'\"/*@$()& \n|:!^7", "->", "//", "AND", "JOIN", "SELECT", "FROM", "AS"]
PIECES += ["NOT FOLLOWED BY", "PUBLISH", "INF", "s", "v1", "'u'", "or", "not(", "child::", "p:a"]


def mutated(random: Random) -> str:
    """Return a query with up to three mistakes."""
    text = random_xscl(random)
    for _ in range(random.randint(0, 3)):
        at = random.randrange(len(text) + 1)
        what = random.choice(("insert", "delete", "repeat"))
        if what == "insert":
            text = text[:at] + random.choice(PIECES) + text[at:]
        elif what == "delete":
            text = text[:at] + text[at + random.randint(1, 4) :]
        else:
            start = random.randrange(len(text) + 1)
            text = text[:at] + text[start : start + random.randint(1, 8)] + text[at:]
    return text


def answer(text: str) -> JoinQuery | Query | str:
    """Return the compiled query, or the error as it is shown."""
    try:
        query = xscl(text)
        return compile_join(query) if isinstance(query.output, Event) else query
    except QueryError as error:
        refusal = error
    start, end = refusal.span
    assert 0 <= start <= end <= len(text)
    assert refusal.code in QUERY_CODES
    assert refusal.help
    return str(refusal)


@given(st.randoms(use_true_random=False))
def test_a_text_is_a_query_or_an_error_with_a_place(random: Random) -> None:
    texts = JoinTexts()
    text = mutated(random)
    expected = answer(text)
    for _ in range(3):
        try:
            found: JoinQuery | Query | str = texts.compile(text)
        except QueryError as error:
            found = str(error)
        assert found == expected
