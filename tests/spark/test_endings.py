"""Documents that fail in a task of Spark leave nothing for those behind them."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.spark import match
from tests.property.endings import LIMITS, beyond, malformed, place_of, random_bytes
from tests.property.ways import BAD, Place, said

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

LANGUAGES = ["rows", "filters", "questions", "values", "gathered", "looped", "brokered", "tables"]
FAILING = 40
"""So many documents fail in each frame; with all languages, 320."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_good_documents_give_what_they_give_alone(spark: SparkSession, language: str) -> None:
    random = Random(language)
    place: Place = place_of(language)
    documents: list[tuple[str, bytes]] = []
    for number in range(FAILING):
        documents.append((BAD, random.choice((malformed, beyond))(random)))
        documents.append((f"good{number}", random_bytes(random)))
    frame = spark.createDataFrame(documents, "key string, data binary").repartition(2)
    found: list[Any] = []
    for _ in range(2):  # the second time by workers that have read the first
        rows = match(frame, place.registry, "data", "key", limits=LIMITS)
        found.append(said(row.asDict(recursive=True) for row in rows.collect()))
    good = [penstock.Document(data, id=name) for name, data in documents if name != BAD]
    expected = said(place.engine.run(good))
    assert found == [expected, expected]
