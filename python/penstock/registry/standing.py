"""The subscriptions that join documents, and which of them changed since when."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from penstock.planning.records import JoinOutput, is_publishing, output_of

START = -1
"""What somebody has read who has read nothing yet."""

LOG_MIN = 1024


class Standing(NamedTuple):
    """A subscription that joins: its place among the others, and its program.

    A place is given when a subscription is added; one that is removed and added again is another.
    """

    place: int
    program: bytes


@dataclass(frozen=True, slots=True)
class StandingChanges:
    """What changed since somebody read last: None for those that are gone.

    ``read`` is what to ask with the next time. Where it ``is_complete``, what is not listed is
    gone as well.
    """

    read: int
    listed: Mapping[str, Standing | None]
    is_complete: bool


class StandingLog:
    """Subscriptions that join, by name, with the latest changes of them."""

    def __init__(self) -> None:
        self._standing: dict[str, Standing] = {}
        self.publishers: dict[str, JoinOutput] = {}
        """What becomes of the results of those who publish them."""
        self._log: deque[tuple[int, str]] = deque()
        self._last = 0
        self._forgotten = 0
        """The last change that the log does not have any more."""

    def put(self, name: str, standing: Standing | None) -> None:
        """Note what a name stands for from now on, if it joins anything."""
        if self._standing.get(name) == standing:
            return
        self.publishers.pop(name, None)
        if standing is None:
            del self._standing[name]
        else:
            self._standing[name] = standing
            if is_publishing(standing.program):
                self.publishers[name] = output_of(standing.program)
        self._last += 1
        self._log.append((self._last, name))
        while len(self._log) > max(len(self._standing), LOG_MIN):
            self._forgotten, _ = self._log.popleft()

    def since(self, read: int) -> StandingChanges:
        """Return what changed since somebody read last; it costs what changed."""
        if read < self._forgotten or read == START:
            return StandingChanges(self._last, dict(self._standing), True)
        listed: dict[str, Standing | None] = {}
        for number, name in reversed(self._log):
            if number <= read:
                break
            listed[name] = self._standing.get(name)
        return StandingChanges(self._last, dict(reversed(listed.items())), False)

    def __iter__(self) -> Iterator[str]:
        return iter(self._standing)

    def __len__(self) -> int:
        return len(self._standing)
