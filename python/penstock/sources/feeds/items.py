"""A feed becomes its items: RSS 0.9x and 2.0, RSS 1.0 (RDF) and Atom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from hashlib import blake2b

from penstock.errors import DocumentError
from penstock.kernel import Plan, Session
from penstock.languages.xpath import xpath
from penstock.limits import Limits
from penstock.planning.compile import compile_query
from penstock.sources.inputs import Piece
from penstock.sources.paths import RecordPath
from penstock.sources.splitting import Record, split
from penstock.sources.string_values import string_value
from penstock.sources.times import iso_time

NAMESPACES = {
    "atom": ["http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#"],
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rss": ["", "http://purl.org/rss/1.0/", "http://backend.userland.com/*"],
    "dc": "http://purl.org/dc/elements/1.1/",
}
_ITEMS = "/rss:rss/rss:channel/rss:item | /rdf:RDF/rss:item | /atom:feed/atom:entry"
_FACTS = {
    "guid": "/rss:item/rss:guid | /atom:entry/atom:id | /rss:item/@rdf:about",
    "link": "/rss:item/rss:link | /atom:entry/atom:link/@href",
    "time": (
        "/rss:item/rss:pubDate | /rss:item/dc:date | /atom:entry/atom:updated"
        " | /atom:entry/atom:published | /atom:entry/atom:modified"
    ),
}


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a feed: what tells it from others, when it was published, and its XML."""

    guid: str
    time: datetime | None
    xml: bytes


def items_of(pieces: Iterable[Piece], limits: Limits | None = None) -> Iterator[Item]:
    """Yield the items of a feed, each as XML that stands alone.

    ``guid`` is the item's guid or id, else its link, else a digest of its content. ``time`` is
    the first date that the item states and that can be understood.

    Raises:
        DocumentError: The feed is not well-formed, after the items before the error, or it is
            no feed.
        LimitError: The feed passed a limit; likewise.
    """
    facts = _Facts(limits)
    count = 0
    is_feed = _Recognition(limits)
    for record in split(is_feed.watch(pieces), _record_path(), limits):
        count += 1
        yield _item(record, facts.of(record.xml))
    if not count and not is_feed.has_matched:
        raise DocumentError("PS0008", "the document is no RSS or Atom feed", 0, 1, "")


def _item(record: Record, facts: Mapping[str, list[str]]) -> Item:
    told = [*facts.get("guid", []), *facts.get("link", [])]
    guid = next((text for text in told if text), None)
    if guid is None:
        guid = "content:" + blake2b(record.xml, digest_size=16).hexdigest()
    times = (_time(text) for text in facts.get("time", []))
    return Item(guid, next((time for time in times if time is not None), None), record.xml)


def _time(text: str) -> datetime | None:
    time = iso_time(text)
    if time is None:
        try:
            time = parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


class _Facts:
    """Reads guid, link and dates of one item after the other."""

    def __init__(self, limits: Limits | None) -> None:
        self._session = Session(_fact_plan(), limits, in_document_order=True)
        self._names = tuple(_FACTS)

    def of(self, xml: bytes) -> dict[str, list[str]]:
        """Return what an item says of itself, by name and in document order."""
        self._session.read_whole(xml)
        facts: dict[str, list[str]] = {}
        for number, _, kind, _, text, *_ in self._session.take().rows()[0]:
            value = string_value(text) if kind == 1 else text
            facts.setdefault(self._names[number], []).append(value.strip())
        return facts


class _Recognition:
    """Tells whether what passes by is a feed at all, so that an empty one is not an error."""

    def __init__(self, limits: Limits | None) -> None:
        self._session = Session(_feed_plan(), limits)
        self.has_matched = False

    def watch(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """Yield the pieces as they are."""
        self._session.begin()
        is_sound = True
        for piece in pieces:
            if is_sound and not self.has_matched:
                try:
                    self._session.feed(piece)
                except DocumentError:
                    is_sound = False  # the splitter says so, too
                self.has_matched = self._session.row_count() > 0
            yield piece


@cache
def _record_path() -> RecordPath:
    return RecordPath(_ITEMS, NAMESPACES)


@cache
def _fact_plan() -> Plan:
    queries = (xpath(text, namespaces=NAMESPACES) for text in _FACTS.values())
    return Plan.build([compile_query(query) for query in queries])


@cache
def _feed_plan() -> Plan:
    query = xpath("/rss:rss | /rdf:RDF | /atom:feed", namespaces=NAMESPACES)
    return Plan.build([compile_query(query, is_filter=True)])
