"""Packs: many documents in one buffer, in bundles or one by one."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest

import penstock
from penstock.errors import DocumentError
from penstock.kernel import Bundle, Session
from penstock.results.arrow import columns_of
from penstock.sources.packs import Pack

DOCUMENTS = [b"<a/>", b"<bb/>", b"", b"<cccccccc/>", b"<d/>"]


def pack(is_text: bool = False) -> Pack:
    offsets = [3, *accumulate(map(len, DOCUMENTS), initial=3)][1:]
    return Pack(memoryview(b"..." + b"".join(DOCUMENTS)), offsets, is_text)


def bundles(documents_max: int, bytes_max: int) -> list[list[bytes]]:
    found: list[list[bytes]] = []
    while (start := sum(map(len, found))) < len(DOCUMENTS):
        found.append(documents_of(pack().bundle(start, documents_max, bytes_max)))
    return found


def documents_of(bundle: Bundle) -> list[bytes]:
    data = bytes(bundle.data)
    found = [data[start:end] for start, end in pairwise(bundle.bounds)]
    assert len(bundle) == len(found)
    return found


def test_inputs_are_made_on_demand() -> None:
    assert len(pack()) == 5
    assert [bytes(one.whole() or b"") for one in pack()] == DOCUMENTS
    assert [one.encoding for one in (pack()[0], pack(is_text=True)[0])] == [None, "utf-8"]


def test_a_slice_is_a_pack() -> None:
    middle = pack()[1:4]
    assert isinstance(middle, Pack)
    assert [bytes(one.whole() or b"") for one in middle] == DOCUMENTS[1:4]
    assert len(pack()[5:]) == 0


@pytest.mark.parametrize(
    ("documents_max", "bytes_max", "sizes"),
    [
        (100, 100, [5]),
        (2, 100, [2, 2, 1]),
        (100, 9, [3, 1, 1]),
        (100, 8, [1, 2, 1, 1]),
        (100, 1, [1, 1, 1, 1, 1]),
        (1, 1, [1, 1, 1, 1, 1]),
    ],
)
def test_bundles_keep_to_their_bounds(documents_max: int, bytes_max: int, sizes: list[int]) -> None:
    found = bundles(documents_max, bytes_max)
    assert [len(one) for one in found] == sizes
    assert [data for one in found for data in one] == DOCUMENTS


def test_the_encoding_of_text_is_known() -> None:
    assert pack(is_text=True).bundle(0, 2, 99).encoding == "utf-8"
    assert pack().bundle(0, 2, 99).encoding is None


def test_documents_have_the_streams_that_are_given() -> None:
    offsets = [0, *accumulate(map(len, DOCUMENTS))]
    streams = ["S", "T", "U", "V", "W"]
    middle = Pack(memoryview(b"".join(DOCUMENTS)), offsets, False, streams)[1:4]
    assert [one.stream for one in middle] == ["T", "U", "V"]
    assert middle.bundle(1, 99, 99).streams == ["U", "V"]
    assert pack().bundle(3, 99, 99).streams is None


def test_a_bundle_gives_what_its_documents_give() -> None:
    registry = penstock.Registry()
    registry.add("b", "//b")
    plan = registry.snapshot().plan
    documents = [b"<a><b>1</b></a>", b"<a><b>", b"", b"<a/>", b"<b>2<b/></b>"]
    apart, together = Session(plan), Session(plan)
    wanted = apart.read([(data, None, "default") for data in documents], 7)
    bounds = list(accumulate(map(len, documents), initial=0))
    found = together.read_adjacent(Bundle(b"".join(documents), bounds, None, None), 7)

    def told(read: tuple[int, list[tuple[int, DocumentError]]]) -> object:
        return read[0], [(number, str(error)) for number, error in read[1]]

    assert told(found) == told(wanted)
    assert len(found[1]) == 2
    assert rows_of(together) == rows_of(apart)
    assert len(rows_of(apart)) == 0, "they were taken"


def rows_of(session: Session) -> list[tuple[object, ...]]:
    columns = columns_of(session.take().columns())
    names = ("document", "start", "end", "value")
    return list(zip(*(columns[name].to_pylist() for name in names), strict=True))


@pytest.mark.parametrize(
    ("bounds", "streams"), [([3, 2], None), ([0, 9], None), ([0, 4], []), ([0, 4], ["S", "T"])]
)
def test_bounds_outside_of_the_data_are_refused(bounds: list[int], streams: object) -> None:
    session = Session(penstock.Registry().snapshot().plan)
    with pytest.raises(ValueError, match="no bounds"):
        session.read_adjacent(Bundle(b"<a/>", bounds, None, streams))  # type: ignore[arg-type]
