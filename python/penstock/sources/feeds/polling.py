"""Polls many feeds; one that fails never stops the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from penstock.errors import DocumentError
from penstock.limits import Limits
from penstock.results import Document
from penstock.sources.compression import decompress
from penstock.sources.feeds.fetching import fetch, require_http
from penstock.sources.feeds.items import Item, items_of
from penstock.sources.feeds.states import FeedState, States, digest

_INFLATION_MAX = 8


@dataclass(frozen=True, slots=True)
class Poll:
    """What one poll of one feed brought: new items, the error if there was one, what to keep."""

    url: str
    items: tuple[Item, ...]
    error: DocumentError | None
    state: FeedState

    @property
    def is_new_error(self) -> bool:
        """Whether the feed did not fail in this way at the poll before."""
        return self.error is not None and self.state.failures == 1


class FeedPoller:
    """Polls feeds with conditional requests, and hands out each item once.

    ``states`` is what is remembered; keep it and pass it in again to go on later. At most
    ``feed_bytes_max`` are read of a feed, within ``timeout_seconds``.

    Raises:
        ValueError: An address is neither http nor https.
    """

    def __init__(
        self,
        urls: Iterable[str],
        states: States | None = None,
        *,
        timeout_seconds: float = 20.0,
        feed_bytes_max: int = 16 << 20,
        workers_max: int = 8,
    ) -> None:
        self.urls = tuple(dict.fromkeys(urls))
        for url in self.urls:
            require_http(url)
        self.states: States = dict(states or {})
        self._timeout_seconds = timeout_seconds
        self._feed_bytes_max = feed_bytes_max
        self._workers_max = workers_max

    def poll(self) -> list[Poll]:
        """Ask every feed once, several at a time; return what they answered, in their order."""
        if not self.urls:
            return []
        with ThreadPoolExecutor(min(self._workers_max, len(self.urls))) as pool:
            polls = list(pool.map(self._poll, self.urls))
        self.states.update((poll.url, poll.state) for poll in polls)
        return polls

    def documents(self, stream: str = "feeds") -> Iterator[Document]:
        """Poll once, and yield the new items as documents, ready for ``Engine.run``.

        A feed that fails is left out; ``states`` says why.
        """
        for poll in self.poll():
            for item in poll.items:
                yield Document(item.xml, f"{poll.url}#{item.guid}", stream, item.time)

    def _poll(self, url: str) -> Poll:
        state = self.states.get(url, FeedState())
        try:
            fetched = fetch(
                url,
                state.etag,
                state.modified,
                timeout_seconds=self._timeout_seconds,
                body_bytes_max=self._feed_bytes_max,
            )
        except DocumentError as error:
            return _failed(url, (), error, state)
        if fetched.body is None:
            return Poll(url, (), None, replace(state, failures=0, reason=None))
        found, failure = self._items(fetched.body)
        new = _new(found, state)
        seen = state.remember(item.guid for item in found)
        if failure is not None:
            # What made it fail may be mended under the same tag, so ask for all of it again.
            return _failed(url, new, failure, replace(state, etag=None, modified=None, seen=seen))
        return Poll(url, new, None, FeedState(fetched.etag, fetched.modified, seen))

    def _items(self, body: bytes) -> tuple[list[Item], DocumentError | None]:
        found: list[Item] = []
        limits = Limits(document_bytes_max=_INFLATION_MAX * self._feed_bytes_max)
        try:
            for item in items_of(decompress(iter([body])), limits):
                found.append(item)
        except DocumentError as error:
            error.results = ()
            return found, error
        return found, None


def _new(found: list[Item], state: FeedState) -> tuple[Item, ...]:
    """Return the items that were not seen; of two with one guid the first."""
    seen = set(state.seen)
    new = []
    for item in found:
        name = digest(item.guid)
        if name not in seen:
            seen.add(name)
            new.append(item)
    return tuple(new)


def _failed(url: str, items: tuple[Item, ...], error: DocumentError, state: FeedState) -> Poll:
    is_same = state.reason == error.reason
    failures = state.failures + 1 if is_same else 1
    return Poll(url, items, error, replace(state, failures=failures, reason=error.reason))
