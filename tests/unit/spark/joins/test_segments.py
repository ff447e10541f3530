"""Joins of a batch without Spark: whatever buckets, hashes, chunks and repeated tasks there are."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import penstock
from penstock import Registry
from penstock.limits import Limits
from penstock.results import Document
from penstock.spark.joins.batch.segments import tasks
from penstock.spark.joins.batch.segments.evaluation import Evaluation
from penstock.spark.joins.requested import all_joined
from tests.spark.helpers import job
from tests.spark.joins.helpers.cases import (
    corpus_cases,
    expected,
    identities,
    random_case,
    registry_of,
)
from tests.spark.joins.helpers.frames import LocalFrame

_INPUTS = pa.schema(
    [
        ("__document", pa.binary()),
        ("__id", pa.string()),
        ("__time", pa.timestamp("us", "UTC")),
        ("__stream", pa.string()),
        ("__number", pa.int64()),
    ]
)


def joined(
    random: Random,
    registry: Registry,
    documents: list[Document],
    buckets: int,
    hash_bits: int = 64,
    chunk_bytes: int = tasks.CHUNK_BYTES,
) -> list[Any]:
    """Return the rows of documents in partitions of any sizes."""
    parts: list[list[dict[str, Any]]] = [[] for _ in range(random.randint(1, 4))]
    for number, one in enumerate(documents):
        values = one.data, one.id, one.event_time, one.stream, number
        random.choice(parts).append(dict(zip(_INPUTS.names, values, strict=True)))
    inputs: Any = SimpleNamespace(is_text=False, has_faults=False)
    evaluation = Evaluation(inputs, all_joined(registry.snapshot()), Limits(), hash_bits)
    frame: Any = LocalFrame(random, parts, _INPUTS)
    with (
        patch.object(tasks, "CHUNK_BYTES", chunk_bytes),
        patch("penstock.spark.joins.batch.segments.evaluation.frame_schema", lambda: None),
    ):
        found: Any = evaluation.run(frame, buckets)
    return identities(found.rows())


@settings(max_examples=40)
@given(st.randoms(use_true_random=False))
def test_random_joins_are_those_of_the_engine(random: Random) -> None:
    case = random_case(random)
    assume(case is not None)
    assert case is not None
    rows = joined(
        random,
        registry_of(case.queries),
        [*case.documents],
        buckets=random.choice((1, 2, 5)),
        hash_bits=random.choice((1, 2, 64, 64)),
        chunk_bytes=random.choice((1, 300, 1 << 20)),
    )
    assert rows == expected(case)


def test_all_cases_of_the_corpus_together_are_those_of_the_engine() -> None:
    cases = [case.apart(number) for number, case in enumerate(corpus_cases())]
    queries = {name: text for case in cases for name, text in case.queries.items()}
    documents = [one for case in cases for one in case.documents]
    wanted = [row for case in cases for row in expected(case)]
    rows = joined(Random(3), registry_of(queries), documents, buckets=3, chunk_bytes=500)
    assert rows == sorted(wanted, key=repr)


def test_what_is_published_is_no_document_that_was_there() -> None:
    documents = [
        Document(data, str(number), "S", float(number)) for number, data in job.documents()
    ]
    wanted = identities(penstock.Engine(job.joining()).run(documents))
    for buckets in (1, 3):
        rows = joined(Random(1), job.joining(), documents, buckets)
        assert [row for row in rows if row[0]] == [row for row in wanted if row[0]]
