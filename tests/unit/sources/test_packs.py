"""Packs: many documents in one buffer, in bundles or one by one."""

from __future__ import annotations

from itertools import accumulate

import pytest

from penstock.sources.packs import Pack

DOCUMENTS = [b"<a/>", b"<bb/>", b"", b"<cccccccc/>", b"<d/>"]


def pack(is_text: bool = False) -> Pack:
    offsets = [3, *accumulate(map(len, DOCUMENTS), initial=3)][1:]
    return Pack(memoryview(b"..." + b"".join(DOCUMENTS)), offsets, is_text)


def bundles(documents_max: int, bytes_max: int) -> list[list[bytes]]:
    found: list[list[bytes]] = []
    while (start := sum(map(len, found))) < len(DOCUMENTS):
        found.append([bytes(data) for data, _, _ in pack().bundle(start, documents_max, bytes_max)])
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
    assert [encoding for _, encoding, _ in pack(is_text=True).bundle(0, 2, 99)] == ["utf-8"] * 2


def test_documents_have_the_streams_that_are_given() -> None:
    offsets = [0, *accumulate(map(len, DOCUMENTS))]
    streams = ["S", "T", "U", "V", "W"]
    middle = Pack(memoryview(b"".join(DOCUMENTS)), offsets, False, streams)[1:4]
    assert [one.stream for one in middle] == ["T", "U", "V"]
    assert [stream for _, _, stream in middle.bundle(1, 99, 99)] == ["U", "V"]
    assert [stream for _, _, stream in pack().bundle(3, 99, 99)] == ["default"] * 2
