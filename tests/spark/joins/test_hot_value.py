"""One value in a million documents: it is found within its window, and it does not drive others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.results import Document
from penstock.spark import join_progress
from tests.spark.joins.helpers.cases import registry_of
from tests.spark.joins.helpers.streams import run, write_batch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

WITNESSES = 1_000_000
FILE_DOCUMENTS = 125_000
QUERIES = {
    # The frequent value alone; the window decides.
    "near": "S//a->x[h->h] FOLLOWED BY{h = i, 2 ms} S//b->y[h->i]",
    # All of them.
    "all": "SELECT <hit/> FROM S//a->x[h->h] JOIN{h = i, INF} S//c->y[h->i]",
    # The frequent value and a rare one.
    "rare": "S//a->x[k->k][h->h] JOIN{h = i AND k = l, INF} S//d->y[k->l][h->i]",
}


def lefts(numbers: range) -> Iterator[Document]:
    for one in numbers:
        xml = f"<a><h>hot</h><k>{one}</k></a>".encode()
        yield Document(xml, f"a{one}", "S", one / 1000)


def test_one_value_with_a_million_witnesses(spark: SparkSession, tmp_path: Path) -> None:
    for number, first in enumerate(range(0, WITNESSES, FILE_DOCUMENTS)):
        write_batch(tmp_path / "in", number, list(lefts(range(first, first + FILE_DOCUMENTS))))
    rights = [Document(b"<b><h>hot</h></b>", f"b{one}", "S", one) for one in (1, 500, 999)]
    rights += [
        Document(f"<d><h>hot</h><k>{one}</k></d>".encode(), f"d{one}", "S", 0)
        for one in (0, 777_777, WITNESSES)
    ]
    write_batch(tmp_path / "in", 90, rights)
    write_batch(tmp_path / "in", 91, [Document(b"<c><h>hot</h></c>", "c", "S", 0)])
    found: dict[str, list[tuple[str, ...]]] = {name: [] for name in QUERIES}
    for row in run(spark, tmp_path, registry_of(QUERIES)):
        found[row["subscription"]].append(tuple(row["documents"]))
    near = [(f"a{1000 * one - before}", f"b{one}") for one in (1, 500, 999) for before in (1, 2)]
    assert sorted(found["near"]) == sorted(near)
    assert sorted(found["rare"]) == [("a0", "d0"), ("a777777", "d777777")]
    assert len(found["all"]) == len(set(found["all"])) == WITNESSES
    assert join_progress(tmp_path / "state").records >= WITNESSES
