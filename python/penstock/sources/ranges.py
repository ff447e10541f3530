"""One large file in several tasks: a quick pass finds the records, tasks read their ranges."""

from __future__ import annotations

import os
import re
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from penstock.errors import DocumentError
from penstock.kernel import CHUNK_BYTES
from penstock.limits import Limits
from penstock.sources.inputs import unreadable
from penstock.sources.listing import Listed
from penstock.sources.paths import RecordPath
from penstock.sources.splitting import Account, Record, Splitter
from penstock.sources.standalone import StandAlone, drop_foreign

_WINDOW_BYTES = 4 << 20
_HEAD_BYTES = 1024
_DECLARED = re.compile(rb"^<\?xml\s[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_OTHER_MARKS = (b"\x1f\x8b", b"PK\x03\x04", b"\xfe\xff", b"\xff\xfe", b"BZh", b"\xfd7zXZ\x00")


@dataclass(frozen=True, slots=True)
class Group:
    """Neighbouring records with the same declarations in scope and the same values around."""

    first: int
    declarations: Mapping[str, str]
    ancestors: Mapping[str, str]
    bounds: bytes
    """Start and length of each record, as differences of 64-bit numbers, compressed."""


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

    None if the file cannot be read in parts: it is compressed, an archive, not in UTF-8, or its
    records need entities of the document.

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
            try:
                while piece := opened.read(4 * CHUNK_BYTES):
                    plan.add(splitter.feed(piece))
                    if not plan.is_begun and splitter.has_entities:
                        return None
                plan.add(splitter.finish())
            except DocumentError as error:
                plan.add(error.results)
                failure = error
            if splitter.has_entities:
                return None
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
    try:
        with open(task.file.path, "rb", buffering=0) as opened:
            found = os.fstat(opened.fileno())
            if (found.st_size, found.st_mtime_ns) != (task.file.size, task.file.mtime_ns):
                raise changed()
            window = _Window(opened.fileno())
            for group in task.groups:
                alone = StandAlone(group.declarations)
                for number, (start, end) in enumerate(_bounds(group.bounds), group.first):
                    xml = alone.declare(drop_foreign(window.take(start, end)))
                    yield Record(number, start, end, "", xml, group.declarations, group.ancestors)
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
                or like.ancestors != record.ancestors
                or like.declarations != record.declarations
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


def _bounds(packed: bytes) -> Iterator[tuple[int, int]]:
    numbers = array("q")
    numbers.frombytes(zlib.decompress(packed))
    end = 0
    for index in range(0, len(numbers), 2):
        start = end + numbers[index]
        end = start + numbers[index + 1]
        yield start, end


class _Window:
    """A part of a file in memory that moves forward."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._start = 0
        self._data = b""

    def take(self, start: int, end: int) -> bytes:
        """Return bytes of the file.

        Raises:
            DocumentError: The file is shorter than it was.
        """
        if start < self._start or end > self._start + len(self._data):
            self._data = self._read(start, max(end - start, _WINDOW_BYTES))
            self._start = start
            if len(self._data) < end - start:
                raise changed()
        return self._data[start - self._start : end - self._start]

    def _read(self, start: int, count: int) -> bytes:
        parts = []
        while count > 0 and (part := os.pread(self._descriptor, count, start)):
            parts.append(part)
            start += len(part)
            count -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)
