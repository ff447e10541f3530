"""Documents in any encoding as UTF-8, for what reads their bytes as they are."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from penstock.errors import DocumentError
from penstock.sources.inputs import Piece

_HEAD_BYTES_MAX = 4096
_DECLARED = re.compile(rb"^<\?xml\s[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_BEGINNINGS = (
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"<\0\0\0", "utf-32-le"),
    (b"\0\0\0<", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
_NO_CHARACTER = "\uffff"
"""What stands for bytes that mean nothing; XML does not allow it, so it is found as damage."""


def in_utf8(pieces: Iterator[Piece], encoding: str | None = None) -> Iterator[Piece]:
    """Yield the pieces of a document in UTF-8, whatever it declares. A byte-order mark stays.

    ``encoding`` overrides what the document says of itself.

    Raises:
        DocumentError: The encoding is unknown.
    """
    head = b""
    while len(head) < _HEAD_BYTES_MAX and not _is_telling(head) and (piece := next(pieces, b"")):
        head += bytes(piece)
    found = _encoding_of(head, encoding)
    try:
        name = codecs.lookup(found).name
    except LookupError:
        raise DocumentError("PS0012", f"the encoding {found} is unknown", 0, 1, "/") from None
    if name == "utf-8":
        if head:
            yield head
        yield from pieces
        return
    decoder = codecs.getincrementaldecoder(name)("penstock.no_character")
    if head:
        yield _encoded(decoder.decode(head))
    for piece in pieces:
        if text := decoder.decode(bytes(piece)):
            yield _encoded(text)
    if text := decoder.decode(b"", final=True):
        yield _encoded(text)


def _is_telling(head: bytes) -> bool:
    return len(head) >= 4 and (not head.startswith(b"<?xml") or b">" in head)


def _encoding_of(head: bytes, given: str | None) -> str:
    by_bytes = next((name for start, name in _BEGINNINGS if head.startswith(start)), None)
    if given is not None:
        # A label without byte order leaves the order to the bytes.
        is_wide = given.lower().replace("_", "-") in ("utf-16", "utf-32")
        return by_bytes if is_wide and by_bytes is not None else given
    if by_bytes is not None:
        return by_bytes
    declared = _DECLARED.match(head.removeprefix(codecs.BOM_UTF8))
    if declared is None or head.startswith(codecs.BOM_UTF8):
        return "utf-8"
    return declared[1].decode()


def _encoded(text: str) -> bytes:
    # A lone surrogate is no character, and is found as such.
    return text.encode("utf-8", "surrogatepass")


def _replace(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError), "only decoding meets it"
    return _NO_CHARACTER, error.end


codecs.register_error("penstock.no_character", _replace)
