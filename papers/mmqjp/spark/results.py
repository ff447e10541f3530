"""From what rows found to rows of results: ids, texts, and the XML of events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from papers.mmqjp.spark.relations import Witnesses, table
from papers.mmqjp.spark.rounds import Plan, Round
from papers.mmqjp.spark.witnesses import Reading, reader_of
from penstock.engine.joining import failed_row, joined_row
from penstock.errors import DocumentError
from penstock.joins import WitnessReader
from penstock.joins.results import Joined, JoinedNode, Renderer, renderer_of
from penstock.kernel import event_ordinal
from penstock.planning.records import JoinOutput
from penstock.results import event_id
from penstock.results.arrow import batch_of
from penstock.sources.memory import TextInput
from penstock.spark.deployment import map_batches

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

KEY, PUBLISH = "__key", "__publish"
"""Columns behind a result's own: its id as a document, and the stream that it is published on."""

ROWS_MAX = 4 << 10
"""So many results are rendered at a time."""

_ERROR_COLUMNS = {
    "stream": "stream",
    "document": "id",
    "ordinal": "0L",
    "kind": "'error'",
    "name": "''",
    "decided_at": "error.byte",
    "event_time": "event_time",
    "error": "error",
    "source": "source",
}


def errors_sql() -> str:
    """Return the statement that makes the rows of documents that failed."""
    from penstock.spark.schema import schema

    columns = []
    for field in schema():
        value = _ERROR_COLUMNS.get(field.name, "NULL")
        columns.append(f"CAST({value} AS {field.dataType.simpleString()}) AS {field.name}")
    return f"SELECT {', '.join(columns)} FROM {{errors}}"


def results_sql(parts: int, nodes: int) -> str:
    """Return the statement that completes results of up to so many documents and nodes."""
    documents = [f"document_{at}" for at in range(parts)]
    kept = [f"node_{at}" for at in range(nodes)]
    made = [
        f"named_struct('part', CAST(array_position(found.parts, {one}.document) - 1 AS INT),"
        f" 'start', {one}.start, 'end', {one}.end, 'text', {one}.text, 'value', {one}.value)"
        for one in kept
    ]
    node = "STRUCT<part: INT, start: BIGINT, end: BIGINT, text: STRING, value: STRING>"
    ids, times = (", ".join(f"{one}.{name}" for one in documents) for name in ("id", "time"))
    return "\n".join(
        [
            "SELECT subscribers.name, subscribers.output, found.time,",
            f"  slice(array({ids}), 1, size(found.parts)) AS ids,",
            f"  slice(array({times}), 1, size(found.parts)) AS times,",
            f"  slice(CAST(array({', '.join(made)}) AS ARRAY<{node}>), 1, size(found.nodes))"
            " AS nodes",
            "FROM {found} AS found",
            "JOIN {subscribers} AS subscribers ON subscribers.row = found.row",
            *(
                f"LEFT JOIN {{documents}} AS {one} ON {one}.document = get(found.parts, {at})"
                for at, one in enumerate(documents)
            ),
            *(
                f"LEFT JOIN {{nodes}} AS {one} ON {one}.document = get(found.nodes, {at}).document"
                f" AND {one}.node = get(found.nodes, {at}).node"
                for at, one in enumerate(kept)
            ),
        ]
    )


def results_of(
    spark: SparkSession,
    plan: Plan,
    round_: Round,
    found: DataFrame,
    witnesses: Witnesses,
    reading: Reading,
) -> DataFrame | None:
    """Return the results of a round, with ``KEY`` and ``PUBLISH``; None if it has none.

    ``reading`` is how what is published will be read.
    """
    from pyspark.sql import types as t

    from penstock.spark.schema import schema

    rows = round_.rows
    subscribers = [one for one in plan.subscribers if one.row in rows]
    if not subscribers:
        return None
    made = [
        {"row": one.row, "name": one.name, "output": plan.outputs[one.output]}
        for one in subscribers
    ]
    last = [rows[one.row] for one in subscribers]
    completed = spark.sql(
        results_sql(max(map(plan.parts_of, last)), max(len(row.kept) for row in last)),
        found=found,
        subscribers=table(spark, made),
        documents=witnesses.documents,
        nodes=witnesses.nodes,
    )
    outputs = list(plan.outputs)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return render(outputs, reading, batches)

    text = t.StringType()
    fields = [*schema().fields, t.StructField(KEY, text), t.StructField(PUBLISH, text)]
    return map_batches(completed, run, t.StructType(fields))


def render(
    outputs: Sequence[JoinOutput], reading: Reading, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of results, as ``results_sql`` completes them.

    What cannot be read as a document where it should be published is a failure of its
    subscription, and is not published.
    """
    makers = [(output, renderer_of(output.event)) for output in outputs]
    with reader_of(reading) as reader:
        for whole in batches:
            for start in range(0, whole.num_rows, ROWS_MAX):
                yield _rendered(whole.slice(start, ROWS_MAX), makers, reader)


def _rendered(
    batch: pa.RecordBatch, makers: Sequence[tuple[JoinOutput, Renderer]], reader: WitnessReader
) -> pa.RecordBatch:
    import pyarrow as pa

    rows, keys, published = [], [], []
    cells = batch.to_pydict().values()
    for name, number, time_us, ids, times, nodes in zip(*cells, strict=True):
        output, make = makers[number]
        joined = _joined(ids, times, time_us, nodes)
        xml = make(joined.nodes)
        row = joined_row(name, output, joined, xml)
        publish = output.publish
        error = _failure(reader, publish, xml) if publish is not None else None
        rows.append(row if error is None else failed_row(row, error))
        keys.append(event_id(name, joined.documents, joined.ranges))
        published.append("" if publish is None or error is not None else publish)
    made = batch_of(rows)
    columns = [*made.columns, pa.array(keys, pa.string()), pa.array(published, pa.string())]
    return pa.RecordBatch.from_arrays(columns, names=[*made.schema.names, KEY, PUBLISH])


def _failure(reader: WitnessReader, stream: str, xml: str) -> DocumentError | None:
    """Return what is wrong with an event as a document of a stream."""
    document = TextInput(xml, "", stream, None)
    try:
        reader.read(stream, document.pieces(), document.encoding)
    except DocumentError as error:
        return error
    return None


def _joined(ids: list[str], times: list[int], time_us: int, nodes: list[dict[str, Any]]) -> Joined:
    ordinal = event_ordinal(ids, [(node["part"], node["start"], node["end"]) for node in nodes])
    made = [
        JoinedNode.of(
            ids[node["part"]],
            node["start"],
            node["end"],
            node["text"] or "",
            node["value"] or "",
        )
        for node in nodes
    ]
    return Joined(0, tuple(ids), (), tuple(times), time_us, ordinal, tuple(made))
