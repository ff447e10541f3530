"""Many small documents at hand, read without an object for each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import overload

from penstock.kernel import Bundle
from penstock.sources.inputs import Input
from penstock.sources.memory import BytesInput, TextInput


class Pack(Sequence[Input]):
    """Documents that lie behind each other in one buffer, each to be read as a whole.

    None is compressed, and the buffer stays as it is. ``is_text`` is said of UTF-8, whatever the
    documents say of themselves. An input is made when one is asked for; ``streams`` are those of
    the documents, if they matter.
    """

    def __init__(
        self,
        data: memoryview,
        offsets: Sequence[int],
        is_text: bool,
        streams: Sequence[str] | None = None,
    ) -> None:
        # Bytes that somebody could write to would be copied again and again.
        self._data = data.toreadonly()
        self._offsets = offsets
        self._is_text = is_text
        self._streams = streams

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, place: int) -> Input: ...
    @overload
    def __getitem__(self, place: slice) -> Pack: ...
    def __getitem__(self, place: int | slice) -> Input | Pack:
        if isinstance(place, slice):
            start, stop, _ = place.indices(len(self))
            streams = self._streams and self._streams[start:stop]
            return Pack(self._data, self._offsets[start : stop + 1], self._is_text, streams)
        start, end = self._offsets[place], self._offsets[place + 1]
        make = TextInput if self._is_text else BytesInput
        stream = self._streams[place] if self._streams else "default"
        return make(self._data[start:end], "", stream, None)

    def bundle(self, start: int, documents_max: int, bytes_max: int) -> Bundle:
        """Return the documents from a place on, one or more, up to both bounds."""
        offsets = self._offsets
        end = min(start + documents_max, bisect_right(offsets, offsets[start] + bytes_max) - 1)
        end = max(end, start + 1)
        encoding = TextInput.encoding if self._is_text else None
        streams = self._streams and self._streams[start:end]
        return Bundle(self._data, list(offsets[start : end + 1]), encoding, streams)
