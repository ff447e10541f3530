"""One large file in several tasks: a quick pass finds the records, tasks read their ranges."""

from __future__ import annotations

import re
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import sub
from typing import TypeVar

from penstock.errors import DocumentError
from penstock.kernel import CHUNK_BYTES, Surroundings
from penstock.limits import Limits
from penstock.sources.around import Run
from penstock.sources.inputs import changed, unreadable
from penstock.sources.listing import Listed
from penstock.sources.paths import RecordPath
from penstock.sources.spans import SpanFinder, Spans
from penstock.sources.splitting import Account, Record
from penstock.sources.stores import LOCAL, Opened, Opener

_WINDOW_BYTES = 4 << 20
_HEAD_BYTES = 1024
_DOCTYPE = b"<!DOCTYPE"
_DECLARED = re.compile(rb"^<\?xml\s[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_OTHER_MARKS = (b"\x1f\x8b", b"PK\x03\x04", b"\xfe\xff", b"\xff\xfe", b"BZh", b"\xfd7zXZ\x00")


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Task:
    """A part of a file that holds whole records, and the file as it was when they were found."""

    file: Listed
    first: int
    """The number of the first record."""
    packed: bytes
    """Where records start and end, as differences of 64-bit numbers, compressed."""
    declarations: tuple[Run, ...]
    ancestors: tuple[Run, ...]
    mark: str = ""
    """The mark of the content, where its store has one."""

    def bounds(self) -> list[int]:
        """Return start and end of each record in turn."""
        differences = array("q")
        differences.frombytes(zlib.decompress(self.packed))
        return list(accumulate(differences))


@dataclass(frozen=True, slots=True)
class Window:
    """Neighbouring records of a task, as they stand in the file.

    ``bounds`` are start and end of each record in turn, counted from the beginning of ``data``,
    which is ``base`` in the file. Runs count from the first record of the window.
    """

    first: int
    base: int
    bounds: list[int]
    data: bytes
    declarations: list[Run]
    ancestors: list[Run]

    def __len__(self) -> int:
        return len(self.bounds) // 2


@dataclass(frozen=True, slots=True)
class Found:
    """The tasks of a file, its account, and its error if it is not well-formed to the end."""

    tasks: tuple[Task, ...]
    account: Account
    failure: DocumentError | None


def find_ranges(
    file: Listed,
    path: RecordPath,
    task_bytes: int,
    limits: Limits | None = None,
    stores: Opener = LOCAL,
) -> Found | None:
    """Return tasks of up to ``task_bytes`` that together read all records of a file.

    A record that is larger is a task.

    None if the file cannot be read in parts: it is compressed, an archive, not in UTF-8, or it
    has a document type, whose entities records may need.

    Raises:
        DocumentError: The file cannot be read.
    """
    try:
        with stores.open(file.path) as found:
            opened = found.stream()
            if not _is_plain(opened.read(_HEAD_BYTES)):
                return None
            opened.seek(0)
            plan = _Planning(file, task_bytes, found.state.mark)
            finder = SpanFinder(path, limits)
            before = b""
            while finder.failure is None and (piece := opened.read(4 * CHUNK_BYTES)):
                if not plan.is_begun:
                    if _DOCTYPE in before + piece:
                        return None
                    before = piece[-len(_DOCTYPE) :]
                plan.add(finder.feed(piece))
            if finder.failure is None:
                plan.add(finder.finish())
    except OSError as error:
        raise unreadable(f"the file cannot be read: {error.strerror or error}") from None
    if finder.failure is None and finder.account.bytes_in != file.size:
        return None  # the file is growing, or offsets are not those of the file
    return Found(plan.finish(), finder.account, finder.failure)


def read_ranges(task: Task, stores: Opener = LOCAL) -> Iterator[Record]:
    """Yield the records of a task.

    Raises:
        DocumentError: The file cannot be read, or is not the one in which they were found.
    """
    for window in read_windows(task, stores=stores):
        scopes, around = (
            spread(window.declarations, len(window)),
            spread(window.ancestors, len(window)),
        )
        alone, like = Surroundings(scopes[0], {}), scopes[0]
        for index in range(len(window)):
            start, end = window.bounds[2 * index : 2 * index + 2]
            if scopes[index] is not like:
                alone, like = Surroundings(scopes[index], {}), scopes[index]
            xml = alone.declare(window.data[start:end])
            place = (window.first + index, window.base + start, window.base + end)
            yield Record(*place, "", xml, scopes[index], around[index])


def read_windows(
    task: Task, window_bytes: int = _WINDOW_BYTES, stores: Opener = LOCAL
) -> Iterator[Window]:
    """Yield the records of a task, many at a time.

    Raises:
        DocumentError: As above.
    """
    try:
        with stores.open(task.file.path) as opened:
            if opened.state != (task.file.size, task.file.mtime_ns, task.mark):
                raise changed()
            bounds = task.bounds()
            at = 0
            while at < len(bounds):
                base = bounds[at]
                upto = bisect_right(bounds, base + window_bytes, at + 2) // 2 * 2
                yield Window(
                    task.first + at // 2,
                    base,
                    [bound - base for bound in bounds[at:upto]],
                    _read(opened, base, bounds[upto - 1]),
                    _runs(task.declarations, at // 2, upto // 2),
                    _runs(task.ancestors, at // 2, upto // 2),
                )
                at = upto
    except OSError as error:
        raise unreadable(f"the file cannot be read: {error.strerror or error}") from None


def spread(runs: Sequence[tuple[int, T]], count: int) -> list[T]:
    """Return what holds for each of so many records."""
    ends = [start for start, _ in runs[1:]] + [count]
    return [
        value for (start, value), end in zip(runs, ends, strict=True) for _ in range(start, end)
    ]


def _runs(runs: Sequence[Run], start: int, end: int) -> list[Run]:
    """Return the runs of some records of a task, counted from the first of them."""
    first = bisect_right(runs, start, key=lambda run: run[0]) - 1
    last = bisect_left(runs, end, key=lambda run: run[0])
    return [(max(place - start, 0), value) for place, value in runs[first:last]]


def _is_plain(head: bytes) -> bool:
    if head.startswith(_OTHER_MARKS) or b"\0" in head[:4]:
        return False
    declared = _DECLARED.match(head.removeprefix(b"\xef\xbb\xbf"))
    return declared is None or declared[1].lower() in (b"utf-8", b"utf8", b"us-ascii", b"ascii")


class _Planning:
    """Collects records into tasks."""

    def __init__(self, file: Listed, task_bytes: int, mark: str = "") -> None:
        self._file = file
        self._mark = mark
        self._task_bytes = task_bytes
        self._tasks: list[Task] = []
        self._begin(0)
        self.is_begun = False

    def _begin(self, first: int) -> None:
        self._first = first
        self._starts, self._ends = array("q"), array("q")
        self._declarations: list[Run] = []
        self._ancestors: list[Run] = []

    def add(self, spans: Spans) -> None:
        """Take the next records."""
        at = 0
        while at < len(spans):
            self.is_begun = True
            task_start = self._starts[0] if self._starts else spans.starts[at]
            upto = bisect_right(spans.ends, task_start + self._task_bytes, at)
            if upto == at and self._starts:
                self._end()
                self._begin(spans.first + at)
                continue
            upto = max(upto, at + 1)
            place = len(self._starts)
            for ours, theirs in (
                (self._declarations, spans.declarations),
                (self._ancestors, spans.ancestors),
            ):
                for start, value in _runs(theirs, at, upto):
                    _note(ours, place + start, value)
            self._starts.extend(spans.starts[at:upto])
            self._ends.extend(spans.ends[at:upto])
            at = upto

    def finish(self) -> tuple[Task, ...]:
        """Return the tasks."""
        self._end()
        return tuple(self._tasks)

    def _end(self) -> None:
        if self._starts:
            bounds = array("q", bytes(16 * len(self._starts)))
            bounds[::2], bounds[1::2] = self._starts, self._ends
            differences = array("q", map(sub, bounds, chain((0,), bounds)))
            packed = zlib.compress(differences.tobytes(), 1)
            runs = tuple(self._declarations), tuple(self._ancestors)
            self._tasks.append(Task(self._file, self._first, packed, *runs, self._mark))


def _note(runs: list[Run], place: int, value: Mapping[str, str]) -> None:
    """Begin a run, unless the last one goes on."""
    if not runs or (runs[-1][1] is not value and runs[-1][1] != value):
        runs.append((place, value))


def _read(opened: Opened, start: int, end: int) -> bytes:
    data = opened.read_at(start, end)
    if len(data) < end - start:
        raise changed()
    return data
