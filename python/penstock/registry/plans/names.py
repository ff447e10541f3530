"""Names by the kernel's numbers, without a Python object for each."""

from __future__ import annotations

from abc import abstractmethod
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from typing_extensions import Buffer


COPIED_ROWS_MIN = 1 << 10
"""For fewer rows than this, names are looked up one by one."""


class _Names(Sequence[str]):
    """A sequence of names; it equals any sequence of the same names."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(own == name for own, name in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return len(self)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self.name(place) for place in range(*index.indices(len(self))))
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return self.name(index % len(self))

    @abstractmethod
    def name(self, index: int) -> str:
        """Return the name of a number."""

    @property
    @abstractmethod
    def arrow(self) -> Any:
        """The names as an Arrow array."""


class FlatNames(_Names):
    """Names in one buffer: ``data[offsets[i]:offsets[i + 1]]``, as Arrow lays them out."""

    def __init__(self, offsets: Buffer, data: Buffer) -> None:
        self._offsets = memoryview(offsets).cast("B").cast("q")
        self._data = memoryview(data)

    @staticmethod
    def of(names: Sequence[str]) -> FlatNames:
        """Return names in one buffer; they are copied unless they are in one."""
        if isinstance(names, FlatNames):
            return names
        encoded = [name.encode("utf-8", "surrogatepass") for name in names]
        offsets = array("q", accumulate(map(len, encoded), initial=0))
        return FlatNames(offsets, b"".join(encoded))

    @property
    def buffers(self) -> tuple[memoryview, memoryview]:
        """The offsets and the data."""
        return self._offsets, self._data

    def name(self, index: int) -> str:
        """Return the name of a number."""
        return str(
            self._data[self._offsets[index] : self._offsets[index + 1]], "utf-8", "surrogatepass"
        )

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @cached_property
    def arrow(self) -> Any:
        """The names as an Arrow array over the same buffers."""
        import pyarrow as pa

        offsets, data = pa.py_buffer(self._offsets), pa.py_buffer(self._data)
        return pa.LargeStringArray.from_buffers(len(self), offsets, data)


class AttachedNames(_Names):
    """The names of several plans, one after the other."""

    def __init__(self, parts: Iterable[Sequence[str]]) -> None:
        self._parts = list(parts)
        self.starts = list(accumulate(map(len, self._parts), initial=0))
        """The number of each part's first name, and at last the number of all names."""

    def name(self, index: int) -> str:
        """Return the name of a number."""
        part = bisect_right(self.starts, index) - 1
        return self._parts[part][index - self.starts[part]]

    def __len__(self) -> int:
        return self.starts[-1]

    def __iter__(self) -> Iterator[str]:
        for part in self._parts:
            yield from part

    @cached_property
    def arrow(self) -> Any:
        """The names as an Arrow array: a copy of all of them."""
        import pyarrow as pa

        return pa.chunked_array(map(arrow_of, self._parts), pa.large_string()).combine_chunks()


def arrow_of(names: Sequence[str]) -> Any:
    """Return names as an Arrow array."""
    import pyarrow as pa

    return names.arrow if isinstance(names, _Names) else pa.array(names, pa.large_string())


def look_up(names: Sequence[str], numbers: Any) -> Any:
    """Return the names of an Arrow array of numbers, as such an array."""
    import pyarrow as pa

    # A changing registry attaches its names again each time; few rows are not worth a copy.
    if isinstance(names, AttachedNames) and len(numbers) < COPIED_ROWS_MIN:
        return pa.array([names.name(number) for number in numbers.to_pylist()], pa.large_string())
    return arrow_of(names).take(numbers)
