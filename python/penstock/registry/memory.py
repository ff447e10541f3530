"""A registry that lives as long as the process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from threading import Lock
from typing import Any

from penstock.errors import RegistryError
from penstock.kernel import Plan
from penstock.languages.xpath import xpath
from penstock.planning.compile import compile_query
from penstock.registry.subscriptions import Mode, Snapshot, Subscription
from penstock.twigs import Query

_MODES = ("query", "filter")


class Registry:
    """Subscriptions by name, in memory.

    ``version`` grows with every change. Engines see a change from their next document on. It may
    be used from several threads.
    """

    def __init__(self) -> None:
        self._subscriptions: dict[str, Subscription] = {}
        self._version = 0
        self._snapshot: Snapshot | None = None
        self._lock = Lock()

    @property
    def version(self) -> int:
        """A number that grows with every change."""
        return self._version

    def add(
        self,
        name: str,
        query: Query | str,
        mode: Mode = "query",
        owner: str | None = None,
        delivery: Mapping[str, Any] | str | None = None,
    ) -> Subscription:
        """Add a subscription; a ``str`` is taken as XPath without namespaces.

        Raises:
            QueryError: The query is not one, or not one that is evaluated.
            RegistryError: The name is taken, or is no name; the mode is none.
        """
        subscription = _subscription(name, query, mode, owner, delivery)
        with self._lock:
            if name in self._subscriptions:
                message = f"there is a subscription `{name}` already; replace() changes it"
                raise RegistryError("PR0001", message)
            self._subscriptions[name] = subscription
            self._change()
        return subscription

    def replace(
        self,
        name: str,
        query: Query | str,
        mode: Mode = "query",
        owner: str | None = None,
        delivery: Mapping[str, Any] | str | None = None,
    ) -> Subscription:
        """Put a subscription in the place of the one that has its name.

        Raises:
            QueryError: The query is not one, or not one that is evaluated.
            RegistryError: There is no subscription of that name; the mode is none.
        """
        subscription = _subscription(name, query, mode, owner, delivery)
        with self._lock:
            self._require(name)
            self._subscriptions[name] = subscription
            self._change()
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
        return f"<Registry of {len(self)} subscriptions, version {self._version}>"

    def _require(self, name: str) -> None:
        if name not in self._subscriptions:
            raise RegistryError("PR0002", f"there is no subscription `{name}`")

    def _change(self) -> None:
        self._version += 1
        self._snapshot = None


def _subscription(
    name: object,
    query: Query | str,
    mode: Mode,
    owner: str | None,
    delivery: Mapping[str, Any] | str | None,
) -> Subscription:
    if not isinstance(name, str) or not name:
        raise RegistryError("PR0003", f"a subscription needs a name that is text, not {name!r}")
    if mode not in _MODES:
        raise RegistryError("PR0004", f"the mode {mode!r} is none; use `query` or `filter`")
    if isinstance(query, str):
        query = xpath(query)
    program = compile_query(query, is_filter=mode == "filter")
    return Subscription(name, query, mode, owner, delivery, program)
