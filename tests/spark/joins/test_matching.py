"""Documents that are matched and joined in one pass have the rows of the engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

import penstock
from penstock.limits import Limits
from penstock.planning.program import Request, request_of
from penstock.planning.streams import published_stream
from penstock.registry.plans.files import PlanFile, pack_plan
from penstock.registry.plans.names import FlatNames
from penstock.results import Document
from penstock.spark import worker
from penstock.spark.joins.changes import Subscriptions
from penstock.spark.joins.joining import Sample
from penstock.spark.joins.state import State
from penstock.spark.joins.worker import Told
from penstock.spark.pipelines.matching import evaluate
from penstock.spark.plans import ShippedPlan
from penstock.spark.rows import COUNT, SILENT, TOLD
from tests.spark.joins.helpers.cases import (
    LATENESS,
    Case,
    identities,
    random_case,
    split_at_random,
    the_end,
)
from tests.spark.joins.helpers.local import LocalJoining, Row, Session, frame_of

CASES = 150
JOINING = (Request.RECORDS, Request.BINDINGS)
PATHS = ("//a", "//b[b]", "/*/@*", "//text()", "count(//b)", "//b/ancestor::a")
STREAMS = """for $x in stream("S")//b, $y in stream("T")//b
where $x = $y return <p>{$y/@n}{$x}</p>"""


def mixed(random: Random, case: Case) -> penstock.Registry:
    """Return a registry of the case's joins, some paths and a message between them."""
    registry = penstock.Registry()
    paths = list(PATHS)
    random.shuffle(paths)
    for name, text in case.queries.items():
        if paths and random.random() < 0.7:
            registry.add(f"path {len(paths)}", paths.pop())
        registry.add(name, penstock.xscl(text))
    registry.add("path", paths.pop())
    message = "for $b in //b return <m>{$b/@n}</m>"
    registry.add("message", penstock.xquery(message))
    if random.random() < 0.5:
        registry.add("streams", penstock.xquery(STREAMS))
    return registry


def with_damage(random: Random, documents: list[Document]) -> list[Document]:
    """Return the documents with some broken ones between them.

    Nothing in them is bound: in process, what a document binds before its error is joined.
    """
    damaged = []
    for number, document in enumerate(documents):
        damaged.append(document)
        if random.random() < 0.2:
            broken = Document(
                b"<a><c>x</c><a n='1'>u</a>", f"broken{number}", document.stream, document.time
            )
            damaged.append(broken)
    return damaged


def plan_of(registry: penstock.Registry) -> ShippedPlan:
    snapshot = registry.compact()
    packed = pack_plan(PlanFile((), FlatNames.of(snapshot.names), snapshot.plan))
    return ShippedPlan(packed.name, b"".join(packed.parts))


def batches_of(random: Random, documents: list[Document]) -> Iterator[list[tuple[bool, Any]]]:
    """Yield the partitions of a frame of documents, with text where others have bytes."""
    for partition in frame_of(documents, random.choice((1, 2, 3))).partitions:
        for batch in partition:
            is_text = [random.random() < 0.5 for _ in range(batch.num_rows)]
            data = batch.column(0).to_pylist()
            text = [one.decode() if is_ else None for one, is_ in zip(data, is_text, strict=True)]
            rest = [None if is_ else one for one, is_ in zip(data, is_text, strict=True)]
            columns = [pa.array(rest, pa.binary()), *batch.columns[1:], pa.array(text, pa.string())]
            yield pa.RecordBatch.from_arrays(columns, names=[*batch.schema.names, "text"])


