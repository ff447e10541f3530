"""Subscriptions that request something else than rows, as the plan of a snapshot has them."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from penstock.errors import RegistryError
from penstock.planning.program import Request, request_of
from penstock.registry.subscriptions import Snapshot

_DEEDS = {Request.ROWS: "reports rows", Request.RECORDS: "joins documents"}


class Requested(NamedTuple):
    """What a subscription requests: its place among the others, and its program.

    A place is given when a subscription is added; one that is removed and added again is another.
    """

    place: int
    program: bytes


def requests_of(snapshot: Snapshot) -> dict[str, Requested]:
    """Return what the subscriptions of a snapshot request beside rows, by name."""
    names = snapshot.names
    return {
        names[number]: Requested(place, program)
        for number, place, program in snapshot.plan.requests()
    }


def requests_since(older: Snapshot, snapshot: Snapshot) -> dict[str, Requested | None]:
    """Return what changed from one snapshot to another: None for subscriptions that are gone.

    It costs what changed. A subscription that merely moved to another tier is listed, too.
    """
    gone, come = snapshot.plan.requests_since(older.plan)
    changes: dict[str, Requested | None] = {older.names[number]: None for number in gone}
    for number, place, program in come:
        changes[snapshot.names[number]] = Requested(place, program)
    return changes


def require_requests(
    snapshot: Snapshot, served: Collection[Request], call: str, instead: str
) -> None:
    """See whether a call serves what all subscriptions request.

    Raises:
        RegistryError: One requests something else; the message names it and the call to use.
    """
    for name, requested in requests_of(snapshot).items():
        request = request_of(requested.program)
        if request not in served:
            message = f"`{name}` {_DEEDS[request]}, which {call} does not evaluate; use {instead}"
            raise RegistryError("PR0011", message)
