"""Records of a part of a file as record batches, without a Python object for each."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping
from typing import Any

from penstock.kernel import Surroundings
from penstock.sources.listing import Listed
from penstock.sources.ranges import Task, Window, read_windows, spread
from penstock.sources.stores import LOCAL, Opener

_NAME = re.compile(rb"<[^\s/>]+")


def task_batches(task: Task, schema: Any, stores: Opener = LOCAL) -> Iterator[Any]:
    """Yield the records of a task, with the columns of a schema, which ``penstock-xml`` has.

    Raises:
        DocumentError: The file cannot be read, or is not the one in which they were found.
    """
    import pyarrow as pa

    for window in read_windows(task, stores=stores):
        arrays = [_column(field.name, field.type, window, task.file) for field in schema]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _column(name: str, type_: Any, window: Window, file: Listed) -> Any:
    """Return one column of the records; one that nobody asks for costs nothing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    count = len(window)
    match name:
        case "id":
            numbers = pa.array(range(window.first, window.first + count), pa.int64())
            texts = pc.cast(numbers, pa.string())
            return pc.binary_join_element_wise(pa.scalar(file.path), texts, pa.scalar("#"))
        case "xml":
            return _xml(window)
        case "path":
            return _same(file.path, count, type_)
        case "member":
            return _same("", count, type_)
        case "offset":
            return pc.add(_edges(window)[::2], window.base)
        case "length":
            return pc.subtract(_edges(window)[1::2], _edges(window)[::2])
        case "ancestors":
            return _ancestors(window, type_)
        case "ts":
            return _same(file.modified, count, type_)
        case _:
            assert name == "fault", "these are all columns"
            return pa.nulls(count, type_)


def _edges(window: Window) -> Any:
    import pyarrow as pa

    return pa.array(window.bounds, pa.int64())


def _xml(window: Window) -> Any:
    """Return the records, each standing alone.

    Records and what is between them are laid out as one array over the bytes as they are, of
    which every second value is taken.
    """
    import pyarrow as pa

    bounds = window.bounds
    buffers = [None, pa.py_buffer(array("i", bounds)), pa.py_buffer(window.data)]
    pieces = pa.Array.from_buffers(pa.binary(), len(bounds) - 1, buffers)
    records = pieces.take(pa.array(range(0, len(bounds) - 1, 2), pa.int32()))
    ends = [start for start, _ in window.declarations[1:]] + [len(records)]
    parts = [
        _declared(records.slice(start, end - start), declarations)
        for (start, declarations), end in zip(window.declarations, ends, strict=True)
    ]
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)


def _ancestors(window: Window, type_: Any) -> Any:
    import pyarrow as pa

    if window.ancestors == [(0, {})]:
        return pa.nulls(len(window), type_)
    runs = [(at, list(one.items()) or None) for at, one in window.ancestors]
    return pa.array(spread(runs, len(window)), type_)


def _declared(records: Any, declarations: Mapping[str, str]) -> Any:
    """Return records that declare the namespaces in scope.

    Mostly all have the same name and declare nothing themselves, so the declarations follow the
    name in each; where that is not so, one after the other is looked at.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not declarations:
        return records
    alone = Surroundings(declarations, {})
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
        declared = alone.declare(name + b">").removesuffix(b">")
        return pc.binary_replace_slice(records, 0, len(name), declared)
    return pa.array([alone.declare(record.as_py()) for record in records], pa.binary())


def _same(value: object, count: int, type_: Any) -> Any:
    import pyarrow as pa

    return pa.repeat(pa.scalar(value, type_), count)
