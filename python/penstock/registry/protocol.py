"""What engines, Spark and the command line need of a registry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from penstock.registry.plans.live import Branch
from penstock.registry.subscriptions import Snapshot, Subscription, name_is_unknown


class AnyRegistry(Protocol):
    """Subscriptions by name: in memory, durable, or a read-only view of an earlier version."""

    @property
    def version(self) -> int:
        """A number that grows by one with every change."""

    def get(self, name: str) -> Subscription | None:
        """Return the subscription of a name, or None."""

    def __getitem__(self, name: str) -> Subscription:
        """Return the subscription of a name.

        Raises:
            UnknownNameError: There is none; it is a ``KeyError`` as well.
        """
        found = self.get(name)
        if found is None:
            raise name_is_unknown(name)
        return found

    def snapshot(self) -> Snapshot:
        """Return the current version with its plan.

        It costs what changed since the last one. While plans are merged in the background, there
        may be several snapshots of one version; their subscriptions are the same.
        """

    def compact(self) -> Snapshot:
        """Return a snapshot whose plan is one tier, as if all had been added at once.

        Tiers are merged in the background anyway. Call this before the plan is copied elsewhere.
        """

    def branch(self) -> Branch:
        """Return the current plan for a document that is being read; it follows all changes."""

    def __iter__(self) -> Iterator[Subscription]:
        """Yield the subscriptions in the order in which they were added."""

    def __len__(self) -> int:
        """Return how many subscriptions there are."""

    def __contains__(self, name: object) -> bool:
        """Return whether a subscription has this name."""
