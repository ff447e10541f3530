"""Compressed bytes, whole, in parts, and damaged."""

import gzip
from collections.abc import Iterator

import pytest

from penstock.errors import DocumentError
from penstock.kernel import CHUNK_BYTES
from penstock.sources.gz import inflate_if_compressed

TEXT = b"<a>" + b"x" * 1_000_000 + b"</a>"


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_pieces_of_any_size_are_inflated(size: int) -> None:
    small = gzip.compress(b"<a>hello</a>")
    assert b"".join(inflate_if_compressed(pieces(small, size))) == b"<a>hello</a>"


def test_what_is_not_compressed_passes_untouched() -> None:
    assert list(inflate_if_compressed(iter([b"<", b"a/>"]))) == [b"<a/>"]
    assert list(inflate_if_compressed(iter([]))) == []
    assert list(inflate_if_compressed(iter([b"<"]))) == [b"<"]


def test_a_small_file_is_never_inflated_at_once() -> None:
    inflated = list(inflate_if_compressed(iter([gzip.compress(TEXT)])))
    assert b"".join(inflated) == TEXT
    assert max(map(len, inflated)) <= CHUNK_BYTES


@pytest.mark.parametrize("filling", [b"", b"\0" * 100])
@pytest.mark.parametrize("size", [3, 1 << 20])
def test_several_members_are_one_file(filling: bytes, size: int) -> None:
    data = gzip.compress(b"<a>") + gzip.compress(b"</a>") + filling
    assert b"".join(inflate_if_compressed(pieces(data, size))) == b"<a></a>"


@pytest.mark.parametrize("damage", [lambda d: d[:-5], lambda d: d[:30] + b"\xff" * 8 + d[38:]])
def test_damage_is_an_error_of_the_document(damage: object) -> None:
    data = damage(gzip.compress(bytes(range(256)) * 4))  # type: ignore[operator]
    with pytest.raises(DocumentError) as caught:
        list(inflate_if_compressed(iter([data])))
    assert caught.value.code == "PS0002"
