"""However a document ends, the documents behind it give what a fresh engine gives."""

from __future__ import annotations

from itertools import islice

import pytest

from penstock.spark import worker
from tests.property.endings import DRAWS, differences


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_idle", type(worker._idle)())


def test_no_document_finds_what_another_one_left() -> None:
    assert [*islice(differences(0, DRAWS), 3)] == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_no_document_of_many_finds_what_another_one_left(part: int) -> None:
    assert [*islice(differences(1_000_000 + part * 10_000, 10_000), 3)] == []
