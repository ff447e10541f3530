"""The intact rows of a damaged database, read page by page without SQLite.

SQLite finds a row through the pages above it and gives up if one of them is damaged. Here every
page with rows is read by itself, and a row counts if its checksum is right. If a page's own
directory is damaged, every byte is tried as the start of a row. The log is read as well, with the
parts behind a damaged one. See https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.registry.storage.checksums import TableRow, VersionRow
from penstock.registry.storage.database import identity_checksum, seed_of
from penstock.registry.storage.folder import DATABASE, LOG

PAGE_BYTES = 4096
_LEAF = 13
_TREE_PAGES = (2, 5, 10, _LEAF)
_FIRST_OFFSET = 100
_LOG_HEAD = 32
_FRAME_HEAD = struct.Struct(">6I")
_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_TABLE_COLUMNS = len(TableRow._fields)
_VERSION_COLUMNS = len(VersionRow._fields)
_IDENTITY_COLUMNS = 3


@dataclass
class Salvage:
    """The intact rows of one registry's tables, by number and by version."""

    identity: str
    rows: dict[int, TableRow] = field(default_factory=dict)
    versions: dict[int, VersionRow] = field(default_factory=dict)

    def keep(self, values: tuple[Any, ...]) -> bool:
        """Keep a row if it is intact, and return whether it is."""
        if len(values) == _VERSION_COLUMNS:
            version = VersionRow._make(values)
            is_intact = version.is_intact(self._seed)
            if is_intact:
                self.versions[version.version] = version
        elif len(values) == _TABLE_COLUMNS:
            row = TableRow._make(values)
            is_intact = row.is_intact(self._seed)
            if is_intact:
                self._keep_row(row)
        else:
            is_intact = True  # of a table that is made anew
        return is_intact

    @property
    def _seed(self) -> int:
        return seed_of(self.identity)

    def _keep_row(self, row: TableRow) -> None:
        known = self.rows.get(row.number)
        # A row changes only once, when it ends.
        if known is None or (row.is_end_intact and _rank(row) > _rank(known)):
            self.rows[row.number] = row


def _rank(row: TableRow) -> int:
    if not row.is_end_intact:
        return 0
    return 1 if row.removed is None else 2


def find_identities(folder: Path) -> list[str]:
    """Return the identities in the database of a folder and in its log.

    Raises:
        OSError: The files cannot be read.
    """
    kept = Identities()
    for image in _images(folder):
        list(_read_pages(image, kept))
    return kept.identities


class Identities:
    """The identities that are intact."""

    def __init__(self) -> None:
        self.identities: list[str] = []

    def keep(self, values: tuple[Any, ...]) -> bool:
        """Keep an identity if it is intact, and return whether it is."""
        is_intact = len(values) == _IDENTITY_COLUMNS and values[2] == identity_checksum(values[1])
        if is_intact and values[1] not in self.identities:
            self.identities.append(values[1])
        return is_intact


def salvage(folder: Path, identity: str) -> Salvage:
    """Return the intact rows of the database of a folder and of its log.

    Raises:
        OSError: The files cannot be read.
    """
    saved, images = Salvage(identity), _images(folder)
    suspicious = [page for image in images for page in _read_pages(image, saved)]
    if _has_gaps(saved):
        # Rows change only when they end, so older pages hold rows that newer ones have lost.
        older = [(image, page) for image in images for page in image.superseded if page[0] == _LEAF]
        suspicious += [(page, image) for image, page in older if _may_hide(image, page, 0, saved)]
    if _has_gaps(saved):
        for page, source in suspicious:
            for start in range(len(page)):
                _keep_cell(source, page, start, saved)
    return saved


def _images(folder: Path) -> list[_Image]:
    """Return the database without its log, and with it."""
    file, log = _content(folder / DATABASE), _content(folder / LOG)
    return [_Image(file, []), _Image(file, _logged(log))]


