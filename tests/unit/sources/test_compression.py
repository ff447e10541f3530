"""Compressed bytes, whole, in parts, and damaged."""

import bz2
import gzip
import lzma
import sys
from collections.abc import Callable, Iterator

import pytest
import zstandard

from penstock.errors import DocumentError
from penstock.kernel import CHUNK_BYTES
from penstock.sources.compression import decompress, is_compressed

TEXT = b"<a>" + b"x" * 1_000_000 + b"</a>"
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
}


@pytest.fixture(params=PACKERS)
def pack(request: pytest.FixtureRequest) -> Callable[[bytes], bytes]:
    return PACKERS[request.param]


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 1 << 20])
def test_pieces_of_any_size_are_decompressed(pack: Callable[[bytes], bytes], size: int) -> None:
    small = pack(b"<a>hello</a>")
    assert is_compressed(small)
    assert b"".join(map(bytes, decompress(pieces(small, size)))) == b"<a>hello</a>"


@pytest.mark.parametrize("text", [b"<a/>", b"B<a/>", b"BZ", b"(", b"(\xb5", b"\xfd", b"\x1f", b"<"])
def test_what_is_not_compressed_passes_untouched(text: bytes) -> None:
    for size in (1, 2, 100):
        assert b"".join(map(bytes, decompress(pieces(text, size)))) == text
    assert not is_compressed(text)


def test_no_more_is_waited_for_than_is_needed_to_tell() -> None:
    def endless() -> Iterator[bytes]:
        yield b"<"
        raise AssertionError("one byte says that it is no compressed file")

    assert next(decompress(endless())) == b"<"
    assert list(decompress(iter([]))) == []


def test_a_small_file_is_never_decompressed_at_once(pack: Callable[[bytes], bytes]) -> None:
    inflated = list(decompress(iter([pack(TEXT)])))
    assert b"".join(map(bytes, inflated)) == TEXT
    assert max(map(len, inflated)) <= CHUNK_BYTES


@pytest.mark.parametrize("filling", [b"", b"\0" * 100])
@pytest.mark.parametrize("size", [3, 1 << 20])
def test_several_parts_are_one_file(
    pack: Callable[[bytes], bytes], filling: bytes, size: int
) -> None:
    data = pack(b"<a>") + pack(b"</a>") + filling
    assert b"".join(map(bytes, decompress(pieces(data, size)))) == b"<a></a>"


def flipped(data: bytes) -> bytes:
    return data[:30] + bytes(byte ^ 0xFF for byte in data[30:38]) + data[38:]


@pytest.mark.parametrize("damage", [lambda data: data[:-5], flipped])
def test_damage_is_an_error_of_the_document(
    pack: Callable[[bytes], bytes], damage: Callable[[bytes], bytes]
) -> None:
    with pytest.raises(DocumentError) as caught:
        list(decompress(iter([damage(pack(bytes(range(256)) * 4))])))
    assert caught.value.code == "PS0002"


def test_a_missing_library_names_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(DocumentError) as caught:
        list(decompress(iter([zstandard.compress(TEXT)])))
    assert caught.value.code == "PS0011"
    assert "pip install 'penstock-xml[zstd]'" in caught.value.reason


def test_a_file_that_asks_for_too_much_memory_is_refused() -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    data = lzma.compress(b"<a/>", lzma.FORMAT_XZ, filters=filters)
    with pytest.raises(DocumentError, match=r"(?i)memory") as caught:
        list(decompress(iter([data])))
    assert caught.value.code == "PS0002"
