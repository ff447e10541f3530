"""A durable registry as it was at one version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from penstock.errors import RegistryError
from penstock.registry.live import LivePlan
from penstock.registry.memory import Registry
from penstock.registry.standing import StandingChanges
from penstock.registry.subscriptions import Snapshot, Subscription
from penstock.twigs import Query

if TYPE_CHECKING:
    from penstock.registry.durable import DurableRegistry


class PinnedRegistry(Registry):
    """A durable registry as it was at one version; ``DurableRegistry.at`` gives one."""

    def __init__(self, registry: DurableRegistry, version: int) -> None:
        self._registry = registry
        self._version = version
        self._lock = registry._lock

    @contextmanager
    def changes(self) -> Iterator[None]:
        """Refuse.

        Raises:
            RegistryError: Always.
        """
        raise self._refusal()
        yield

    def remove(self, name: str) -> None:
        """Refuse.

        Raises:
            RegistryError: Always.
        """
        raise self._refusal()

    def get(self, name: str) -> Subscription | None:
        """Return the subscription that had a name, or None."""
        return next((one for one in self if one.name == name), None)

    def snapshot(self) -> Snapshot:
        """Return the version with its plan."""
        return self._registry.snapshot_at(self._version)

    compact = snapshot

    def joining(self) -> Mapping[str, Query]:
        """Return the queries that joined documents, by the names of their subscriptions."""
        return {one.name: one.query for one in self._registry.joining_at(self._version)}

    def joining_since(self, read: int) -> StandingChanges:
        """Return all subscriptions that joined documents; nothing changes afterwards."""
        if read == self._version:
            return StandingChanges(read, {}, False)
        return self._registry.standing_at(self._version)

    def is_joining(self) -> bool:
        """Return whether some subscription joined documents."""
        return bool(self._registry.joining_at(self._version))

    def branch(self) -> LivePlan:
        """Return the version's plan, which nothing changes."""
        tier = self._registry.tier_at(self._version)
        return LivePlan(self._lock, lambda first, last: (), tier)

    def __iter__(self) -> Iterator[Subscription]:
        return iter(self._registry.subscriptions_at(self._version))

    def __len__(self) -> int:
        return self._registry.count_at(self._version)

    def __contains__(self, name: object) -> bool:
        return any(one.name == name for one in self)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._registry, self._version))

    def _add(self, subscription: Subscription) -> None:
        raise self._refusal()

    def _replace(self, subscription: Subscription) -> None:
        raise self._refusal()

    def _refusal(self) -> RegistryError:
        message = f"version {self._version} is past and stays as it was; change the registry itself"
        return RegistryError("PR0007", message)
