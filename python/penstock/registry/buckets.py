"""From names to rows, with proof: whether a name is subscribed, and by which row.

An index of SQLite would do, but a damaged one says that a name is free. Here the active names lie
in buckets by their hash, and each bucket has a checksum; a bucket that is intact and lacks a name
proves that the name is free. There is one bucket for every ``ROWS_PER_BUCKET`` rows that ever
were, so their number follows from the version, and adding a bucket splits one other (linear
hashing, Litwin 1980). Equal hashes of 128 bits are taken for equal names.
"""

from __future__ import annotations

from hashlib import blake2b
from zlib import crc32

from penstock.registry.checksums import damaged
from penstock.registry.database import Database

ROWS_PER_BUCKET = 32
_SCHEMA = """
CREATE TABLE buckets (
    bucket INTEGER PRIMARY KEY,
    entries BLOB NOT NULL,
    checksum INTEGER NOT NULL
)"""
_HASH = 16
_ENTRY = _HASH + 8


class NameBuckets:
    """The buckets of a database, in which ``numbers`` rows were ever added.

    Changes stay here until ``write``; a transaction of the caller makes them durable.
    """

    def __init__(self, database: Database, numbers: int) -> None:
        self._database = database
        self._count = bucket_count(numbers)
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
        return None if at < 0 else int.from_bytes(entries[at + _HASH : at + _ENTRY], "little")

    def add(self, name: str, number: int) -> None:
        """Add a name that is free, for the next row, which has this number."""
        self.grow(number)
        key = name_key(name)
        place = self._place(key)
        self._entries(place).extend(key + number.to_bytes(8, "little"))
        self._changed.add(place)

    def grow(self, number: int) -> None:
        """Make as many buckets as there are with the row of a number."""
        while self._count < bucket_count(number):
            self._split()

    def remove(self, name: str) -> None:
        """Remove a name that is taken."""
        key = name_key(name)
        place = self._place(key)
        entries = self._entries(place)
        at = _find(entries, key)
        assert at >= 0, "who removes a name has found it"
        del entries[at : at + _ENTRY]
        self._changed.add(place)

    def write(self) -> None:
        """Write what changed."""
        rows = [
            (place, bytes(self._read[place]), _checksum(place, self._read[place]))
            for place in sorted(self._changed)
        ]
        self._database.executemany("INSERT OR REPLACE INTO buckets VALUES (?, ?, ?)", rows)
        self._changed.clear()

    def entries(self) -> dict[bytes, int]:
        """Return all numbers by the hashes of their names.

        Raises:
            DamageError: A bucket is damaged.
        """
        found = {}
        for place in range(self._count):
            entries = bytes(self._entries(place))
            for at in range(0, len(entries), _ENTRY):
                number = int.from_bytes(entries[at + _HASH : at + _ENTRY], "little")
                found[entries[at : at + _HASH]] = number
        return found

    def _place(self, key: bytes) -> int:
        size = 1 << (self._count - 1).bit_length()
        place = int.from_bytes(key[:8], "little") & (size - 1)
        return place if place < self._count else place - (size >> 1)

    def _split(self) -> None:
        """Add a bucket, with those entries of an earlier one that belong there now."""
        new = self._count
        old = new - (1 << (new.bit_length() - 1))
        entries = self._entries(old)
        self._count += 1
        kept, moved = bytearray(), bytearray()
        for at in range(0, len(entries), _ENTRY):
            entry = entries[at : at + _ENTRY]
            (moved if self._place(bytes(entry[:_HASH])) == new else kept).extend(entry)
        self._read[old], self._read[new] = kept, moved
        self._changed |= {old, new}

    def _entries(self, place: int) -> bytearray:
        entries = self._read.get(place)
        if entries is None:
            entries = self._read[place] = self._load(place)
        return entries

    def _load(self, place: int) -> bytearray:
        chosen = "SELECT entries, checksum FROM buckets WHERE bucket = ?"
        row = self._database.execute(chosen, (place,)).fetchone()
        if row is None or not isinstance(row[0], bytes) or row[1] != _checksum(place, row[0]):
            raise damaged(f"the bucket {place} of names in the database is not as it was written")
        return bytearray(row[0])


def bucket_count(numbers: int) -> int:
    """Return how many buckets there are for so many rows."""
    return 1 + numbers // ROWS_PER_BUCKET


def create_buckets(database: Database) -> None:
    """Make the table of buckets, for no rows."""
    database.execute(_SCHEMA)
    database.execute("INSERT INTO buckets VALUES (0, x'', ?)", (_checksum(0, b""),))


def name_key(name: str) -> bytes:
    """Return the hash by which a name is found."""
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=_HASH).digest()


def _find(entries: bytearray, key: bytes) -> int:
    at = entries.find(key)
    while at >= 0 and at % _ENTRY:
        at = entries.find(key, at + 1)
    return at


def _checksum(place: int, entries: bytes | bytearray) -> int:
    return crc32(entries, crc32(place.to_bytes(8, "little")))
