"""The documents of a record batch, read in place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.engine.feeding import feed
from penstock.errors import DocumentError
from penstock.kernel import Session
from penstock.sources.inputs import Input, unreadable
from penstock.sources.memory import BytesInput, TextInput

Failures = list[tuple[int, DocumentError]]

_GZ = b"\x1f\x8b"
_DECLARED = r"^\x{FEFF}?<\?xml\s[^>]*encoding\s*="
_DECLARED_UTF8 = _DECLARED + r"\s*[\"'](?i:utf-8)[\"']"


class Documents:
    """The documents of one batch; most are read many at a time, straight from Arrow's memory.

    Odd ones are read one by one: compressed bytes, null, and text that declares another
    encoding or is no XML at all.
    """

    def __init__(self, batch: Any, is_text: bool) -> None:
        import pyarrow as pa

        column = batch.column(0)
        is_large = pa.types.is_large_binary(column.type) or pa.types.is_large_string(column.type)
        _, offsets, data = column.buffers()
        numbers = pa.int64() if is_large else pa.int32()
        self._offsets: list[int] = pa.Array.from_buffers(
            numbers, len(column) + 1, [None, offsets], offset=column.offset
        ).to_pylist()
        self._data = memoryview(b"") if data is None else memoryview(data).cast("B")
        self._column = column
        self._is_text = is_text
        self._odd: frozenset[int] = frozenset(self._find_odd())

    def runs(self) -> Iterator[range]:
        """Yield ranges of documents that are read together: none odd, or a single one."""
        start = 0
        for odd in sorted(self._odd):
            if start < odd:
                yield range(start, odd)
            yield range(odd, odd + 1)
            start = odd + 1
        if start < len(self._column):
            yield range(start, len(self._column))

    def read(self, session: Session, start: int, stop: int) -> Failures:
        """Read documents of one run; return the errors by number, counted from ``start``."""
        if start not in self._odd:
            return session.read_documents(self._data, self._offsets[start : stop + 1])
        value = self._column[start].as_py()
        if value is None:
            return [(0, unreadable("the document is null"))]
        made: Input = (TextInput if self._is_text else BytesInput)(value, "", "", None)
        try:
            for _ in feed(session, made):
                pass
        except DocumentError as error:
            return [(0, error)]
        return []

    def _find_odd(self) -> list[int]:
        import pyarrow.compute as pc

        column = self._column
        if self._is_text:
            is_foreign = pc.and_not(
                pc.match_substring_regex(column, _DECLARED),
                pc.match_substring_regex(column, _DECLARED_UTF8),
            )
            is_odd = pc.or_(is_foreign, pc.invert(pc.match_substring(column, "<")))
        else:
            is_odd = pc.starts_with(column, _GZ)
        if column.null_count:
            is_odd = pc.fill_null(is_odd, True)
        found: list[int] = pc.indices_nonzero(is_odd).to_pylist()
        return found
