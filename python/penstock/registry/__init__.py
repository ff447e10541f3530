"""The set of subscriptions, versioned: what is asked, by whom, and the plan for all of it."""

from penstock.planning.modes import Mode
from penstock.registry.memory import Registry
from penstock.registry.subscriptions import Snapshot, Subscription

__all__ = ["Mode", "Registry", "Snapshot", "Subscription"]
