"""A named standing query, and all of them at one version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from penstock.errors import RegistryError
from penstock.kernel import Plan
from penstock.languages.xpath import xpath
from penstock.planning.compile import compile_query
from penstock.twigs import Query

Mode = Literal["query", "filter"]
"""``query`` reports every result, ``filter`` only that a document has one."""

Delivery = Mapping[str, Any] | str
"""Where results go: a name, or settings that JSON can hold."""

_MODES = ("query", "filter")


@dataclass(frozen=True, slots=True)
class Subscription:
    """A standing query with a name, an owner and a delivery; ``program`` is its compiled form."""

    name: str
    query: Query
    mode: Mode = "query"
    owner: str | None = None
    delivery: Delivery | None = None
    program: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The subscriptions of one version: names by the kernel's numbers, and the plan."""

    version: int
    names: tuple[str, ...]
    plan: Plan


def compile_subscription(
    name: object,
    query: Query | str,
    mode: Mode = "query",
    owner: str | None = None,
    delivery: Delivery | None = None,
) -> Subscription:
    """Return a subscription with its program; a ``str`` is taken as XPath without namespaces.

    Raises:
        QueryError: The query is not one, or not one that is evaluated.
        RegistryError: The name is none; the mode is none.
    """
    if not isinstance(name, str) or not name:
        raise RegistryError("PR0003", f"a subscription needs a name that is text, not {name!r}")
    if mode not in _MODES:
        raise RegistryError("PR0004", f"the mode {mode!r} is none; use `query` or `filter`")
    if isinstance(query, str):
        query = xpath(query)
    program = compile_query(query, is_filter=mode == "filter")
    return Subscription(name, query, mode, owner, delivery, program)
