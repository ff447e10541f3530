"""Messages of the broker are those of SaxonC-HE, asked one query at a time."""

from __future__ import annotations

import pytest

from penstock_testing.adversary.broker.attack import ask, random_case
from penstock_testing.adversary.xquery import asking
from penstock_testing.adversary.xquery.asking import Failed
from penstock_testing.peers.saxon_xquery import SaxonXQuery

SEEDS = range(2_000, 2_012)


@pytest.fixture(scope="module")
def saxon_xquery() -> SaxonXQuery:
    pytest.importorskip("saxonche")
    return SaxonXQuery()


def check(saxon: SaxonXQuery, seeds: range) -> int:
    """Compare the messages of some cases; return how many there were."""
    count = 0
    for seed in seeds:
        texts, document = random_case(seed)
        for text, found in zip(texts, ask(texts, document), strict=True):
            expected = asking.ask_saxon(saxon, text, document)
            if found is None or found.startswith("error ") or isinstance(expected, Failed):
                # A message without content is not sent; errors may be seen or not seen.
                continue
            [(_, _, value)] = expected
            assert found == value, (text, document)
            count += 1
    return count


def test_messages_are_those_of_saxon(saxon_xquery: SaxonXQuery) -> None:
    assert check(saxon_xquery, SEEDS) > 60


def test_a_wrong_message_would_be_found(
    saxon_xquery: SaxonXQuery, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = ask

    def wrong(texts: list[str], document: bytes) -> list[str | None]:
        return [found and found + " " for found in right(texts, document)]

    monkeypatch.setitem(check.__globals__, "ask", wrong)
    with pytest.raises(AssertionError):
        check(saxon_xquery, SEEDS)
