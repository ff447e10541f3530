"""Rows on standard output; and sinks that need Spark."""

import io
import json

import pytest

import penstock
from penstock.errors import SinkError
from penstock.sinks import ConsoleSink, JdbcSink, KafkaSink, Sink


def test_rows_are_printed_as_json() -> None:
    registry = penstock.Registry()
    registry.add("all", "//x")
    out = io.StringIO()
    assert ConsoleSink(out).write(penstock.Engine(registry).run("<r><x/><x/></r>")) == 2
    assert [json.loads(line)["value"] for line in out.getvalue().splitlines()] == ["<x/>"] * 2


@pytest.mark.parametrize("sink", [KafkaSink("localhost:1", "t"), JdbcSink("jdbc:x:y")])
def test_a_sink_of_spark_says_so(sink: Sink) -> None:
    with pytest.raises(SinkError) as caught:
        sink.write([])
    assert caught.value.code == "PO0002"
