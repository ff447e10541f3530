"""Headers say where nodes are, and belong to one document."""

import zlib

import pytest

from penstock.errors import DocumentError
from penstock.routing import Configuration, View, headers, read, stamp, verify

VIEWS = ["/n/a", "/n/a/@x", "/n/b", "/n/b/text()", "/n/c", "/n/comment()"]
DOCUMENT = b"<n><a x='1'>u</a><b>v</b><b>w</b><!--z--></n>"


def states(
    document: bytes, views: list[str] | None = None, encoding: str | None = None
) -> list[str]:
    """Return the states of views in a document."""
    header = read(stamp(document, Configuration(views or VIEWS), encoding))
    return [entry.state for entry in header.entries]


def test_absent_one_and_multiple_are_told_apart() -> None:
    assert states(DOCUMENT) == ["one", "one", "multiple", "multiple", "absent", "hidden"]


def test_a_place_is_the_bytes_of_the_node_with_their_checksum() -> None:
    header = read(stamp(DOCUMENT, Configuration(VIEWS)))
    element, attribute = header.entries[:2]
    assert (element.kind, DOCUMENT[element.start : element.end]) == ("element", b"<a x='1'>u</a>")
    assert (attribute.kind, DOCUMENT[attribute.start : attribute.end]) == ("attribute", b"x='1'")
    assert element.checksum == zlib.crc32(b"<a x='1'>u</a>")
    assert header.document_checksum == zlib.crc32(DOCUMENT)
    assert header.document_bytes == len(DOCUMENT)


def test_the_encoding_of_version_1_does_not_change() -> None:
    """A change of these bytes needs a new version."""
    assert (
        stamp(b"<n><a>1</a></n>", Configuration(["/n/a", "/n/b"])).hex()
        == "505601d9302bacc9747e07000f9aac8cae020303086828db0c0042e09d56"
    )


def test_pieces_give_the_same_header() -> None:
    configuration = Configuration(VIEWS)
    whole = stamp(DOCUMENT, configuration)
    for cut in range(len(DOCUMENT) + 1):
        assert stamp([DOCUMENT[:cut], DOCUMENT[cut:]], configuration) == whole
    assert stamp([DOCUMENT[n : n + 1] for n in range(len(DOCUMENT))], configuration) == whole


def test_nodes_of_entities_are_hidden() -> None:
    document = (
        b"""<!DOCTYPE n [<!ENTITY m "<a>1</a>"><!ENTITY e "x">]><n>&m;<b>&e;</b><c>y</c></n>"""
    )
    assert states(document) == ["hidden", "absent", "hidden", "hidden", "one", "absent"]


def test_attributes_that_declarations_may_change_are_hidden() -> None:
    default = b"""<!DOCTYPE n [<!ATTLIST a x CDATA "1">]><n><a/></n>"""
    tokens = b"""<!DOCTYPE n [<!ATTLIST a x NMTOKENS #IMPLIED>]><n><a x="  u  v "/></n>"""
    assert states(default)[1] == states(tokens)[1] == "hidden"


def test_a_type_declaration_without_declarations_hides_nothing() -> None:
    assert states(b"<!DOCTYPE n><n><a x='1'/></n>")[:2] == ["one", "one"]


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "utf-16-le"])
def test_documents_that_are_not_utf8_have_no_entries(encoding: str) -> None:
    label = "utf-16" if encoding.startswith("utf-16") else encoding
    text = f"<?xml version='1.0' encoding='{label}'?><n><a>é</a></n>"
    mark = b"\xff\xfe" if encoding == "utf-16-le" else b""
    header = read(stamp(mark + text.encode(encoding), Configuration(VIEWS)))
    assert header.is_recoded
    assert header.entries == ()


def test_an_encoding_from_outside_wins() -> None:
    document = b"<?xml version='1.0' encoding='iso-8859-1'?><n><a/></n>"
    assert states(document, encoding="utf-8")[0] == "one"
    assert states(b"<n><a/></n>", encoding="iso-8859-1") == []


def test_a_byte_order_mark_counts() -> None:
    document = b"\xef\xbb\xbf<n><a>1</a></n>"
    entry = read(stamp(document, Configuration(["/n/a"]))).entries[0]
    assert document[entry.start : entry.end] == b"<a>1</a>"


def test_a_malformed_document_is_not_stamped() -> None:
    with pytest.raises(DocumentError):
        stamp(b"<n><a></n>", Configuration(VIEWS))
    assert states(b"<n><a/></n>")[0] == "one"  # the next one is


def test_a_header_of_22_views_is_small() -> None:
    names = [f"a{n}" for n in range(22)]
    filler = b"<p>" + b"x" * 50_000 + b"</p>"
    document = b"<n>" + filler + "".join(f"<{n}>v</{n}>" for n in names).encode() + b"</n>"
    header = stamp(document, Configuration([f"/n/{name}" for name in names]))
    assert len(header) <= len(document) / 100


@pytest.mark.parametrize("place", range(0, 60, 7))
def test_a_header_with_a_changed_bit_cannot_be_read(place: int) -> None:
    header = bytearray(stamp(DOCUMENT, Configuration(VIEWS)))
    header[place % len(header)] ^= 4
    with pytest.raises(headers.HeaderError, match="damaged"):
        read(bytes(header))


def test_another_version_is_refused() -> None:
    body = bytearray(stamp(DOCUMENT, Configuration(VIEWS))[:-4])
    body[2] = 2
    with pytest.raises(headers.HeaderError, match="version"):
        read(bytes(body) + zlib.crc32(body).to_bytes(4, "little"))


def test_verify_says_what_is_wrong() -> None:
    configuration = Configuration(VIEWS)
    header = stamp(DOCUMENT, configuration)
    assert verify(header, DOCUMENT, configuration) == []
    (other,) = verify(header, DOCUMENT, Configuration(["/x"]))
    assert "configuration" in other
    wrong = verify(header, DOCUMENT.replace(b">u<", b">t<"), configuration)
    assert [line.split(" is ")[0] for line in wrong] == ["document_checksum", "/n/a"]
    assert verify(b"PV", DOCUMENT, configuration) == [
        "this is no header that can be read (damaged)"
    ]


def test_scopes_of_parted_views_are_written_once() -> None:
    document = b"<n xmlns:p='urn:p'><a><p:x/></a><b/></n>"
    one = stamp(document, Configuration([View("/n/a", parts=True)]))
    two = stamp(document, Configuration([View("/n/a", parts=True), View("/n/b", parts=True)]))
    assert one.count(b"urn:p") == two.count(b"urn:p") == 1
    assert b"urn:p" not in stamp(document, Configuration(["/n/a"]))
