"""Penstock's kernel alone: native columns of results, no Arrow and no rows."""

from collections.abc import Callable
from typing import Any

from benchmarks.peers import absent
from benchmarks.peers.penstock_batches import string_value
from benchmarks.workloads.queries import Query

NAME = "Penstock kernel"
TIMED = "Session.feed(bytes) in pieces, finish, and the native columns taken"
TAKEN_BYTES = 1 << 20


def missing() -> str | None:
    return absent("penstock.kernel", "penstock.planning.compile", "pyarrow")


def prepare(query: Query) -> Callable[[bytes], Any]:
    from penstock import kernel
    from penstock.languages.xpath import xpath
    from penstock.planning.compile import compile_query

    plan = kernel.Plan.build([compile_query(xpath(query.text))])
    kind = "number" if query.compare == "number" else "element"

    def run(data: bytes) -> Any:
        session = kernel.Session(plan)
        session.begin()
        view = memoryview(data)
        taken = []
        for start in range(0, len(data), kernel.CHUNK_BYTES):
            session.feed(view[start : start + kernel.CHUNK_BYTES])
            if session.value_bytes() >= TAKEN_BYTES:
                taken.append(session.take().columns())
        session.finish()
        taken.append(session.take().columns())
        return kind, taken

    return run


def values(answer: Any) -> list[str]:
    from penstock.results.arrow import kernel_arrays

    kind, taken = answer
    found: list[tuple[int, str]] = []
    for columns in taken:
        arrays = kernel_arrays(columns)
        found += zip(arrays["start"].to_pylist(), arrays["value"].to_pylist(), strict=True)
    return [string_value(kind, value) for _start, value in sorted(found)]
