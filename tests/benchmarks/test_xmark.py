"""The generated auction documents are deterministic, well-formed and close to XMark."""

from hashlib import sha256
from pathlib import Path

import pytest
from lxml import etree

from benchmarks.workloads.xmark import Auction, cached

FACTOR = 0.005


@pytest.fixture(scope="module")
def document() -> bytes:
    return b"".join(Auction(FACTOR))


def test_same_seed_gives_the_same_bytes(document: bytes) -> None:
    assert b"".join(Auction(FACTOR)) == document


def test_bytes_are_the_same_on_every_machine(document: bytes) -> None:
    # Raise VERSION in the generator when this changes: cached documents carry it in their name.
    assert sha256(document).hexdigest()[:16] == "edec684c6d09c979"


def test_another_seed_gives_other_bytes(document: bytes) -> None:
    assert b"".join(Auction(FACTOR, seed=1)) != document


def test_document_is_well_formed_and_has_the_sections_in_order(document: bytes) -> None:
    site = etree.fromstring(document)
    assert [child.tag for child in site] == [
        "regions",
        "categories",
        "catgraph",
        "people",
        "open_auctions",
        "closed_auctions",
    ]
    assert len(site.findall(".//item")) == Auction(FACTOR).item_count


def test_size_follows_the_factor(document: bytes) -> None:
    assert 100e6 < len(document) / FACTOR < 130e6


def test_proportions_are_those_of_xmark() -> None:
    # The original generator gives, per megabyte: 14,748 elements and 3,372 attributes; seven
    # tenths of the bytes are text; the deepest element is twelve levels down.
    document = b"".join(Auction(0.03))
    site = etree.fromstring(document)
    megabytes = len(document) / 1e6
    elements = list(site.iter())
    assert len(elements) / megabytes == pytest.approx(14_748, rel=0.15)
    attributes = sum(len(element.attrib) for element in elements)
    assert attributes / megabytes == pytest.approx(3_372, rel=0.15)
    assert sum(map(len, site.itertext())) / len(document) == pytest.approx(0.695, rel=0.15)
    assert max(sum(1 for _ in element.iterancestors()) + 1 for element in elements) == 12


def test_a_cached_document_is_written_once(tmp_path: Path) -> None:
    path = cached(tmp_path, 0.001)
    written = path.stat().st_mtime_ns
    assert cached(tmp_path, 0.001) == path
    assert path.stat().st_mtime_ns == written
    assert list(tmp_path.iterdir()) == [path]


def test_a_factor_must_be_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        Auction(0)
