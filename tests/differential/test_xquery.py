"""Reference, engine and Saxon agree on random queries in XQuery over random recursive documents.

Where Saxon differs, it does so in the ways that docs/notes/differences.md lists.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import QueryError
from penstock.languages.xquery import xquery
from penstock_testing.adversary.xquery import asking
from penstock_testing.adversary.xquery.asking import Answer, Failed, difference
from penstock_testing.adversary.xquery.attack import random_case
from penstock_testing.peers import saxon_divides, saxon_fails
from penstock_testing.peers.saxon_xquery import SaxonXQuery
from tests.differential.pairs import batches
from tests.volume import short

BATCH = 250
PAGE = Path(__file__).resolve().parents[2] / "docs" / "notes" / "differences.md"
ROW = re.compile(r"^\| `(?P<query>[^`]*)` \| (?P<ours>[^`|]*) \| (?P<saxon>[^`|]*) \|$", re.M)
NON_EMPTY_MIN = 0.8
DEVIATIONS_MAX = 0.02
ERRORS_MAX = 0.05


@pytest.fixture(scope="session")
def saxon_xquery() -> SaxonXQuery:
    """Return SaxonC for XQuery, which starts up once."""
    return SaxonXQuery()


def cases(first: int, count: int) -> Iterator[tuple[str, bytes]]:
    for seed in range(first, first + count):
        yield random_case(seed)


def check_saxon(saxon: SaxonXQuery, first: int, count: int = BATCH) -> Counter[str]:
    """Compare a batch, and return how many answers were of which kind."""
    kinds: Counter[str] = Counter()
    for text, document in cases(first, count):
        expected = asking.ask_reference(text, document).answer
        theirs = asking.ask_saxon(saxon, text, document)
        how = difference(expected, theirs)
        if isinstance(theirs, Failed) and saxon_fails(theirs.reason):
            how = "the optimizer fails"
        elif how == "wrong" and saxon_divides(text, expected, theirs):
            how = "a quotient is an integer"
        assert how != "wrong", (text, document.decode(), expected, theirs)
        kinds[how or "same"] += 1
        kinds["errors"] += isinstance(expected, Failed)
        kinds["non-empty"] += bool(expected) and not isinstance(expected, Failed)
    assert kinds["same"] >= (1 - DEVIATIONS_MAX) * count, kinds
    assert kinds["non-empty"] >= NON_EMPTY_MIN * count, kinds
    assert kinds["errors"] <= ERRORS_MAX * count, kinds
    return kinds


@pytest.mark.parametrize("first", short(batches(500), 1))
def test_reference_and_saxon_agree(saxon_xquery: SaxonXQuery, first: int) -> None:
    kinds = check_saxon(saxon_xquery, first)
    print(f"{kinds['non-empty']} of {BATCH} answers are not empty")


@pytest.mark.parametrize("first", short(batches(500), 1))
def test_kernel_and_reference_agree(first: int) -> None:
    for text, document in cases(first, BATCH):
        expected = asking.ask_reference(text, document).values
        found = asking.ask_kernel(text, document)
        assert difference(expected, found) is None, (text, document.decode(), expected, found)


@pytest.mark.slow
def test_reference_and_saxon_agree_on_many_queries(saxon_xquery: SaxonXQuery) -> None:
    for first in range(1_000_000, 1_020_000, BATCH):
        check_saxon(saxon_xquery, first)


def listed() -> list[tuple[str, str, str]]:
    section = PAGE.read_text("utf-8").partition("\n## XQuery\n")[2]
    return [(row["query"], row["ours"], row["saxon"]) for row in ROW.finditer(section)]


def shown(answer: Answer) -> str:
    """Return an answer as the page states it: texts of the items, or the code of an error."""
    if isinstance(answer, Failed):
        return f"error {answer.code}".rstrip()
    return " ".join(value for _, _, value in answer)


def test_the_page_lists_differences_of_xquery() -> None:
    assert len(listed()) > 8


@pytest.mark.parametrize(("query", "ours", "saxons"), listed())
def test_a_listed_difference_is_as_stated(
    query: str, ours: str, saxons: str, saxon_xquery: SaxonXQuery
) -> None:
    document = b"<a/>"
    assert shown(asking.ask_saxon(saxon_xquery, query, document)) == saxons
    assert _reference(query, document) == ours
    if not ours.startswith("error XPST"):
        assert shown(asking.ask_kernel(query, document)) == ours


def _reference(query: str, document: bytes) -> str:
    try:
        return shown(asking.ask_reference(query, document).answer)
    except QueryError as error:
        return f"error {error.xquery_code}"


def test_a_wrong_evaluator_would_be_found(
    saxon_xquery: SaxonXQuery, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = asking.describe

    def without_last(items: asking.Items) -> list[asking.Described]:
        return right(items)[:-1]

    monkeypatch.setattr(asking, "describe", without_last)
    monkeypatch.setattr(asking, "as_values", lambda described, items: described)
    with pytest.raises(AssertionError):
        check_saxon(saxon_xquery, 0, 20)


def test_every_random_text_is_a_query() -> None:
    for text, _ in cases(0, 200):
        xquery(text)
