"""An index from active names to rows whose damage is always noticed.

A damaged index of SQLite would report a taken name as free. Here the active names are hashed into
buckets, and each bucket has a checksum: an intact bucket without a name proves that the name is
free. There is one bucket for every ``ROWS_PER_BUCKET`` rows ever added, so their number follows
from the version, and a new bucket splits an old one (linear hashing, Litwin 1980). Names with
equal hashes of 128 bits are assumed to be equal.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from sqlite3 import Cursor
from zlib import crc32

from penstock.registry.storage.checksums import damaged
from penstock.registry.storage.database import Database

ROWS_PER_BUCKET = 32
_SCHEMA = """
CREATE TABLE buckets (
    bucket INTEGER PRIMARY KEY,
    entries BLOB NOT NULL,
    checksum INTEGER NOT NULL
)"""
_READ = "SELECT entries, checksum FROM buckets WHERE bucket = ?"
_WRITE = "INSERT OR REPLACE INTO buckets VALUES (?, ?, ?)"
_HASH = 16
_ENTRY = _HASH + 8
_NO_ENTRY = bytes(_ENTRY)
_PADDED = 16 * _ENTRY
_READ_MAX = 1_000
"""At most this many buckets are cached between changes."""


class NameBuckets:
    """The buckets of a database to which ``numbers`` rows were ever added.

    Changes stay in memory until ``write``; a transaction of the caller makes them durable.
    """

    def __init__(self, cursor: Cursor, numbers: int) -> None:
        self.cursor = cursor
        self._resize(bucket_count(numbers))
        self._read: dict[int, bytearray] = {}
        self._changed: set[int] = set()

    def find(self, name: str) -> int | None:
        """Return the number of the row that has a name, or None.

        Raises:
            DamageError: The bucket of the name is damaged.
        """
        key = name_key(name)
        entries = self._entries(self._place(key))
        at = _find(entries, key)
        return None if at < 0 else _number(entries, at)

    def claim(self, name: str, number: int) -> int | None:
        """Take a free name for the next row, which has this number.

        If the name is not free, the number of the row that has it is returned.

        Raises:
            DamageError: The bucket of the name is damaged.
        """
        key = name_key(name)
        place = self._place(key)
        entries = self._entries(place)
        at = _find(entries, key)
        if at >= 0:
            return _number(entries, at)
        # Not before: for a name that is taken there is no row.
        if number >= self._count * ROWS_PER_BUCKET:
            self.grow(number)
            place = self._place(key)
            entries = self._entries(place)
        entries += key + number.to_bytes(8, "little")
        self._changed.add(place)
        return None

    def claim_all(self, names: Iterable[str], first: int) -> bool:
        """Take free names for the next rows, the first of which has this number.

        If they are not all free, or not all different, none is taken.

        Raises:
            DamageError: The bucket of a name is damaged.
        """
        keys = list(map(name_key, names))
        if len(set(keys)) < len(keys):
            return False
        count = self._count
        self.grow(first + len(keys) - 1)
        places = list(map(self._place, keys))
        buckets = list(map(self._entries, places))
        for key, entries in zip(keys, buckets, strict=True):
            # The quick check may be wrong only where it finds something.
            if key in entries and _find(entries, key) >= 0:
                self._shrink(count)
                return False
        for number, (key, entries) in enumerate(zip(keys, buckets, strict=True), first):
            entries += key + number.to_bytes(8, "little")
        self._changed.update(places)
        return True

    def grow(self, number: int) -> None:
        """Add buckets until there are enough for the row of a number."""
        while number >= self._count * ROWS_PER_BUCKET:
            self._split()

    def release(self, name: str) -> int | None:
        """Make a name free, and return the number of the row that had it, or None.

        Raises:
            DamageError: The bucket of the name is damaged.
        """
        key = name_key(name)
        place = self._place(key)
        entries = self._entries(place)
        at = _find(entries, key)
        if at < 0:
            return None
        number = _number(entries, at)
        del entries[at : at + _ENTRY]
        self._changed.add(place)
        return number

    def write(self) -> None:
        """Write the changed buckets."""
        rows = []
        for place in sorted(self._changed):
            entries = self._read[place]
            # Padding lets most changes keep the size of the row.
            stored = bytes(entries) + bytes(-len(entries) % _PADDED)
            rows.append((place, stored, _checksum(place, stored)))
        self.cursor.executemany(_WRITE, rows)
        self._changed.clear()
        if len(self._read) > _READ_MAX:
            self._read.clear()

    def entries(self) -> dict[bytes, int]:
        """Return all numbers by the hashes of their names.

        Raises:
            DamageError: A bucket is damaged.
        """
        numbers = {}
        for place in range(self._count):
            entries = bytes(self._entries(place))
            for at in range(0, len(entries), _ENTRY):
                number = int.from_bytes(entries[at + _HASH : at + _ENTRY], "little")
                numbers[entries[at : at + _HASH]] = number
        return numbers

    def _place(self, key: bytes) -> int:
        place = int.from_bytes(key[:8], "little") & (self._size - 1)
        return place if place < self._count else place - (self._size >> 1)

    def _split(self) -> None:
        """Add a bucket, and move entries of an earlier one to it."""
        new = self._count
        half = 1 << (new.bit_length() - 1)
        entries = self._entries(new - half)
        byte, bit = divmod(half.bit_length() - 1, 8)
        kept, moved = bytearray(), bytearray()
        for at, value in enumerate(entries[byte::_ENTRY]):
            part = moved if value >> bit & 1 else kept
            part += entries[at * _ENTRY : (at + 1) * _ENTRY]
        self._read[new - half], self._read[new] = kept, moved
        self._changed |= {new - half, new}
        self._resize(new + 1)

    def _shrink(self, count: int) -> None:
        """Undo unwritten splits until ``count`` buckets are left."""
        while self._count > count:
            last = self._count - 1
            half = 1 << (last.bit_length() - 1)
            self._read[last - half] += self._read.pop(last)
            self._changed.discard(last)
            self._resize(last)

    def _resize(self, count: int) -> None:
        self._count = count
        self._size = 1 << (count - 1).bit_length()

    def _entries(self, place: int) -> bytearray:
        entries = self._read.get(place)
        if entries is not None:
            return entries
        stored, checksum = self.cursor.execute(_READ, (place,)).fetchone() or (None, None)
        if not isinstance(stored, bytes) or checksum != _checksum(place, stored):
            raise damaged(f"the bucket {place} of names in the database is not as it was written")
        # An entry of zeros is padding; its first zeros may belong to the number before it.
        end = stored.find(_NO_ENTRY)
        entries = bytearray(stored if end < 0 else stored[: end + -end % _ENTRY])
        self._read[place] = entries
        return entries


def bucket_count(numbers: int) -> int:
    """Return how many buckets there are for a number of rows."""
    return 1 + numbers // ROWS_PER_BUCKET


def create_buckets(database: Database) -> None:
    """Create the table of buckets, for no rows."""
    database.execute(_SCHEMA)
    database.execute("INSERT INTO buckets VALUES (0, x'', ?)", (_checksum(0, b""),))


def name_key(name: str) -> bytes:
    """Return the hash by which a name is found."""
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=_HASH).digest()


def _number(entries: bytearray, at: int) -> int:
    return int.from_bytes(entries[at + _HASH : at + _ENTRY], "little")


def _find(entries: bytearray, key: bytes) -> int:
    at = entries.find(key)
    while at >= 0 and at % _ENTRY:
        at = entries.find(key, at + 1)
    return at


def _checksum(place: int, entries: bytes | bytearray) -> int:
    return crc32(entries, crc32(place.to_bytes(8, "little")))
