"""One large file in several tasks: a quick pass finds the records, tasks read their ranges."""

from __future__ import annotations

import os
import re
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

from penstock.errors import DocumentError
from penstock.kernel import CHUNK_BYTES
from penstock.limits import Limits
from penstock.sources.inputs import unreadable
from penstock.sources.listing import Listed
from penstock.sources.paths import RecordPath
from penstock.sources.splitting import Account, Record, Splitter
from penstock.sources.standalone import StandAlone

_WINDOW_BYTES = 4 << 20
_HEAD_BYTES = 1024
_DOCTYPE = b"<!DOCTYPE"
_DECLARED = re.compile(rb"^<\?xml\s[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_OTHER_MARKS = (b"\x1f\x8b", b"PK\x03\x04", b"\xfe\xff", b"\xff\xfe", b"BZh", b"\xfd7zXZ\x00")


@dataclass(frozen=True, slots=True)
class Group:
    """Neighbouring records with the same declarations in scope and the same values around."""

    first: int
    declarations: Mapping[str, str]
    ancestors: Mapping[str, str]
    packed: bytes
    """Where records start and end, as differences of 64-bit numbers, compressed."""

    def bounds(self) -> list[int]:
        """Return start and end of each record in turn."""
        differences = array("q")
        differences.frombytes(zlib.decompress(self.packed))
        return list(accumulate(differences))


@dataclass(frozen=True, slots=True)
class Task:
    """A part of a file that holds whole records, and the file as it was when they were found."""

    file: Listed
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The tasks of a file, its account, and its error if it is not well-formed to the end."""

    tasks: tuple[Task, ...]
    account: Account
    failure: DocumentError | None


def find_ranges(
    file: Listed, path: RecordPath, task_bytes: int, limits: Limits | None = None
) -> Found | None:
    """Return tasks of about ``task_bytes`` that together read all records of a file.

    None if the file cannot be read in parts: it is compressed, an archive, not in UTF-8, or it
    has a document type, whose entities records may need.

    Raises:
        DocumentError: The file cannot be read.
    """
    try:
        with open(file.path, "rb", buffering=0) as opened:
            if not _is_plain(opened.read(_HEAD_BYTES)):
                return None
            opened.seek(0)
            plan = _Planning(file, task_bytes)
            splitter = Splitter(path, limits, is_bare=True)
            failure: DocumentError | None = None
            before = b""
            try:
                while piece := opened.read(4 * CHUNK_BYTES):
                    if not plan.is_begun:
                        if _DOCTYPE in before + piece:
                            return None
                        before = piece[-len(_DOCTYPE) :]
                    plan.add(splitter.feed(piece))
                plan.add(splitter.finish())
            except DocumentError as error:
                plan.add(error.results)
                failure = error
    except OSError as error:
        raise unreadable(f"the file cannot be read: {error.strerror or error}") from None
    if failure is None and splitter.account.bytes_in != file.size:
        return None  # the file is growing, or offsets are not those of the file
    return Found(plan.finish(), splitter.account, failure)


def read_ranges(task: Task) -> Iterator[Record]:
    """Yield the records of a task.

    Raises:
        DocumentError: The file cannot be read, or is not the one in which they were found.
    """
    for group, first, bounds, data, base in read_windows(task):
        alone = StandAlone(group.declarations)
        for number, at in enumerate(range(0, len(bounds), 2), first):
            start, end = bounds[at], bounds[at + 1]
            xml = alone.declare(data[start - base : end - base])
            yield Record(number, start, end, "", xml, group.declarations, group.ancestors)


Window = tuple[Group, int, list[int], bytes, int]
"""A group, the number of its first record here, bounds, and bytes that begin at an offset."""


def read_windows(task: Task, window_bytes: int = _WINDOW_BYTES) -> Iterator[Window]:
    """Yield the records of a task, many at a time, as they stand in the file.

    Raises:
        DocumentError: As above.
    """
    try:
        with open(task.file.path, "rb", buffering=0) as opened:
            found = os.fstat(opened.fileno())
            if (found.st_size, found.st_mtime_ns) != (task.file.size, task.file.mtime_ns):
                raise changed()
            for group in task.groups:
                bounds = group.bounds()
                at = 0
                while at < len(bounds):
                    upto = bisect_right(bounds, bounds[at] + window_bytes, at + 2) // 2 * 2
                    part = bounds[at:upto]
                    data = _read(opened.fileno(), part[0], part[-1])
                    yield group, group.first + at // 2, part, data, part[0]
                    at = upto
    except OSError as error:
        raise unreadable(f"the file cannot be read: {error.strerror or error}") from None


def changed() -> DocumentError:
    """Return the error for a file that is not what it was."""
    return DocumentError("PS0004", "the file changed while it was being read", 0, 0, "")


def _is_plain(head: bytes) -> bool:
    if head.startswith(_OTHER_MARKS) or b"\0" in head[:4]:
        return False
    declared = _DECLARED.match(head.removeprefix(b"\xef\xbb\xbf"))
    return declared is None or declared[1].lower() in (b"utf-8", b"utf8", b"us-ascii", b"ascii")


class _Planning:
    """Collects records into groups, and groups into tasks."""

    def __init__(self, file: Listed, task_bytes: int) -> None:
        self._file = file
        self._task_bytes = task_bytes
        self._tasks: list[Task] = []
        self._groups: list[Group] = []
        self._numbers = array("q")
        self._like: Record | None = None
        self._end = 0
        self._taken_bytes = 0
        self.is_begun = False

    def add(self, records: Iterable[Record]) -> None:
        """Take the next records."""
        for record in records:
            self.is_begun = True
            if self._taken_bytes >= self._task_bytes:
                self._end_task()
            like = self._like
            if (
                like is None
                or _differ(like.ancestors, record.ancestors)
                or _differ(like.declarations, record.declarations)
            ):
                self._begin_group(record)
            self._numbers.append(record.start - self._end)
            self._numbers.append(record.end - record.start)
            self._end = record.end
            self._taken_bytes += record.end - record.start

    def finish(self) -> tuple[Task, ...]:
        """Return the tasks."""
        self._end_task()
        return tuple(self._tasks)

    def _begin_group(self, record: Record) -> None:
        self._end_group()
        self._like = record
        self._end = 0

    def _end_group(self) -> None:
        if self._like is not None:
            first, numbers = self._like.number, zlib.compress(self._numbers.tobytes(), 1)
            group = Group(first, self._like.declarations, self._like.ancestors, numbers)
            self._groups.append(group)
        self._numbers = array("q")
        self._like = None

    def _end_task(self) -> None:
        self._end_group()
        if self._groups:
            self._tasks.append(Task(self._file, tuple(self._groups)))
        self._groups = []
        self._taken_bytes = 0


def _differ(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return one is not other and one != other


def _read(descriptor: int, start: int, end: int) -> bytes:
    parts = []
    while start < end and (part := os.pread(descriptor, end - start, start)):
        parts.append(part)
        start += len(part)
    if start < end:
        raise changed()
    return parts[0] if len(parts) == 1 else b"".join(parts)