class _Image:
    """The pages of a database, each in its newest version; those of a log may be superseded."""

    def __init__(self, file: bytes, logged: list[tuple[int, bytes]]) -> None:
        self._file = file
        self._logged = dict(logged)
        self.superseded = [
            page for number, page in reversed(logged) if page is not self._logged[number]
        ]
        # A damaged log may name pages far beyond those that exist.
        self.numbers = sorted({*range(1, len(file) // PAGE_BYTES + 1), *self._logged})

    def page(self, number: int) -> bytes:
        """Return a page; what was cut off is empty."""
        start = (number - 1) * PAGE_BYTES
        return self._logged.get(number) or self._file[start : start + PAGE_BYTES]


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _logged(log: bytes) -> list[tuple[int, bytes]]:
    """Return the pages of a log with their numbers, in order, up to its last commit."""
    frames = []
    for start in range(_LOG_HEAD, len(log) - _FRAME_HEAD.size, _FRAME_HEAD.size + PAGE_BYTES):
        number, size, salt, salt_too, _, _ = _FRAME_HEAD.unpack_from(log, start)
        content = start + _FRAME_HEAD.size
        frames.append((number, size, (salt, salt_too), log[content : content + PAGE_BYTES]))
    if not frames:
        return []
    # Frames of an earlier round of the log have other salts; the header may be damaged.
    salts = struct.unpack_from(">2I", log, 16)
    known = Counter(frame[2] for frame in frames)
    if salts not in known:
        salts = known.most_common(1)[0][0]
    frames = [frame for frame in frames if frame[2] == salts]
    commits = [place for place, frame in enumerate(frames) if frame[1]]
    committed = frames[: commits[-1] + 1] if commits else []
    return [(number, page) for number, _, _, page in committed if 0 < number < 1 << 31]


def _has_gaps(saved: Salvage) -> bool:
    numbers = max((row.numbers for row in saved.versions.values()), default=0)
    added = max((row.added for row in saved.rows.values()), default=0)
    last = max([numbers, *saved.rows])
    return len(saved.rows) < last or len(saved.versions) < max([added, *saved.versions, 1])


def _read_pages(image: _Image, saved: Salvage | Identities) -> Iterator[tuple[bytes, _Image]]:
    """Keep the rows of all pages, and yield the pages that may hold more than they say."""
    for number in image.numbers:
        page = image.page(number)
        if _may_hide(image, page, _FIRST_OFFSET if number == 1 else 0, saved):
            yield page, image


def _may_hide(image: _Image, page: bytes, start: int, saved: Salvage | Identities) -> bool:
    """Keep the rows of a page, and return whether it may hold more than it says."""
    if len(page) < start + 8 or page[start] not in _TREE_PAGES:
        return True
    if page[start] != _LEAF:
        return False
    (count,) = struct.unpack_from(">H", page, start + 3)
    directory = page[start + 8 : start + 8 + 2 * count]
    places = [at for (at,) in struct.iter_unpack(">H", directory[: len(directory) & ~1])]
    kept = [_keep_cell(image, page, at, saved) for at in places]
    return not all(kept)


def _keep_cell(image: _Image, page: bytes, start: int, saved: Salvage | Identities) -> bool:
    """Keep the row that starts at a byte of a page, and return whether there is an intact one."""
    try:
        size, at = _varint(page, start)
        rowid, at = _varint(page, at)
        payload = _payload(image, page, at, size)
        values = _record(payload, rowid)
    except (IndexError, ValueError, struct.error):
        return False
    return saved.keep(values)


def _payload(image: _Image, page: bytes, at: int, size: int) -> bytes:
    usable = PAGE_BYTES
    if size > len(image.numbers) * PAGE_BYTES:
        raise ValueError("larger than the file")
    if size <= usable - 35:
        return page[at : at + size]
    least = (usable - 12) * 32 // 255 - 23
    local = least + (size - least) % (usable - 4)
    local = local if local <= usable - 35 else least
    parts = [page[at : at + local]]
    (following,) = struct.unpack_from(">I", page, at + local)
    left = size - local
    while left > 0:
        if not following:
            raise ValueError("the chain of pages is broken")
        more = image.page(following)
        (following,) = struct.unpack_from(">I", more)
        parts.append(more[4 : 4 + min(left, usable - 4)])
        left -= usable - 4
    return b"".join(parts)


def _record(payload: bytes, rowid: int) -> tuple[Any, ...]:
    end, at = _varint(payload, 0)
    types = []
    while at < end:
        kind, at = _varint(payload, at)
        types.append(kind)
    if len(types) not in (_TABLE_COLUMNS, _VERSION_COLUMNS, _IDENTITY_COLUMNS):
        raise ValueError("a row of no table")
    values: list[Any] = []
    for kind in types:
        value, at = _value(payload, at, kind)
        values.append(value)
    # The first column of all tables is the number of the row.
    return (rowid, *values[1:])


def _value(payload: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind == 0:
        return None, at
    if kind in _INTEGER_BYTES:
        end = at + _INTEGER_BYTES[kind]
        return int.from_bytes(payload[at:end], "big", signed=True), end
    if kind == 7:
        return struct.unpack_from(">d", payload, at)[0], at + 8
    if kind in (8, 9):
        return kind - 8, at
    if kind < 12:
        raise ValueError("a type that is reserved")
    end = at + (kind - 12) // 2
    content = payload[at:end]
    return content.decode() if kind % 2 else content, end


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(at, at + 8):
        byte = data[place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + 1
    return value << 8 | data[at + 8], at + 9
