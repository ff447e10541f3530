"""The measured systems answer the benchmark's queries alike on a small document."""

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import feeds, peers
from benchmarks.child import digest
from benchmarks.workloads.positions import queries
from benchmarks.workloads.queries import QUERIES, REVERSE, Query
from benchmarks.workloads.xmark import Auction, cached

FACTOR = 0.01
ASKED = (*QUERIES, *REVERSE)
# It leaves out nodes without text of their own, and a listitem has none.
MISTAKEN = {("simdxml_batch", "Q5")}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cached(tmp_path_factory.mktemp("bench"), FACTOR)


def present(module: str) -> None:
    reason = peers.load(module).missing()
    if reason:
        pytest.skip(reason)


def answer(module: str, query: Query, data: bytes) -> dict[str, object]:
    peer = peers.load(module)
    return digest(peer.values(peer.prepare(query)(data)), query.compare)


@pytest.mark.parametrize("module", peers.QUERY_PEERS)
@pytest.mark.parametrize("query", ASKED, ids=lambda query: query.name)
def test_every_system_gives_the_reference_answer(module: str, query: Query, path: Path) -> None:
    present(module)
    data = path.read_bytes()
    is_right = answer(module, query, data) == answer("lxml_tree", query, data)
    assert is_right is ((module, query.name) not in MISTAKEN)


@pytest.mark.parametrize("query", ASKED, ids=lambda query: query.name)
def test_every_query_selects_something(query: Query, path: Path) -> None:
    assert answer("lxml_tree", query, path.read_bytes())["count"] != 0


@pytest.mark.parametrize("module", peers.PARSE_PEERS)
def test_every_parser_reads_to_the_end(module: str, path: Path) -> None:
    present(module)
    parse: Callable[[bytes], object] = peers.load(module).prepare(None)
    parse(path.read_bytes())
    with pytest.raises(Exception, match=r"."):
        parse(path.read_bytes().replace(b"</closed_auctions>", b"</closed_auction>"))


@pytest.mark.parametrize("module", feeds.FEEDERS)
def test_every_feeder_finds_the_same_number_of_results(module: str, path: Path) -> None:
    present("lxml_tree" if module == "lxml_iterparse" else module)
    data = path.read_bytes()
    for query in queries(Auction(FACTOR).item_count):
        expected = sum(count for count, _ in feeds.feed_whole("lxml_tree")(query)(data))
        assert expected > 0, query.name
        found = sum(count for count, _ in feeds.FEEDERS[module](query)(data))
        assert found == expected, query.name
