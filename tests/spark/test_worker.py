"""What runs in the workers, without Spark: batches in, batches of bounded size out."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest

import penstock
from penstock.limits import Limits
from penstock.spark import worker
from penstock.spark.plans import ship
from penstock.spark.worker import PACE, Job, evaluate

BATCH = cast("Any", SimpleNamespace(isStreaming=False))


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test a host and a process that have seen nothing yet."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(worker, "_idle", type(worker._idle)())


def job_of(*queries: str, limits: Limits | None = None, is_text: bool = False) -> Job:
    registry = penstock.Registry()
    for query in queries:
        registry.add(query, query)
    return Job(ship(registry, BATCH), limits or Limits(), is_text)


def batch_of(documents: list[bytes | None], type_: Any = None) -> pa.RecordBatch:
    count = len(documents)
    arrays = [
        pa.array(documents, type_ or pa.binary()),
        pa.array([f"d{number}" for number in range(count)]),
        pa.nulls(count, pa.timestamp("us", tz="Asia/Kolkata")),
        pa.repeat("default", count),
        pa.array(range(count), pa.int32()),
    ]
    names = ["__document", "__id", "__time", "__stream", "number"]
    return pa.RecordBatch.from_arrays(arrays, names=names)


def rows_of(batches: Iterator[pa.RecordBatch]) -> list[tuple[Any, ...]]:
    found = pa.Table.from_batches(list(batches)).to_pylist()
    return [(row["document"], row["subscription"], row["value"], row["number"]) for row in found]


def test_bundles_of_documents_give_the_rows_of_the_engine() -> None:
    registry = penstock.Registry()
    for number in range(200):
        registry.add(
            f"f{number}", f"/a/b{number % 20}[c]", mode="filter" if number % 3 else "query"
        )
    documents: list[bytes | None] = [
        f"<a>{' ' * (number % 7)}<b{number % 20}><c/></b{number % 20}></a>".encode()
        for number in range(300)
    ]
    documents[77] = b"<a><b1><c/></b1>"
    found = evaluate(Job(ship(registry, BATCH), Limits(), False), iter([batch_of(documents)]))
    rows = pa.Table.from_batches(list(found)).to_pylist()
    source = [penstock.Document(one or b"", id=f"d{n}") for n, one in enumerate(documents)]
    names = ("document", "subscription", "ordinal", "kind", "value", "start", "decided_at")
    engine = penstock.Engine(registry).run(source)
    expected = sorted((tuple(getattr(row, name) for name in names) for row in engine), key=repr)
    assert sorted((tuple(row[name] for name in names) for row in rows), key=repr) == expected
    assert len(expected) == 300 * 10 + 1


def test_batches_of_rows_are_bounded() -> None:
    documents = [b"<a>" + b"<b/>" * 1000 + b"</a>"] * 300
    sizes = [len(batch) for batch in evaluate(job_of("//b"), iter([batch_of(documents)]))]
    assert sum(sizes) == 300_000
    assert max(sizes) == PACE.rows_max
    assert len(sizes) < 2 * 300_000 / PACE.rows_max


def test_batches_of_values_are_bounded() -> None:
    documents = [b"<a>" + b"x" * 100_000 + b"</a>"] * 400
    batches = list(evaluate(job_of("/a"), iter([batch_of(documents)])))
    assert sum(map(len, batches)) == 400
    sizes = [batch.column("value").nbytes for batch in batches]
    # The values of the bundle that fills a batch stay together.
    assert max(sizes) <= PACE.value_bytes_max + PACE.bundle_bytes_max


def test_values_that_many_subscriptions_select_are_never_together() -> None:
    registry = penstock.Registry()
    for number in range(2_000):
        registry.add(f"f{number}", f"/a/b[c{number}]")
    children = "".join(f"<c{number}/>" for number in range(2_000))
    document = f"<a><b>{children}{'x' * 50_000}</b></a>".encode()
    found = evaluate(Job(ship(registry, BATCH), Limits(), False), iter([batch_of([document])]))
    # A slice keeps all that it was cut from.
    kept = [(len(batch), batch.get_total_buffer_size()) for batch in found]
    assert sum(length for length, _ in kept) == 2_000
    assert max(size for _, size in kept) < 2 * (16 << 20)


def test_rows_of_a_slice_are_those_of_its_documents() -> None:
    batch = batch_of([f"<a>{number}</a>".encode() for number in range(100)])
    found = rows_of(evaluate(job_of("/a/text()"), iter([batch.slice(10, 3), batch.slice(90)])))
    numbers = [10, 11, 12, *range(90, 100)]
    assert found == [(f"d{n}", "/a/text()", str(n), n) for n in numbers]


@pytest.mark.parametrize("constant", [{"__time"}, {"__stream"}, {"__time", "__stream"}])
def test_columns_that_say_the_same_of_all_documents_need_not_come(constant: set[str]) -> None:
    whole = batch_of([b"<a>1</a>", b"<a>", b"<a>2</a>"])
    job = job_of("/a/text()")
    fewer = replace(job, constant=frozenset(constant))
    (wanted, found) = (
        pa.Table.from_batches(list(evaluate(one, iter([batch]))))
        for one, batch in ((job, whole), (fewer, whole.drop_columns(list(constant))))
    )
    assert found.equals(wanted)
    assert wanted.num_rows == 3


def test_odd_documents_stand_between_others() -> None:
    packed = gzip.compress(b"<a>2</a>")
    documents = [b"<a>0</a>", None, packed, b"<a>", b"<a>4</a>", packed[:-9], b"<a>6</a>"]
    found = rows_of(evaluate(job_of("/a/text()"), iter([batch_of(documents)])))
    values = sorted((number, value or "error") for _, _, value, number in found)
    errors = [(1, "error"), (3, "error"), (5, "error")]
    # What was decided before the error stands: the text of the packed document that is cut off.
    assert values == sorted([(0, "0"), (2, "2"), (4, "4"), (5, "2"), (6, "6"), *errors])


@pytest.mark.parametrize("type_", [pa.binary(), pa.large_binary(), pa.string(), pa.large_string()])
def test_every_type_of_documents_is_read(type_: Any) -> None:
    is_text = type_ in (pa.string(), pa.large_string())
    values = ["<a>x</a>", "", "<b/>"] if is_text else [b"<a>x</a>", b"", b"<b/>"]
    job = job_of("//*/text()", is_text=is_text)
    found = rows_of(evaluate(job, iter([batch_of(cast("Any", values), type_)])))
    assert [(value, number) for _, _, value, number in found] == [("x", 0), (None, 1)]


def test_empty_input_gives_nothing() -> None:
    job = job_of("/a")
    assert list(evaluate(job, iter([]))) == []
    assert list(evaluate(job, iter([batch_of([])]))) == []


def test_next_task_finds_the_session_of_the_last_one() -> None:
    job, batch = job_of("/a"), batch_of([b"<a/>"] * 3)
    first = list(evaluate(job, iter([batch])))
    ((session, _),) = worker._idle.values()
    assert list(evaluate(job, iter([batch]))) == first
    ((again, _),) = worker._idle.values()
    assert again is session


def test_task_that_ends_early_leaves_nothing_behind() -> None:
    job, batch = job_of("/a"), batch_of([b"<a/>"] * 500)
    running = evaluate(job, iter([batch]))
    next(running)
    running.close()  # type: ignore[attr-defined]
    assert sum(len(one) for one in evaluate(job, iter([batch]))) == 500


def test_sessions_of_old_plans_are_forgotten() -> None:
    batch = batch_of([b"<a/>"])
    for number in range(worker._SESSIONS_KEPT + 3):
        list(evaluate(job_of(f"/a{number}"), iter([batch])))
    assert len(worker._idle) == worker._SESSIONS_KEPT


def test_limits_make_sessions_of_their_own() -> None:
    batch = batch_of([b"<a><b/></a>"])
    (free,) = evaluate(job_of("//b"), iter([batch]))
    (bound,) = evaluate(job_of("//b", limits=Limits(depth_max=1)), iter([batch]))
    assert free.column("kind").to_pylist() == ["element"]
    assert bound.column("kind").to_pylist() == ["error"]


GREEDY = "//a[preceding::a/following::a = .]"


def siblings(count: int) -> bytes:
    return b"<r>" + b"<a>x</a>" * count + b"</r>"


def nested(depth: int, text: bytes = b"") -> bytes:
    return b"<a>" * depth + text + b"</a>" * depth


@pytest.mark.parametrize("large", [nested(3_000), nested(60, b"x" * 300_000)])
@pytest.mark.parametrize("is_odd", [False, True])
def test_rows_of_one_document_leave_in_several_batches(large: bytes, is_odd: bool) -> None:
    documents: list[bytes | None] = [b"<a/>", large, b"<a/>", b"<a/><b/>", b"<a/>"]
    if is_odd:
        documents = [gzip.compress(one or b"") for one in documents]
    batches = list(evaluate(job_of("//a"), iter([batch_of(documents)])))
    sizes = [batch.column("value").nbytes for batch in batches]
    assert sum(sizes) > 8 << 20
    assert max(sizes) < 32 << 20
    rows = [row for batch in batches for row in batch.to_pylist()]
    ordinals = [row["ordinal"] for row in rows if row["number"] == 1]
    assert sorted(ordinals) == list(range(large.count(b"<a>")))
    others = [(row["number"], row["document"], row["kind"]) for row in rows if row["number"] != 1]
    # What a document with an error decided before it may come or not, by how it was read.
    found = [(0, "d0", "element"), (2, "d2", "element"), (4, "d4", "element")]
    assert [one for one in others if one[0] != 3] == found
    assert (3, "d3", "error") in others


def test_the_rows_of_a_large_document_are_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    class Sessions(worker.Session):
        most = 0

        def take(self) -> Any:
            Sessions.most = max(Sessions.most, self.value_bytes())
            return super().take()

    monkeypatch.setattr(worker, "Session", Sessions)
    document = nested(300, b"x" * 300_000)
    total = 0
    for batch in evaluate(job_of("//a"), iter([batch_of([document])])):
        total += batch.column("value").nbytes
    assert total > 80 << 20
    assert 0 < Sessions.most < 32 << 20


def test_a_subscription_that_fails_alone_is_named_and_its_document_has_no_source() -> None:
    job = job_of(GREEDY, "count(//a)", limits=Limits(steps_max=10_000))
    documents: list[bytes | None] = [b"<r>", siblings(3_000), b"<r><a/></r>"]
    rows = [row for one in evaluate(job, iter([batch_of(documents)])) for row in one.to_pylist()]
    errors = [row for row in rows if row["kind"] == "error"]
    assert [(one["document"], one["subscription"], one["source"]) for one in errors] == [
        ("d0", None, b"<r>"),
        ("d1", GREEDY, None),
    ]
    assert [one["error"]["code"] for one in errors] == ["PD0026", "PL0014"]
    counts = [row["value"] for row in rows if row["subscription"] == "count(//a)"]
    assert counts == ["3000", "1"]


def test_a_document_that_cannot_be_read_again_names_who_is_to_blame() -> None:
    job = job_of(GREEDY, "count(//a)", limits=Limits(steps_max=10_000))
    packed = gzip.compress(siblings(3_000))
    *_, batch = evaluate(job, iter([batch_of([packed])]))
    (row,) = batch.to_pylist()
    assert (row["subscription"], row["source"]) == (None, packed)
    assert f"`{GREEDY}`" in row["error"]["reason"]


def test_a_task_that_ends_inside_a_document_leaves_nothing_behind() -> None:
    # Its values are larger than a batch, long before its end.
    large = b"<r>" + nested(100, b"x" * 1_000) * 200 + b"</r>"
    job, batch = job_of("//a"), batch_of([large, b"<a/>"])
    running = evaluate(job, iter([batch]))
    next(running)
    running.close()  # type: ignore[attr-defined]
    ((session, _),) = worker._idle.values()
    assert session.row_count() == 0
    assert sum(len(one) for one in evaluate(job, iter([batch]))) == 20_001
    assert len(worker._idle) == 1


def test_suspended_subscriptions_get_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    job, batch = job_of("//a", "//b"), batch_of([b"<a><b/></a>"])

    def subscriptions() -> list[str]:
        return sorted(row[1] for row in rows_of(evaluate(job, iter([batch]))))

    assert subscriptions() == ["//a", "//b"]
    monkeypatch.setattr(worker, "suspended_here", lambda: ["//b", "unknown"])
    assert subscriptions() == ["//a"]
    monkeypatch.setattr(worker, "suspended_here", list)
    assert subscriptions() == ["//a", "//b"]
