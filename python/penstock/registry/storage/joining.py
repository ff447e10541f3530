"""The subscriptions of a durable registry that join documents, and which of them changed."""

from __future__ import annotations

from penstock.registry.standing import Standing, StandingChanges
from penstock.registry.storage.checksums import TableRow, VersionRow
from penstock.registry.storage.store import Store
from penstock.registry.storage.table import JOINING, joining_rows_in, read_row, rows_changed
from penstock.registry.subscriptions import Subscription


class JoiningRows:
    """Reads them from the table of a store. All methods need the store's lock."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[int, tuple[int, Subscription]] = {}
        """The subscriptions of the version read last, by number, with their places."""

    def subscriptions(self, version: VersionRow) -> list[Subscription]:
        """Return the subscriptions of a version, in order of arrival; each is read once.

        Raises:
            DamageError: Rows are damaged or missing.
        """
        return [one for _, one in self._placed(version)]

    def standing(self, version: VersionRow) -> StandingChanges:
        """Return all of a version.

        Raises:
            DamageError: Rows are damaged or missing.
        """
        listed = {one.name: Standing(place, one.program) for place, one in self._placed(version)}
        return StandingChanges(version.version, listed, True)

    def changes(self, before: VersionRow, version: VersionRow) -> StandingChanges:
        """Return what changed between two versions; it costs what changed.

        Raises:
            DamageError: Rows are damaged or missing.
        """
        with self._store.read() as database:
            gone, come = rows_changed(database, before, version)
        listed: dict[str, Standing | None] = {
            row.name: None for row in gone if row.language == JOINING
        }
        listed |= {row.name: _standing_of(row) for row in come if row.language == JOINING}
        return StandingChanges(version.version, listed, False)

    def _placed(self, version: VersionRow) -> list[tuple[int, Subscription]]:
        with self._store.read() as database:
            rows = joining_rows_in(database, version)
        known = self._known
        self._known = {
            row.number: known.get(row.number) or (row.position, read_row(row)) for row in rows
        }
        return [placed for placed in self._known.values() if placed[1].is_joining]


def _standing_of(row: TableRow) -> Standing | None:
    subscription = read_row(row)
    return Standing(row.position, subscription.program) if subscription.is_joining else None
