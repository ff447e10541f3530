"""A durable registry as it was at one version."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, NoReturn

from penstock.errors import RegistryError
from penstock.registry.plans.live import Branch
from penstock.registry.plans.tiers import Tier
from penstock.registry.protocol import AnyRegistry
from penstock.registry.subscriptions import Snapshot, Subscription

if TYPE_CHECKING:
    from penstock.registry.durable import DurableRegistry


@dataclass(frozen=True, eq=False)
class RegistryView(AnyRegistry):
    """A read-only view of one version of a durable registry; ``DurableRegistry.at`` returns it."""

    _registry: DurableRegistry
    _version: int

    @property
    def version(self) -> int:
        return self._version

    @property
    def path(self) -> Path:
        """The folder of the registry."""
        return self._registry.path

    def get(self, name: str) -> Subscription | None:
        return next((one for one in self if one.name == name), None)

    def snapshot(self) -> Snapshot:
        return self._registry.snapshot_at(self._version)

    def compact(self) -> Snapshot:
        snapshot = self.snapshot()
        if snapshot.plan.tier_count() == 1 and len(snapshot.names) == len(self):
            return snapshot
        tier = self._registry.tier_at(self._version)
        return Snapshot(self._version, tier.names, tier.plan)

    def tiers(self) -> list[Tier]:
        """Return the version's tiers, as they were published to streams, or one."""
        return self._registry.tiers_at(self._version)

    def branch(self) -> Branch:
        """Return the version's plan, which nothing changes."""
        tier = self._registry.tier_at(self._version)
        return Branch(RLock(), lambda first, last: (), [tier])

    def __iter__(self) -> Iterator[Subscription]:
        return iter(self._registry.subscriptions_at(self._version))

    def __len__(self) -> int:
        return self._registry.count_at(self._version)

    def __contains__(self, name: object) -> bool:
        return any(one.name == name for one in self)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        message = f"version {self._version} is past and stays as it was; change the registry itself"
        raise RegistryError("PR0007", message)

    add = replace = remove = load = changes = _refuse