def found(
    registry: penstock.Registry,
    batches: list[list[Document]],
    random: Random,
    folder: Path,
    lateness: float = LATENESS,
) -> list[Row]:
    """Return the rows of micro-batches, as a pipeline's tasks and driver find them."""
    job = worker.Job(plan_of(registry), Limits(), False, is_counting=True, is_joined=True)
    rows: list[Row] = []

    def sample() -> Sample:
        return [(frame.partitions[0][0], False)] if frame.partitions else []

    for number, documents in enumerate(batches):
        frame = frame_of(documents, 1)
        joining = LocalJoining(State(folder), lateness, Limits(), buckets=3)
        with joining.micro_batch(Session, number, Subscriptions(registry), sample) as rounds:
            matched = [
                row
                for batch in batches_of(random, documents)
                for part in evaluate(job, rounds.job, 4, iter([batch]))
                for row in part.to_pylist()
            ]
            assert sum(row["ordinal"] for row in matched if row["kind"] == COUNT) == len(documents)
            rounds.join([Told.load(row["value"]) for row in matched if row["kind"] == TOLD])
            rows += [row for row in matched if row["kind"] not in SILENT]
            rows += rounds.results()
    return rows


def without_events(rows: list[Any], registry: penstock.Registry) -> list[Any]:
    """Return rows without those that queries which do not join have of published events.

    On Spark joins alone read published events.
    """
    published = {published_stream(one.query) for one in registry}
    joining = {one.name for one in registry if request_of(one.program) in JOINING}
    return [row for row in rows if row[0] in joining or row[1] not in published]


def test_random_micro_batches_equal_the_engine(tmp_path: Path) -> None:
    joined = streams = 0
    for seed in range(CASES):
        random = Random(seed)
        case = random_case(random)
        if case is None:
            continue
        registry = mixed(random, case)
        documents = with_damage(random, list(case.documents))
        batches = [*split_at_random(random, documents), [the_end()]]
        documents = [document for batch in batches for document in batch]
        rows = identities(penstock.Engine(registry).run(documents))
        wanted = without_events(rows, registry)
        assert identities(found(registry, batches, random, tmp_path / f"{seed}")) == wanted, seed
        streams += any(row[0] == "streams" for row in wanted)
        joined += any(row[0] in case.queries for row in wanted)
    assert joined > CASES / 10
    assert streams > CASES / 20


def test_a_late_document_is_matched_and_not_joined(tmp_path: Path) -> None:
    registry = penstock.Registry()
    registry.add("any", "/*", mode="filter")
    registry.add("pairs", penstock.xscl("S//a->x[k->y] JOIN{y = z, 100} S//b->w[k->z]"))
    batches = [
        [Document(b"<a><k>1</k></a>", "a", "S", 100.0)],
        [Document(b"<b><k>1</k></b>", "late", "S", 40.0), Document(b"<b", "bad", "S", 20.0)],
    ]
    documents = [document for batch in batches for document in batch]
    wanted = identities(penstock.Engine(registry, lateness=50).run(documents))
    rows = found(registry, batches, Random(1), tmp_path, lateness=50)
    assert identities(rows) == wanted
    codes = sorted((row["document"], row["error"]["code"]) for row in rows if row["error"])
    assert codes == [("bad", "PD0026"), ("late", "PJ0001")]


def test_a_document_that_is_read_in_parts_is_joined_once(tmp_path: Path) -> None:
    registry = penstock.Registry()
    registry.add("items", "//i")
    registry.add("pairs", penstock.xscl("S//a->x[k->y] JOIN{y = z, 100} S//b->w[k->z]"))
    items = "".join(f"<i>{number:0100}</i>" for number in range(20_000))
    large = f"<a>{items}<k>1</k><k>2</k></a>".encode()
    documents = [
        Document(b"<b><k>1</k></b>", "b1", "S", 1.0),
        Document(large, "large", "S", 2.0),
        Document(large[:-4], "broken", "S", 3.0),
        Document(b"<b><k>2</k></b>", "b2", "S", 4.0),
    ]
    wanted = identities(penstock.Engine(registry).run(documents))
    assert {row[3] for row in wanted if row[0] == "pairs"} == {("large", "b1"), ("large", "b2")}
    rows = found(registry, [documents], Random(1), tmp_path)
    assert identities(rows) == wanted
