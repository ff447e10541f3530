"""What can be said of a query before it runs: when, what is held, and for which streams."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Decided(Enum):
    """The latest event that a result may have to wait for."""

    BEFORE = "before the document"
    START = "start tag"
    END = "end tag"
    SCOPE = "end of scope"
    DOCUMENT = "end of document"


@dataclass(frozen=True, slots=True)
class Verdict:
    """When results are decided, what is held until then, and whether a stream may be endless.

    ``decided`` is the latest moment for any result; most are decided earlier. ``when``, ``held``,
    ``memory`` and ``endless`` say it in words.
    """

    decided: Decided
    when: tuple[str, ...]
    held: tuple[str, ...]
    memory: str
    suits_endless: bool
    endless: str
