"""What subscriptions request, as the plan of a snapshot has it."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from penstock.errors import RegistryError
from penstock.planning.program import Request
from penstock.registry.subscriptions import Snapshot

_DEEDS = {
    Request.ROWS: "reports rows",
    Request.RECORDS: "joins documents",
    Request.MESSAGES: "makes messages",
    Request.BINDINGS: "joins streams",
}


class Requested(NamedTuple):
    """What a subscription requests: its place among the others, and its program.

    A place is given when a subscription is added; one that is removed and added again is another.
    """

    place: int
    program: bytes


def requests_of(snapshot: Snapshot, request: Request = Request.RECORDS) -> dict[str, Requested]:
    """Return the programs of a snapshot that have a request, by the names of subscriptions."""
    names = snapshot.names
    return {
        names[number]: Requested(place, program)
        for number, place, program in snapshot.plan.requests(request.value)
    }


def joins_of(snapshot: Snapshot, call: str) -> dict[str, Requested]:
    """Return the programs that join documents, for a call that joins no bindings.

    Raises:
        RegistryError: A subscription joins bindings of streams.
    """
    require_requests(snapshot, [one for one in Request if one is not Request.BINDINGS], call, "")
    return requests_of(snapshot)


def requests_since(older: Snapshot, snapshot: Snapshot) -> dict[str, Requested | None]:
    """Return what joins changed from one snapshot to another: None for those that are gone.

    It costs what changed. A subscription that merely moved to another tier is listed, too.
    """
    gone, come = snapshot.plan.requests_since(Request.RECORDS.value, older.plan)
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
    for request in {Request.RECORDS, Request.MESSAGES, Request.BINDINGS} - {*served}:
        for name in requests_of(snapshot, request):
            # Streams are joined while they are read, which nothing else does.
            is_bound = request is Request.BINDINGS
            own = "Engine.run, or join and join_stream of penstock.spark" if is_bound else instead
            message = f"`{name}` {_DEEDS[request]}, which {call} does not evaluate; use {own}"
            raise RegistryError("PR0011", message)
