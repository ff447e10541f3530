"""Feeds polled from a server on loopback."""

import gzip
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import penstock
from penstock.errors import DocumentError
from penstock.sources.feeds import FeedPoller, FeedState, Poll, items_of
from penstock.sources.feeds.states import SEEN_MAX, digest, dump, load
from tests.feed_server import FeedServer, atom, rss

DATE = datetime(2023, 1, 2, 3, 4, 5, tzinfo=UTC)
RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<item rdf:about="urn:1"><link>http://x/1</link><dc:date>2023-01-02T03:04:05+00:00</dc:date></item>
</rdf:RDF>"""


@pytest.fixture
def server() -> Iterator[FeedServer]:
    """Return a running server."""
    with FeedServer().running() as running:
        yield running


def guids(polls: list[Poll]) -> list[list[str]]:
    """Return what each feed brought."""
    return [[item.guid for item in poll.items] for poll in polls]


@pytest.mark.parametrize(
    ("feed", "guid"), [(rss("urn:1"), "urn:1"), (atom("urn:1"), "urn:1"), (RDF, "urn:1")]
)
def test_all_kinds_of_feeds_have_items_with_guid_and_date(feed: bytes, guid: str) -> None:
    (item,) = items_of([feed])
    assert (item.guid, item.time) == (guid, DATE)
    assert penstock.evaluate("count(/*)", item.xml) == 1


def test_an_item_without_guid_is_told_by_its_link_or_its_content() -> None:
    feed = (
        b"<rss><channel><item><link> http://x/1 </link></item><item><title/></item></channel></rss>"
    )
    linked, bare = items_of([feed])
    assert (linked.guid, linked.time) == ("http://x/1", None)
    assert bare.guid.startswith("content:")


def test_an_empty_feed_is_fine_and_another_document_is_not() -> None:
    assert list(items_of([b"<rss><channel/></rss>"])) == []
    with pytest.raises(DocumentError, match="no RSS or Atom feed"):
        list(items_of([b"<html><item/></html>"]))


@pytest.mark.parametrize("has_tags", [True, False])
def test_what_did_not_change_is_not_sent_again(server: FeedServer, has_tags: bool) -> None:
    server.has_tags = has_tags
    server.pages["/a"] = rss("1", "2")
    poller = FeedPoller([server.url("/a")])
    assert guids(poller.poll()) == [["1", "2"]]
    assert guids(poller.poll()) == [[]]
    assert [status for *_, status in server.requests] == [200, 304]
    server.pages["/a"] = rss("3", "2")
    assert guids(poller.poll()) == [["3"]]


def test_items_come_once_over_a_restart(server: FeedServer) -> None:
    server.pages["/a"] = rss("1", "2", "1")
    first = FeedPoller([server.url("/a")])
    assert guids(first.poll()) == [["1", "2"]]
    server.pages["/a"] = rss("2", "3")
    second = FeedPoller([server.url("/a")], load(dump(first.states)))
    assert guids(second.poll()) == [["3"]]


def test_a_feed_that_fails_does_not_stop_the_others(server: FeedServer) -> None:
    server.pages |= {"/a": rss("1"), "/b": 500, "/c": rss("2")[:-10], "/d": b"<html/>"}
    urls = [server.url(path) for path in ("/b", "/c", "/d", "/none", "/a")]
    poller = FeedPoller([*urls, "http://127.0.0.1:1/"])
    polls = poller.poll()
    assert guids(polls) == [[], ["2"], [], [], ["1"], []]
    assert [poll.error and poll.error.code for poll in polls] == [
        "PS0009",
        "PD0026",
        "PS0008",
        "PS0009",
        None,
        "PS0009",
    ]
    assert all(poll.is_new_error for poll in polls if poll.error)
    again = poller.poll()
    assert not any(poll.is_new_error for poll in again)
    assert poller.states[urls[0]].failures == 2
    server.pages["/b"] = rss("3")
    assert guids(poller.poll())[0] == ["3"]
    assert poller.states[urls[0]] == FeedState(
        poller.states[urls[0]].etag, None, (digest("3"),), 0, None
    )


def test_a_feed_is_bounded_in_time_and_size(server: FeedServer) -> None:
    server.pages |= {"/a": rss(*map(str, range(1000))), "/bomb": gzip.compress(b" " * 10**6)}
    (large, bomb) = FeedPoller(
        [server.url("/a"), server.url("/bomb")], feed_bytes_max=10_000
    ).poll()
    assert "more than 10000 bytes" in str(large.error)
    assert bomb.error is not None
    server.wait.clear()
    (slow,) = FeedPoller([server.url("/a")], timeout_seconds=0.2).poll()
    assert slow.error is not None
    assert "0.2 seconds" in slow.error.reason or "timed out" in slow.error.reason


def test_only_the_web_is_asked(server: FeedServer) -> None:
    for url in ("file:///etc/passwd", "ftp://x/y", "/a", "http:///a"):
        with pytest.raises(ValueError, match="http or https"):
            FeedPoller([url])
    server.pages |= {"/file": "file:///etc/passwd", "/moved": server.url("/a"), "/a": rss("1")}
    refused, moved = FeedPoller([server.url("/file"), server.url("/moved")]).poll()
    assert refused.error is not None
    assert [item.guid for item in moved.items] == ["1"]


def test_compressed_feeds_are_read(server: FeedServer) -> None:
    server.pages["/a"] = gzip.compress(atom("1"))
    assert guids(FeedPoller([server.url("/a")]).poll()) == [["1"]]


def test_new_items_run_through_an_engine(server: FeedServer) -> None:
    server.pages["/a"] = rss("1", "2")
    registry = penstock.Registry()
    registry.add("titles", penstock.xpath("/item/title"))
    poller = FeedPoller([server.url("/a")])
    engine = penstock.Engine(registry)
    rows = list(engine.run(poller.documents()))
    assert [row.value for row in rows] == ["<title>1</title>", "<title>2</title>"]
    assert (rows[0].document, rows[0].event_time) == (server.url("/a#1"), DATE)
    assert list(engine.run(poller.documents())) == []


def test_what_is_remembered_is_bounded_but_holds_the_last_poll() -> None:
    state = FeedState(seen=tuple(digest(str(number)) for number in range(SEEN_MAX)))
    after = FeedState(seen=state.remember(["new", "0"]))
    assert len(after.seen) == SEEN_MAX
    assert after.seen[-2:] == (digest("new"), digest("0"))
    many = after.remember(map(str, range(SEEN_MAX + 5)))
    assert len(many) == SEEN_MAX + 5
