"""Checksums of the rows of a registry's tables.

A subscription has a checksum over everything that never changes, and once it is removed another
one over its end. A version has the sums over all subscriptions that are active in it, so missing
rows are noticed, too. Each checksum begins with a seed that differs between registries.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from zlib import crc32

from penstock.errors import DamageError

ROW = (
    "number, position, name, language, text, options, mode, owner, delivery, program, compiler, "
    "added, checksum, removed, ending"
)
"""The columns of a subscription, in the order of ``TableRow``."""
VERSION = "version, change, name, time, numbers, active, total, checksum"
"""The columns of a version, in the order of ``VersionRow``."""
_CHECKED = 12


class TableRow(NamedTuple):
    """A subscription as the table holds it."""

    number: int
    position: int
    name: str
    language: str
    text: str
    options: str
    mode: str
    owner: str | None
    delivery: str | None
    program: bytes
    compiler: str
    added: int
    checksum: int
    removed: int | None
    ending: int | None

    def is_intact(self, seed: int) -> bool:
        """Whether everything but the end is as it was written."""
        program: object = self.program
        return isinstance(program, bytes) and self.checksum == row_checksum(self[:_CHECKED], seed)

    @property
    def is_end_intact(self) -> bool:
        """Whether the end is as it was written."""
        if self.removed is None or self.ending is None:
            return self.removed is self.ending
        return self.ending == end_checksum(self.number, self.removed, self.checksum)

    def is_active_in(self, version: int) -> bool:
        """Whether the subscription is active in a version."""
        return self.added <= version and (self.removed is None or self.removed > version)


class VersionRow(NamedTuple):
    """A version as the table holds it, with sums over the subscriptions that are active in it."""

    version: int
    change: str
    name: str
    time: float
    numbers: int
    """The number of the last row."""
    active: int
    """How many subscriptions are active."""
    total: int
    """The sum of their numbers."""
    checksum: int = 0

    def is_intact(self, seed: int) -> bool:
        """Whether the version is as it was written."""
        return self == self.sealed(seed)

    def sealed(self, seed: int) -> VersionRow:
        """Return the version with its checksum."""
        version, change, name, made_at, *sums, _ = self
        text = f"{version} {made_at!r} {' '.join(map(str, sums))}\0{change}\0{name}"
        return self._replace(checksum=crc32(text.encode("utf-8", "surrogatepass"), seed))


def row_checksum(values: tuple[Any, ...], seed: int) -> int:
    """Return the checksum of a subscription's columns, from the number to ``added``."""
    # A million rows are written at once, so this is one format string and no loop.
    a, b, c, d, e, f, g, h, i, program, j, k = values
    text = f"{a} {b} {k}\0{c}\0{d}\0{e}\0{f}\0{g}\0{h}\0{i}\0{j}"
    return crc32(program, crc32(text.encode("utf-8", "surrogatepass"), seed))


def end_checksum(number: int, removed: int, checksum: int) -> int:
    """Return the checksum of a subscription's end."""
    return crc32(b"%d %d %d" % (number, removed, checksum))


NO_VERSION = VersionRow(0, "", "", 0.0, 0, 0, 0)
"""The version before the first change."""


def check_row(values: tuple[Any, ...], seed: int, before: int = 0) -> TableRow:
    """Return the subscription of a row that follows the row with number ``before``.

    Raises:
        DamageError: It is damaged or, if pages were exchanged, out of order.
    """
    row = TableRow._make(values)
    if not row.is_intact(seed) or not (row.removed is row.ending is None or row.is_end_intact):
        raise damaged(f"the row {row.number} of the database is not as it was written")
    if row.number <= before:
        raise damaged(f"the row {row.number} of the database comes after the row {before}")
    return row


def damaged(what: str) -> DamageError:
    """Return the error for damage."""
    return DamageError("PR0030", f"{what}; `penstock registry repair` saves what is intact")
