"""What is published must not come back to who publishes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from penstock.errors import RegistryError
from penstock.registry.lines import CompiledChunk, CompiledLine, LineError, subscription_of
from penstock.registry.load import LoadReport
from penstock.registry.subscriptions import Subscription
from penstock.twigs import Event, Query


def is_publishing(subscription: Subscription) -> bool:
    """Return whether a subscription's results become documents of a stream."""
    question = subscription.question
    return isinstance(question, Query) and _published(question) is not None


def refuse_circle(subscription: Subscription, others: Mapping[str, Query]) -> None:
    """See to it that what a subscription publishes does not come back to it.

    ``others`` are all queries that join documents, by the names of their subscriptions.

    Raises:
        RegistryError: It does, directly or through what others publish.
    """
    query = subscription.query
    publishers = [query]
    publishers += [
        other
        for name, other in others.items()
        if name != subscription.name and _published(other) is not None
    ]
    reached = {_published(query)}
    while True:
        further = {_published(one) for one in publishers if _reads(one, reached)}
        if further <= reached:
            break
        reached |= further
    if _reads(query, reached):
        message = f"`{subscription.name}` would read what it publishes"
        raise RegistryError("PR0010", f"{message}; publish to another stream")


def without_circles(
    chunks: Iterable[CompiledChunk], others: Mapping[str, Query], report: LoadReport
) -> Iterator[CompiledChunk]:
    """Yield chunks of lines without those that would read what they publish; they are noted."""
    known = dict(others)
    for chunk in chunks:
        kept = CompiledChunk([], [], chunk.errors)
        for number, line in zip(chunk.numbers, chunk.rows, strict=True):
            try:
                _admit(line, known)
            except RegistryError as error:
                report.note(LineError.of(number, error))
            else:
                kept.numbers.append(number)
                kept.rows.append(line)
        yield kept


def _admit(line: CompiledLine, known: dict[str, Query]) -> None:
    if line.language == "xpath":
        return
    subscription = subscription_of(line)
    if is_publishing(subscription):
        refuse_circle(subscription, known)
    known[line.name] = subscription.query


def _published(query: Query) -> str | None:
    return query.output.publish if isinstance(query.output, Event) else None


def _reads(query: Query, streams: set[str | None]) -> bool:
    return not streams.isdisjoint(block.stream for block in query.blocks)
