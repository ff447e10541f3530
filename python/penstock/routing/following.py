"""The queries of servers as they are now: given once, or those of a registry that changes."""

from __future__ import annotations

from penstock.languages.xpath.namespaces import NamespaceMap
from penstock.registry import Snapshot
from penstock.registry.protocol import AnyRegistry
from penstock.routing.queries import Queries, Query, is_registry, queries_of


class CurrentQueries:
    """The queries of one server, in order; it may be used from several threads.

    Raises:
        QueryError: A text is no query, or a condition is none.
        RegistryError: A subscription is no filter of documents.
    """

    def __init__(self, source: Queries, namespaces: NamespaceMap | None = None) -> None:
        self._registry: AnyRegistry | None = None
        if is_registry(source):
            self._registry = source
            self._read: tuple[Snapshot | None, tuple[Query, ...]] = (None, ())
            self.get()
        else:
            self._read = (None, queries_of(source, namespaces))

    @property
    def is_changing(self) -> bool:
        """Whether they are those of a registry."""
        return self._registry is not None

    def get(self) -> tuple[Query, ...]:
        """Return the queries; the same object as before while the registry stays the same.

        Raises:
            RegistryError: A subscription of the registry is no filter of documents.
        """
        snapshot, queries = self._read
        if self._registry is None:
            return queries
        # Numbers of versions are used again after a block of changes was undone; snapshots are not.
        current = self._registry.snapshot()
        if current is not snapshot:
            # A change that comes in between is read now, and again with the next snapshot.
            queries = queries_of(self._registry)
            self._read = (current, queries)
        return queries
