"""What is remembered of feeds between polls."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import blake2b

SEEN_MAX = 10_000
"""So many items of a feed are remembered, and always those that it held at the last poll."""


@dataclass(frozen=True, slots=True)
class FeedState:
    """What is remembered of one feed.

    ``etag`` and ``modified`` are sent back to the server, which then says if nothing changed.
    ``seen`` are digests of the guids of items, the latest last. ``failures`` counts the polls
    that failed since the last that did not, ``reason`` is why the last one did.
    """

    etag: str | None = None
    modified: str | None = None
    seen: tuple[str, ...] = ()
    failures: int = 0
    reason: str | None = None

    def remember(self, guids: Iterable[str]) -> tuple[str, ...]:
        """Return ``seen`` with the guids of a poll moved to its end."""
        now = dict.fromkeys(digest(guid) for guid in guids)
        before = [one for one in self.seen if one not in now]
        kept = max(SEEN_MAX - len(now), 0)
        return (*before[len(before) - min(kept, len(before)) :], *now)


States = dict[str, FeedState]
"""The states of feeds by address."""


def digest(guid: str) -> str:
    """Return a short name for a guid."""
    return blake2b(guid.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()


def dump(states: States) -> str:
    """Return states as JSON."""
    return json.dumps({url: asdict(state) for url, state in states.items()}, ensure_ascii=False)


def load(text: str) -> States:
    """Return the states of ``dump``."""
    found = json.loads(text)
    return {
        url: FeedState(**(fields | {"seen": tuple(fields["seen"])}))
        for url, fields in found.items()
    }
