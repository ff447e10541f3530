"""Headers travel with their documents, and by the type of these."""

import io
from pathlib import Path

import pytest

from penstock.errors import SettingError
from penstock.routing import Catalog, Configuration, carriers, read, root_name, stamp

PAIRS = [(b"header", b"<a/>"), (b"", b""), (b"x", b"<b>\n</b>")]


def framed() -> bytes:
    file = io.BytesIO()
    for header, document in PAIRS:
        carriers.write_frame(file, header, document)
    return file.getvalue()


def test_frames_are_read_as_they_were_written() -> None:
    assert list(carriers.read_frames(io.BytesIO(framed()))) == PAIRS


def test_a_frame_that_is_cut_off_is_an_error() -> None:
    whole = framed()
    ends = {0}
    for header, document in PAIRS:
        ends.add(max(ends) + 16 + len(header) + len(document))
    for length in range(len(whole)):
        if length in ends:
            continue
        with pytest.raises(SettingError, match="PV0004"):
            list(carriers.read_frames(io.BytesIO(whole[:length])))


def test_lengths_are_bounded() -> None:
    with pytest.raises(SettingError, match="PV0004"):
        list(carriers.read_frames(io.BytesIO(framed()), document_bytes_max=3))


def test_a_side_file_lies_beside_its_document(tmp_path: Path) -> None:
    document = tmp_path / "a.xml"
    assert carriers.read_side_file(document) is None
    assert carriers.write_side_file(document, b"header") == tmp_path / "a.xml.views"
    assert carriers.read_side_file(document) == b"header"


def test_kafka_messages_have_headers() -> None:
    message = [("other", b"1"), carriers.to_kafka(b"old"), carriers.to_kafka(b"new")]
    assert carriers.from_kafka(message) == b"new"
    assert carriers.from_kafka([]) is None
    assert carriers.from_kafka(None) is None


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (b"<a/>", "a"),
        (
            b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- <b> --><p:a x='>' xmlns:p = 'urn:p'/>",
            "{urn:p}a",
        ),
        (b'<a xmlns="urn:d">', "{urn:d}a"),
        (b"<!DOCTYPE a><a/>", None),
        ("<a/>".encode("utf-16"), None),
        (b"", None),
    ],
)
def test_the_root_is_seen_at_a_glance(document: bytes, name: str | None) -> None:
    assert root_name(document) == name


def test_a_catalog_chooses_by_the_root() -> None:
    one, two, other = Configuration(["/a"]), Configuration(["/*/b"]), Configuration(["/c"])
    catalog = Catalog({"a": one, "{urn:p}*": two}, other)
    for document, chosen in ((b"<a/>", one), (b"<x xmlns='urn:p'/>", two), (b"<c/>", other)):
        header = catalog.stamp(document)
        assert header == stamp(document, chosen)
        assert header is not None
        assert read(header).configuration == chosen.id
    assert Catalog({"a": one}).stamp(b"<b/>") is None
