"""Subscriptions that keep passing limits of their own are suspended, and resumed on request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from threading import Lock

from penstock import logs
from penstock.engine.rows import SUSPENDED
from penstock.errors import DocumentError, LimitError, RegistryError
from penstock.registry import AnyRegistry
from penstock.registry.subscriptions import Subscription, name_is_unknown

SUSPEND_AFTER = 3
"""A subscription is suspended after so many documents in a row, unless somebody says otherwise."""


@dataclass(slots=True)
class Suspensions:
    """The subscriptions of an engine that get nothing, and why.

    ``after`` is how many documents in a row a subscription may fail alone; None suspends nobody.
    """

    registry: AnyRegistry
    after: int | None = SUSPEND_AFTER
    _suspended: dict[str, tuple[Subscription | None, DocumentError]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    version: int = 0
    """Grows with every change, so that sessions know when to take it over."""
    strikes: dict[str, int] = field(default_factory=dict)
    """By name: how many documents in a row a subscription has failed at, up to the last one."""
    joined_strikes: dict[str, int] = field(default_factory=dict)
    """The same for what failed while it was joined."""

    def __post_init__(self) -> None:
        if self.after is not None and self.after < 1:
            raise ValueError(f"suspend_after must be a positive number or None, not {self.after!r}")

    def suspend(self, name: str, error: DocumentError) -> None:
        """Give a subscription nothing any more."""
        with self._lock:
            self._suspended[name] = (self.registry.get(name), error)
            self.version += 1
        logs.engine.warning("the subscription %s is suspended: %s", name, error)

    def strike(
        self, strikes: dict[str, int], name: str, error: DocumentError
    ) -> DocumentError | None:
        """Count a document at which a subscription failed; return an error if it is suspended."""
        if name in self._suspended:
            return None
        times = strikes[name] = strikes.get(name, 0) + 1
        if times != self.after:
            return None
        del strikes[name]
        self.suspend(name, error)
        return _suspended(name, times, error)

    def resume(self, name: str) -> None:
        """Let a subscription go on.

        Raises:
            RegistryError: There is no such subscription, or it is not suspended.
        """
        if name not in self.registry:
            raise name_is_unknown(name)
        with self._lock:
            if self._suspended.pop(name, None) is None:
                raise RegistryError("PR0012", f"the subscription `{name}` is not suspended")
            self.version += 1
        logs.engine.info("the subscription %s is resumed", name)

    def reasons(self) -> dict[str, DocumentError]:
        """Return the suspended subscriptions by name; one that was replaced is no longer one."""
        if not self._suspended:
            return {}
        with self._lock:
            gone = [
                name
                for name, (subscription, _) in self._suspended.items()
                if self.registry.get(name) != subscription
            ]
            for name in gone:
                del self._suspended[name]
            return {name: error for name, (_, error) in self._suspended.items()}

    def numbers(self, names: Sequence[str]) -> list[int]:
        """Return the numbers of the suspended subscriptions among the names of a plan."""
        suspended = self.reasons()
        if not suspended:
            return []
        return [number for number, name in enumerate(names) if name in suspended]


class Strikes:
    """Counts how many documents in a row each subscription has failed at.

    The counts belong to the engine: documents are in a row whichever run has read them.
    """

    def __init__(self, suspensions: Suspensions) -> None:
        self._suspensions = suspensions
        self._failing: dict[tuple[int, str], DocumentError] = {}
        """By document and name: those who failed, until the document has ended."""

    @property
    def is_idle(self) -> bool:
        """Whether nobody has failed lately."""
        return not (self._failing or self._suspensions.strikes)

    def count(
        self, failing: Iterable[tuple[int, str, DocumentError]], ended: range
    ) -> list[tuple[int, DocumentError]]:
        """Take note of who failed, and of the documents that ended; return new suspensions."""
        self._failing.update({(number, name): error for number, name, error in failing})
        strikes = self._suspensions.strikes
        errors = []
        for number in ended:
            failed = {name for at, name in self._failing if at == number}
            for name in strikes.keys() - failed:
                strikes.pop(name, None)
            for name in failed:
                failure = self._failing.pop((number, name))
                if error := self._suspensions.strike(strikes, name, failure):
                    errors.append((number, error))
        return errors


def _suspended(name: str, times: int, error: DocumentError) -> DocumentError:
    reason = (
        f"the subscription is suspended, since it failed at {times} documents in a row: "
        f"{error.reason}; Engine.resume lets it go on"
    )
    limit = error.limit if isinstance(error, LimitError) else ""
    told = LimitError(SUSPENDED, reason, error.byte, error.line, error.path, limit=limit)
    return told.of_subscription(name, ordinal=-2)
