"""A named standing query, and all of them at one version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from penstock.kernel import Plan
from penstock.twigs import Query

Mode = Literal["query", "filter"]
"""``query`` reports every result, ``filter`` only that a document has one."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """A standing query with a name, an owner and a delivery; ``program`` is its compiled form."""

    name: str
    query: Query
    mode: Mode = "query"
    owner: str | None = None
    delivery: Mapping[str, Any] | str | None = None
    program: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The subscriptions of one version: names by the kernel's numbers, and the plan."""

    version: int
    names: tuple[str, ...]
    plan: Plan
