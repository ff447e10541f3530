"""Stream views on Spark: headers are those of the producer, decisions those of the router."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from penstock import routing
from penstock.spark import route, stamp

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CONFIGURATION = routing.Configuration(["/n/a", "/n/b"])
SERVERS = {"one": {"a": "/n/a = 1", "b": "/n/b = 2"}, "two": ["/n/c = 3"], "three": ["/n/b != 9"]}
DOCUMENTS = [
    b"<n><a>1</a><b>2</b></n>",
    b"<n><a>1</a></n>",
    b"<n><c>3</c></n>",
    b"<n/>",
    b"<n>",
    "<?xml version='1.0' encoding='utf-16'?><n><b>2</b></n>".encode("utf-16"),
]


def test_stamped_and_routed_as_in_process(spark: SparkSession) -> None:
    rows = [(number, bytearray(document)) for number, document in enumerate(DOCUMENTS)]
    frame = spark.createDataFrame([*rows, (99, None)], "id int, xml binary")
    stamped = stamp(frame, CONFIGURATION)
    headers = {row.id: row.header for row in stamped.collect()}
    assert headers[99] is headers[4] is None
    for number in (0, 1, 2, 3, 5):
        assert bytes(headers[number]) == routing.stamp(DOCUMENTS[number], CONFIGURATION)
    found = route(stamped, SERVERS, [CONFIGURATION]).collect()
    routed = {(row.id, row.server): (tuple(row.queries), row.is_hit) for row in found if row.server}
    expected = {}
    router = routing.Router(SERVERS, [CONFIGURATION])
    for number in (0, 1, 2, 3, 5):
        header = bytes(headers[number])
        for server, decision in router.decide(header, DOCUMENTS[number]).items():
            if decision.matches:
                expected[number, server] = (decision.matches, decision.is_hit)
    assert routed == expected
    assert {row.id: row.error.code for row in found if row.error}.keys() == {4, 99}


def test_absent_views_decide_without_the_document(spark: SparkSession) -> None:
    # The bytes are not those that were stamped, and only their length is looked at.
    document = b"<n><x>1</x></n>"
    header = routing.stamp(document, CONFIGURATION)
    frame = spark.createDataFrame(
        [(bytearray(len(document)), bytearray(header))], "xml binary, header binary"
    )
    servers = {"no": ["/n/a = 1"], "yes": ["not(/n/a)"]}
    (row,) = route(frame, servers, [CONFIGURATION]).collect()
    assert (row.server, row.is_hit, row.bytes_touched) == ("yes", True, 0)


def test_strings_are_documents(spark: SparkSession) -> None:
    text = "<?xml version='1.0' encoding='latin1'?><n><a>é</a></n>"
    frame = spark.createDataFrame([(text,)], "xml string")
    stamped = stamp(frame, CONFIGURATION)
    (row,) = route(stamped, {"s": ["/n/a = 'é'"]}, [CONFIGURATION]).collect()
    assert (row.server, row.is_hit) == ("s", True)


def test_wrong_columns_are_refused(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, bytearray(b"<a/>"))], "id int, xml binary")
    with pytest.raises(ValueError, match="no column `body`"):
        stamp(frame, CONFIGURATION, document="body")
    with pytest.raises(ValueError, match="binary or a string"):
        stamp(frame, CONFIGURATION, document="id")
    with pytest.raises(ValueError, match="already"):
        stamp(frame, CONFIGURATION, header="id")
    with pytest.raises(ValueError, match="headers are binary"):
        route(frame, {}, [], header="id")
