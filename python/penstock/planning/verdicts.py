"""What can be said of a query before it runs: when, what is held, and for which streams."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum


class Decided(Enum):
    """The latest event that a result may have to wait for."""

    BEFORE = "before the document"
    START = "start tag"
    END = "end tag"
    SCOPE = "end of scope"
    DOCUMENT = "end of document"


class Cost(IntEnum):
    """What a record costs after many others, from the least to the most."""

    FLAT = 0
    """What the first one cost, in time and in memory."""
    KEPT = 1
    """Something is kept for each record; memory grows with the document, time follows it."""
    PAIRS = 2
    """A node meets every member of its set, at most ``Limits.pairs_max`` pairs in a document."""
    POWERS = 3
    """The members lead on to sets of their own: time grows with a higher power than the square."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """When results are decided, what is held until then, and whether a stream may be endless.

    ``decided`` is the latest moment for any result; most are decided earlier. ``when``, ``held``,
    ``memory`` and ``endless`` say it in words. An endless stream suits a query only if its records,
    the children of the element that never ends, cost the same for ever.
    """

    decided: Decided
    when: tuple[str, ...]
    held: tuple[str, ...]
    memory: str
    cost: Cost
    suits_endless: bool
    endless: str
