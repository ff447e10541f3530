"""The set of subscriptions, versioned: what is asked, by whom, and the plan for all of it."""

from penstock.planning.modes import Mode
from penstock.registry.memory import MemoryRegistry
from penstock.registry.protocol import AnyRegistry
from penstock.registry.subscriptions import Snapshot, Subscription
from penstock.registry.view import RegistryView

__all__ = [
    "AnyRegistry",
    "MemoryRegistry",
    "Mode",
    "RegistryView",
    "Snapshot",
    "Subscription",
]
