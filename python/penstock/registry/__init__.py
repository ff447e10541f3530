"""The set of subscriptions, versioned: what is asked, by whom, and the plan for all of it."""

from penstock.registry.memory import Registry
from penstock.registry.subscriptions import Mode, Snapshot, Subscription

__all__ = ["Mode", "Registry", "Snapshot", "Subscription"]
