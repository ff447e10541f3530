"""However a document ends, the documents behind it give what a fresh engine gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest

import penstock
from penstock.engine.reading import Portion
from penstock.engine.rows import Making, Origin
from penstock.errors import PenstockError
from penstock.kernel import Session
from penstock.results import Result
from penstock.results.documents import LAST_US
from penstock.spark import worker
from tests.property.endings import DRAWS, differences


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_idle", type(worker._idle)())


def test_no_document_finds_what_another_one_left() -> None:
    assert [*islice(differences(0, DRAWS), 3)] == []


def without_clearing(session: Session) -> None:
    """Leave what waits where it is."""


def without_renewing(self: Making, portion: Portion) -> Iterator[list[Result]]:
    if self._origin is None:
        self._origin = Origin(portion.session, portion.names, portion.documents[-1])
    yield next(self._origin.chunks(portion.batch), [])


def without_ending(self: penstock.Engine) -> list[Result]:
    return [row for rows in self._pushed_joins.advance(LAST_US) for row in rows]


@pytest.mark.parametrize(
    ("owner", "name", "mutant"),
    [
        (Session, "clear", without_clearing),
        (Making, "rows", without_renewing),
        (penstock.Engine, "close", without_ending),
    ],
    ids=["clear", "rows", "close"],
)
def test_what_is_left_is_found(
    owner: type, name: str, mutant: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, mutant)
    with pytest.raises((AssertionError, PenstockError)):
        assert [*islice(differences(0, DRAWS), 1)] == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_no_document_of_many_finds_what_another_one_left(part: int) -> None:
    assert [*islice(differences(1_000_000 + part * 10_000, 10_000), 3)] == []
