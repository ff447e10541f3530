"""The kernel's columns in Arrow: the same memory, as long as somebody holds it."""

from __future__ import annotations

import gc
import resource
from typing import Any

import pyarrow as pa

from penstock.kernel import Batch, Plan, Session
from penstock.planning.programs import compile_program
from penstock.results.arrow import kernel_arrays, schema

DOCUMENT = b"<a><b>x</b><b>\xc3\xa4\xc3\xb6</b><c/></a>"


def batch_of(*queries: str, document: bytes = DOCUMENT, **options: bool) -> Batch:
    """Return what a session decided that is gone already."""
    plan = Plan.build([compile_program(query, **options) for query in queries])
    session = Session(plan)
    for _ in session.read_pieces([document]):
        pass
    return session.take()


def checked(columns: Any) -> dict[str, list[Any]]:
    """Return columns as lists, after Arrow has looked at all bytes of them."""
    pa.record_batch(columns).validate(full=True)
    arrays = kernel_arrays(columns)
    assert {len(array) for array in arrays.values()} == {len(columns)}
    for name in ("ordinal", "name", "value", "start", "end", "decided_at", "bindings"):
        assert arrays[name].type == schema().field(name).type
    return {name: array.to_pylist() for name, array in arrays.items()}


def test_columns_outlive_session_batch_and_each_other() -> None:
    batch = batch_of("//b")
    columns = batch.columns()
    read = pa.record_batch(columns)
    again = pa.record_batch(columns)
    value = read.column("value")
    addresses = [buffer.address for buffer in value.buffers() if buffer is not None]
    shared = again.column("value").buffers()
    assert [buffer.address for buffer in shared if buffer is not None] == addresses
    del batch, columns, read, again, shared
    gc.collect()
    others = [batch_of("//b", document=DOCUMENT.replace(b"x", b"y")).columns() for _ in range(99)]
    assert value.to_pylist() == ["<b>x</b>", "<b>äö</b>"]
    assert [checked(one)["value"][0] for one in others] == ["<b>y</b>"] * 99


def test_a_batch_without_rows_has_all_columns() -> None:
    batch = batch_of("//nothing")
    found = checked(batch.columns())
    assert found.keys() == {"document", "subscription", "kind"} | (
        {"ordinal", "name", "value", "start", "end", "decided_at", "bindings"}
    )
    assert not any(found.values())
    assert batch.next_columns(1) is None
    entries, fragments = batch_of("//nothing").matches()
    assert pa.record_batch(entries).to_pylist() == []
    assert not any(checked(fragments).values())
    assert pa.record_batch(batch.columns()).num_rows == 0


def test_values_have_no_place() -> None:
    found = checked(batch_of("//b", "count(//b)").columns())
    rows = sorted(zip(found["start"], found["end"], found["value"], strict=True), key=str)
    assert rows == [(11, 22, "<b>äö</b>"), (3, 11, "<b>x</b>"), (None, None, "2")]
    found = checked(batch_of("count(//b)").columns())
    assert (found["start"], found["end"]) == ([None], [None])


def test_entries_list_their_fragments() -> None:
    entries, fragments = batch_of("//b", "//c").matches()
    read = pa.record_batch(entries)
    read.validate(full=True)
    assert read.schema.field("fragments").type == pa.list_view(pa.uint32())
    values = checked(fragments)["value"]
    listed = [
        (one["subscription"], place) for one in read.to_pylist() for place in one["fragments"]
    ]
    found = [(subscription, values[place]) for subscription, place in listed]
    assert found == [(0, "<b>x</b>"), (0, "<b>äö</b>"), (1, "<c/>")]


def test_memory_is_freed_when_nobody_holds_it() -> None:
    document = b"<a><b>" + b"x" * (1 << 20) + b"</b></a>"
    session = Session(Plan.build([compile_program("//b")]))

    def use(times: int) -> None:
        for _ in range(times):
            for _ in session.read_pieces([document]):
                pass
            columns = session.take().columns()
            columns.__arrow_c_array__()  # whoever asks need not take it
            assert pa.record_batch(columns).column("value").nbytes > 1 << 20

    use(8)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    use(200)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100 << 10, "200 MiB went through"
