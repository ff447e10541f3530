"""Whatever a caller has, as documents."""

import io
from collections.abc import Iterator

import pytest

import penstock


@pytest.fixture
def engine() -> penstock.Engine:
    registry = penstock.Registry()
    registry.add("b", "//b")
    return penstock.Engine(registry)


def test_documents_without_an_id_are_numbered(engine: penstock.Engine) -> None:
    source = [penstock.Document("<b/>"), penstock.Document("<b/>", id="x"), "<b/>", b"<b/>"]
    assert [row.document for row in engine.run(source)] == ["0", "x", "2", "3"]


def test_an_iterable_is_read_only_as_far_as_needed(engine: penstock.Engine) -> None:
    taken = []

    def documents() -> Iterator[penstock.Document]:
        for number in range(10):
            taken.append(number)
            yield penstock.Document("<b/>", id=str(number))

    rows = engine.run(documents())
    next(rows)
    next(rows)
    assert taken == [0, 1]


@pytest.mark.parametrize("source", [None, 5, [5], [None], object()])
def test_what_is_no_document_is_a_mistake_of_the_caller(
    engine: penstock.Engine, source: object
) -> None:
    with pytest.raises(TypeError):
        list(engine.run(source))  # type: ignore[arg-type]


def test_one_document_is_a_source(engine: penstock.Engine) -> None:
    (row,) = engine.run(penstock.Document(io.BytesIO(b"<b/>"), id="d", stream="s"))
    assert (row.document, row.stream) == ("d", "s")


def test_a_heartbeat_gives_no_rows_and_has_no_number(engine: penstock.Engine) -> None:
    source = ["<b/>", penstock.Heartbeat("S", 5), "<b/>"]
    assert [row.document for row in engine.run(source)] == ["0", "1"]
    assert sum(batch.num_rows for batch in engine.batches(source)) == 2
    assert sum(len(found.subscriptions()) for found in engine.matches(source)) == 2


@pytest.mark.parametrize("time", [float("nan"), float("inf"), -float("inf"), 1e12, -1e12, 10**400])
def test_a_time_that_is_no_event_time_is_an_error_of_its_document(
    engine: penstock.Engine, time: float
) -> None:
    source = [penstock.Document("<b/>", id="x", stream="S", time=time), "<b/>"]
    failed, good = engine.run(source)
    assert (failed.document, failed.stream, failed.source) == ("x", "S", b"<b/>")
    assert failed.error is not None
    assert failed.error.code == "PS0010"
    assert (failed.event_time, good.document) == (None, "1")
    assert [batch.column("document")[0].as_py() for batch in engine.batches(source)] == ["x", "1"]


def test_a_heartbeat_at_no_time_is_an_error(engine: penstock.Engine) -> None:
    (row,) = engine.run([penstock.Heartbeat("S", float("nan"))])
    assert row.error is not None
    assert (row.stream, row.document, row.error.code) == ("S", "", "PS0010")
