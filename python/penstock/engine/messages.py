"""Rows of messages about joined bindings that the kernel made, as results and as batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from penstock.kernel import ALONE, MessageRows, error_of
from penstock.results import Fault, Result, make_row
from penstock.results.arrow import batch_of, columns_of, constant, schema
from penstock.results.documents import moment_of

if TYPE_CHECKING:
    import pyarrow as pa


class MessagePage(Sequence[Result]):
    """A page of rows, which become objects when somebody looks at them."""

    def __init__(
        self, rows: MessageRows, names: Sequence[str], elements: Sequence[str], stream: str
    ) -> None:
        self._native = rows
        self._names = names
        self._elements = elements
        self._stream = stream

    def __len__(self) -> int:
        return self._native.row_count

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    @overload
    def __getitem__(self, place: int) -> Result: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Result]: ...
    def __getitem__(self, place: int | slice) -> Result | Sequence[Result]:
        return self._results[place]

    def batch(self) -> pa.RecordBatch:
        """Return the rows as a record batch; objects cannot be had any more."""
        if self._native.has_failed:
            return batch_of(self._results)
        import pyarrow as pa

        length = len(self)
        arrays: dict[str, Any] = columns_of(self._native.columns())
        numbers = arrays["subscription"]
        arrays["subscription"] = _named(self._names, numbers)
        arrays["name"] = _named(self._elements, numbers)
        same = {"stream": self._stream, "kind": "element", "decided_at": 0}
        columns = [
            arrays[field.name]
            if field.name in arrays
            else constant(same.get(field.name), field.type, length)
            for field in schema()
        ]
        return pa.RecordBatch.from_arrays(columns, schema=schema())

    @cached_property
    def _results(self) -> list[Result]:
        return [self._result(*row) for row in self._native.rows()]

    def _result(
        self,
        number: int,
        message: str | None,
        document: str,
        documents: Sequence[str],
        ordinal: int,
        time_us: int,
    ) -> Result:
        failure = None if message is not None else Fault.of(error_of(MessageRows.reason()))
        return make_row(
            self._names[number],
            self._stream,
            document,
            tuple(documents),
            ordinal,
            "element" if failure is None else "error",
            self._elements[number] if failure is None else "",
            message,
            None,
            None,
            0,
            moment_of(time_us),
            None,
            failure,
            None,
            ALONE,
        )


def _named(texts: Sequence[str], numbers: Any) -> Any:
    """Return the texts of an array of numbers; a few rows do not pay for all texts."""
    import pyarrow as pa

    if len(numbers) < len(texts):
        return pa.array([texts[number] for number in numbers.to_pylist()], pa.string())
    return pa.array(texts, pa.string()).take(numbers)
