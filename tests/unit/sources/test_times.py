"""Event times that documents state themselves."""

from __future__ import annotations

import gzip
import io
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

import penstock
from penstock.kernel import CHUNK_BYTES
from penstock.sources import Input
from penstock.sources.records import records
from penstock.sources.times import TimePath, iso_time

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def rows(source: object, path: str = "/*/@at", **options: object) -> list[penstock.Result]:
    registry = penstock.Registry()
    registry.add("text", "string(/*/b)")
    times = TimePath(path, **options)  # type: ignore[arg-type]
    return list(penstock.Engine(registry).run(times.timed(source)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-01T12:00:00Z",
        " 2024-05-01T14:00:00+02:00\n",
        "2024-05-01 12:00",
        "1714564800",
        "1714564800.0",
        "+1714564800.",
    ],
)
def test_times_are_iso_or_seconds(text: str) -> None:
    (row,) = rows(f"<a at='{text}'><b>1</b></a>")
    assert (row.event_time, row.value) == (NOON, "1")


def test_dates_of_xml_schema_may_have_a_zone() -> None:
    east = timezone(timedelta(hours=2))
    assert iso_time("2024-05-01+02:00") == datetime(2024, 5, 1, tzinfo=east)
    assert iso_time("2024-05-01Z") == datetime(2024, 5, 1, tzinfo=UTC)
    assert iso_time("2024-05-01") == datetime(2024, 5, 1)  # it names no zone
    assert iso_time("the first of May") is None


def test_of_several_nodes_the_first_counts() -> None:
    (row,) = rows("<a><t>0</t><t>1</t></a>", "//t")
    assert row.event_time == datetime(1970, 1, 1, tzinfo=UTC)


def test_an_expression_may_compute_the_time() -> None:
    (row,) = rows("<a ms='1714564800000'/>", "/a/@ms div 1000")
    assert row.event_time == NOON


def test_heartbeats_go_through_and_bad_times_fail() -> None:
    beat = penstock.Heartbeat("S", 3)
    source = [beat, penstock.Document("<a/>", id="d", stream="S")]
    first, second = TimePath("/a/@at").timed(source)
    assert first is beat
    assert isinstance(second, Input)
    (row,) = penstock.Engine(penstock.Registry()).run([second])
    assert (row.document, row.stream, row.event_time, row.source) == ("d", "S", None, b"<a/>")
    assert row.error is not None
    assert row.error.code == "PS0010"


def test_a_time_decided_before_an_error_holds() -> None:
    (row,) = rows("<a at='1714564800'><b></a>")
    assert row.event_time == NOON
    assert row.error is not None
    assert row.error.code == "PD0007"


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("filler", [0, 3 * CHUNK_BYTES, 8 * CHUNK_BYTES])
def test_a_document_is_read_whole_behind_its_time(
    filler: int, pack: object, tmp_path: Path
) -> None:
    data = b"<a at='1714564800'><c>" + b"x" * filler + b"</c><b>1</b></a>"
    packed: bytes = pack(data)  # type: ignore[operator]
    (tmp_path / "a.xml").write_bytes(packed)
    for source in (tmp_path / "a.xml", packed, bytearray(packed), io.BytesIO(packed)):
        (row,) = rows(source)
        assert (row.event_time, row.value) == (NOON, "1")


def test_a_pipe_is_read_no_further_than_to_its_time() -> None:
    class Pipe:
        def __init__(self) -> None:
            self.pieces = [b"<a at='1714564800'>", b"<b>1</b>", b"</a>"]

        def read(self, _: int) -> bytes:
            return self.pieces.pop(0) if self.pieces else b""

    pipe = Pipe()
    (document,) = TimePath("/a/@at").timed(pipe)  # type: ignore[arg-type]
    assert len(pipe.pieces) == 2
    assert isinstance(document, Input)
    assert b"".join(document.pieces()) == b"<a at='1714564800'><b>1</b></a>"


@pytest.mark.parametrize(("bytes_max", "code"), [(600_000, None), (500_000, "PL0007")])
def test_what_is_held_until_the_time_is_bounded(bytes_max: int, code: str | None) -> None:
    data = b"<a><b>1</b>" + b" " * 550_000 + b"<t>1714564800</t></a>"
    limits = penstock.Limits(buffer_bytes_max=bytes_max)
    (row,) = rows(io.BytesIO(data), "/a/t", limits=limits)
    assert (row.error and row.error.code) == code


def test_records_have_times_of_their_own() -> None:
    document = "<s><r at='1714564800'><b>1</b></r><r><b>2</b></r></s>"
    first, second = rows(records(document, "//r"))
    assert (first.document, first.event_time) == ("0#0", NOON)
    assert (second.document, second.is_error) == ("0#1", True)


def test_errors_of_the_path_show_it_as_written() -> None:
    with pytest.raises(penstock.QueryError) as caught:
        TimePath("/a/@")
    assert caught.value.text == "/a/@"
