"""A registry that lives as long as the process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING

from penstock.errors import RegistryError
from penstock.kernel import Plan
from penstock.planning.modes import Mode
from penstock.registry.subscriptions import (
    Delivery,
    Snapshot,
    Subscription,
    compile_subscription,
)
from penstock.twigs import Query

if TYPE_CHECKING:
    from penstock.registry.durable import DurableRegistry


class Registry:
    """Subscriptions by name: in memory, or in a folder with ``Registry.open(path)``.

    ``version`` grows by one with every change. Engines see a change from their next document on.
    It may be used from several threads.
    """

    def __init__(self) -> None:
        self._subscriptions: dict[str, Subscription] = {}
        self._version = 0
        self._snapshot: Snapshot | None = None
        self._lock = RLock()

    @staticmethod
    def open(path: str | os.PathLike[str]) -> DurableRegistry:
        """Return the registry that is kept in a folder, which is made if it is missing.

        Raises:
            RegistryError: What is there is no registry, or cannot be read.
        """
        from penstock.registry.durable import DurableRegistry

        return DurableRegistry(path)

    @property
    def version(self) -> int:
        """A number that grows by one with every change."""
        return self._version

    def add(
        self,
        name: str,
        query: Query | str,
        mode: Mode = "query",
        owner: str | None = None,
        delivery: Delivery | None = None,
    ) -> Subscription:
        """Add a subscription; a ``str`` is taken as XPath without namespaces.

        Raises:
            QueryError: The query is not one, or not one that is evaluated.
            RegistryError: The name is taken, or is no name; the mode is none.
        """
        subscription = compile_subscription(name, query, mode, owner, delivery)
        self._add(subscription)
        return subscription

    def replace(
        self,
        name: str,
        query: Query | str,
        mode: Mode = "query",
        owner: str | None = None,
        delivery: Delivery | None = None,
    ) -> Subscription:
        """Put a subscription in the place of the one that has its name.

        Raises:
            QueryError: The query is not one, or not one that is evaluated.
            RegistryError: There is no subscription of that name; the mode is none.
        """
        subscription = compile_subscription(name, query, mode, owner, delivery)
        self._replace(subscription)
        return subscription

    def remove(self, name: str) -> None:
        """Remove a subscription.

        Raises:
            RegistryError: There is none of that name.
        """
        with self._lock:
            self._require(name)
            del self._subscriptions[name]
            self._change()

    @contextmanager
    def changes(self) -> Iterator[None]:
        """Make the changes inside the block together: an exception undoes them all.

        Each still counts as one version. In a durable registry this is also much faster than
        one change after the other.
        """
        with self._lock:
            before = (self._subscriptions.copy(), self._version, self._snapshot)
            try:
                yield
            except BaseException:
                self._subscriptions, self._version, self._snapshot = before
                raise

    def get(self, name: str) -> Subscription | None:
        """Return the subscription of a name, or None."""
        return self._subscriptions.get(name)

    def snapshot(self) -> Snapshot:
        """Return the current version with its plan, which is built once and shared."""
        with self._lock:
            if self._snapshot is None:
                programs = [one.program for one in self._subscriptions.values()]
                names = tuple(self._subscriptions)
                self._snapshot = Snapshot(self._version, names, Plan.build(programs))
            return self._snapshot

    def __iter__(self) -> Iterator[Subscription]:
        return iter(list(self._subscriptions.values()))

    def __len__(self) -> int:
        return len(self._subscriptions)

    def __contains__(self, name: object) -> bool:
        return name in self._subscriptions

    def __repr__(self) -> str:
        return f"<Registry of {len(self)} subscriptions, version {self.version}>"

    def _add(self, subscription: Subscription) -> None:
        with self._lock:
            if subscription.name in self._subscriptions:
                raise name_is_taken(subscription.name)
            self._subscriptions[subscription.name] = subscription
            self._change()

    def _replace(self, subscription: Subscription) -> None:
        with self._lock:
            self._require(subscription.name)
            self._subscriptions[subscription.name] = subscription
            self._change()

    def _require(self, name: str) -> None:
        if name not in self._subscriptions:
            raise name_is_unknown(name)

    def _change(self) -> None:
        self._version += 1
        self._snapshot = None


def name_is_taken(name: str) -> RegistryError:
    """Return the error for a second subscription of one name."""
    message = f"there is a subscription `{name}` already; replace() changes it"
    return RegistryError("PR0001", message)


def name_is_unknown(name: str) -> RegistryError:
    """Return the error for a name that nothing has."""
    return RegistryError("PR0002", f"there is no subscription `{name}`")
