"""Records of a part of a file as record batches, without a Python object for each."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping
from typing import Any
from xml.sax.saxutils import quoteattr

from penstock.sources.ranges import Task, read_windows
from penstock.sources.standalone import StandAlone

_NAME = re.compile(rb"<[^\s/>]+")


def task_batches(task: Task, schema: Any) -> Iterator[Any]:
    """Yield the records of a task; the columns are those of ``penstock-xml``.

    Raises:
        DocumentError: The file cannot be read, or is not the one in which they were found.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    path = task.file.path
    for group, first, bounds, data, base in read_windows(task):
        count = len(bounds) // 2
        edges = pa.array(bounds, pa.int64())
        starts, ends = edges[::2], edges[1::2]
        numbers = pc.cast(pa.array(range(first, first + count), pa.int64()), pa.string())
        around = list(group.ancestors.items()) or None
        made = {
            "id": pc.binary_join_element_wise(pa.scalar(path), numbers, pa.scalar("#")),
            "xml": _declared(_slices(bounds, data, base), group.declarations),
            "path": _same(path, count, pa.string()),
            "member": _same("", count, pa.string()),
            "offset": starts,
            "length": pc.subtract(ends, starts),
            "ancestors": pa.array([around] * count, schema.field("ancestors").type),
            "ts": _same(task.file.modified, count, schema.field("ts").type),
            "fault": pa.nulls(count, schema.field("fault").type),
        }
        arrays = [made[field.name] for field in schema]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _slices(bounds: list[int], data: bytes, base: int) -> Any:
    """Return the bytes of all records.

    Records and what is between them are laid out as one array over the bytes as they are, of
    which every second value is taken.
    """
    import pyarrow as pa

    offsets = array("i", [bound - base for bound in bounds])
    pieces = pa.Array.from_buffers(
        pa.binary(), len(bounds) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )
    return pieces.take(pa.array(range(0, len(bounds) - 1, 2), pa.int32()))


def _declared(records: Any, declarations: Mapping[str, str]) -> Any:
    """Return records that declare the namespaces in scope.

    Mostly all have the same name and declare nothing themselves, so the declarations follow the
    name in each; where that is not so, one after the other is looked at.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = [(prefix, uri) for prefix, uri in declarations.items() if prefix != "xml"]
    if not missing:
        return records
    found = _NAME.match(records[0].as_py())
    assert found is not None, "a record begins with a start tag"
    name = found[0]
    quoted = re.escape(name.decode())
    like = rf"^{quoted}(?:[\s/>])"
    declares = rf"^{quoted}(?:[^\"'>]|\"[^\"]*\"|'[^']*')*\sxmlns"
    if (
        pc.all(pc.match_substring_regex(records, like)).as_py()
        and not pc.any(pc.match_substring_regex(records, declares)).as_py()
    ):
        added = "".join(
            f" xmlns{':' if prefix else ''}{prefix}={quoteattr(uri)}" for prefix, uri in missing
        )
        return pc.binary_replace_slice(records, 0, len(name), name + added.encode())
    alone = StandAlone(declarations)
    return pa.array([alone.declare(record.as_py()) for record in records], pa.binary())


def _same(value: object, count: int, type_: Any) -> Any:
    import pyarrow as pa

    return pa.repeat(pa.scalar(value, type_), count)
