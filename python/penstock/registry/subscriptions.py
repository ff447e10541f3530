"""A named standing query, and all of them at one version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from penstock.errors import RegistryError
from penstock.joins import check_join, is_joining
from penstock.kernel import Plan
from penstock.languages.xpath import xpath
from penstock.planning.compile import compile_query
from penstock.twigs import Aggregate, Event, Query, Selection

Mode = Literal["query", "filter", "running"]
"""``query`` reports every result, ``filter`` only that a document has one, ``running`` the value
of an aggregate after every node, for streams that do not end."""

Delivery = Mapping[str, Any] | str
"""Where results go: a name, or settings that JSON can hold."""

_NEVER = xpath("/*[false()]")
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
    if is_joining(query) and mode != "query":
        raise RegistryError("PR0004", f"a query that joins documents has no mode {mode!r}")
    return Subscription(name, query, mode, owner, delivery, program_of(query, mode))


def program_of(query: Query, mode: Mode) -> bytes:
    """Return the program of a query; one that joins has its rows instead, and never matches.

    Raises:
        QueryError: The query is not one that is evaluated.
    """
    if is_joining(query):
        check_join(query)
        query = _NEVER
        mode = "filter"
    return compile_query(query, is_filter=mode == "filter")


def refuse_circle(subscription: Subscription, others: Iterable[Subscription]) -> None:
    """See to it that what a subscription publishes does not come back to it.

    Raises:
        RegistryError: It does, directly or through what others publish.
    """
    if _published(subscription.query) is None:
        return
    publishers = [subscription]
    publishers += [
        other
        for other in others
        if other.name != subscription.name and _published(other.query) is not None
    ]
    reached = {_published(subscription.query)}
    while True:
        further = {
            _published(one.query)
            for one in publishers
            if not reached.isdisjoint(block.stream for block in one.query.blocks)
        }
        if further <= reached:
            break
        reached |= further
    if not reached.isdisjoint(block.stream for block in subscription.query.blocks):
        message = f"`{subscription.name}` would read what it publishes"
        raise RegistryError("PR0009", f"{message}; publish to another stream")


def _published(query: Query) -> str | None:
    return query.output.publish if isinstance(query.output, Event) else None
