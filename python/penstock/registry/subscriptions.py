"""A named standing query, and all of them at one version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from penstock.errors import RegistryError
from penstock.kernel import Plan
from penstock.languages.xpath import xpath
from penstock.planning.compile import compile_query
from penstock.twigs import Aggregate, Query, Selection

Mode = Literal["query", "filter", "running"]
"""``query`` reports every result, ``filter`` only that a document has one, ``running`` the value
of an aggregate after every node, for streams that do not end."""

Delivery = Mapping[str, Any] | str
"""Where results go: a name, or settings that JSON can hold."""

_MODES = ("query", "filter", "running")


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
        RegistryError: The name is none; the mode is none, or not one for this query.
    """
    if not isinstance(name, str) or not name:
        raise RegistryError("PR0003", f"a subscription needs a name that is text, not {name!r}")
    if mode not in _MODES:
        raise RegistryError(
            "PR0004", f"the mode {mode!r} is none; use `query`, `filter` or `running`"
        )
    if isinstance(query, str):
        query = xpath(query)
    if mode == "running":
        match query.output:
            case Aggregate() | Selection(aggregate=str()) as output:
                query = replace(query, output=replace(output, running=True))
            case _:
                message = "the mode `running` is for count(), sum(), avg(), min() and max()"
                raise RegistryError("PR0004", message)
    program = compile_query(query, is_filter=mode == "filter")
    return Subscription(name, query, mode, owner, delivery, program)
