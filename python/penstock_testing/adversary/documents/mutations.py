"""Damaged documents: well-formed ones with bytes flipped, cut, moved, spliced and re-encoded."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from random import Random

from penstock_testing.adversary.wellformed import write_document

_MARKUP = b"""
< > & ; ' " ]]> <![CDATA[ <!-- --> -- <? ?> </ /> = &#0; &#x10FFFF; &#xD800; &#38; &e; &amp; &x;
<a> </a> <a/> <p:a/> xmlns:p='urn:p' xmlns='' xmlns:xml='u' xmlns:p='' a='1' p:a='1' xml:id='k1'
<!DOCTYPE_r> <?XmL_v?> <?xml_version='1.0'?> <?t?> %p; : a:b:c <:a/> <!ENTITY <!ATTLIST [ ] xml
"""
_BYTES = b"\0 \x01 \xff \xc3 \xed\xa0\x80 \xef\xbf\xbf \xc2\x85 \xe2\x80\xa8 \xf0\x9f\x98\x80"
_TOKENS = (
    *(token.replace(b"_", b" ") for token in _MARKUP.split()),
    *(b" " + token for token in _MARKUP.split() if token.endswith(b"'")),
    *_BYTES.split(b" "),
    *(b"\r\n", b"\r", b"\t", b" ", codecs.BOM_UTF8),
)
_DECLARATIONS = (
    b"<!ENTITY e 'v'>",
    b"<!ENTITY e '<b>&f;</b>'>",
    b"<!ENTITY f '&e;'>",
    b"<!ENTITY lt '&#38;#60;'>",
    b"<!ENTITY u SYSTEM 'http://localhost/none'>",
    b"<!ENTITY n SYSTEM 'none' NDATA t>",
    b"<!ENTITY % p '<!ENTITY e \"1\">'>",
    b"%p;",
    b"<!ENTITY % q SYSTEM 'none'>",
    b"%q;",
    b"<!NOTATION t SYSTEM 'none'>",
    b"<!NOTATION t PUBLIC 'none'>",
    b"<!ELEMENT r (a|b)*>",
    b"<!ELEMENT a (#PCDATA|b)*>",
    b"<!ELEMENT b EMPTY>",
    b"<!ELEMENT c ANY>",
    b"<!ATTLIST a x CDATA 'v'>",
    b"<!ATTLIST a y NMTOKENS ' 1  2 '>",
    b"<!ATTLIST b k (u|v) 'u'>",
    b"<!ATTLIST b n NOTATION (t) #IMPLIED>",
    b"<!ATTLIST r i ID #REQUIRED x CDATA #FIXED '&lt;'>",
    b"<!--c-->",
    b"<?t v?>",
    b" ",
    b"<![IGNORE[x]]>",
)
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "iso-8859-1", "windows-1252", "us-ascii")
_LABELS = (*_ENCODINGS, "utf-16", "UTF-8", "latin1", "x-none", "utf-7", "ISO-8859-15")
_VERSIONS = ("1.0", "1.0", "1.0", "1.1", "1.9", "2.0", "")
_MARKS = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}


def write_fuzzed(random: Random) -> bytes:
    """Return a document that may be damaged, and may be none at all."""
    document = write_document(random)
    if random.random() < 0.3:
        document = _add_declarations(random, document)
    if random.random() < 0.2:
        document = _add_references(random, document)
    for _ in range(random.choice((0, 0, 1, 1, 2, 3))):
        document = random.choice(_MUTATIONS)(random, document)
    return _encode(random, document) if random.random() < 0.15 else document


def _cuts(random: Random, document: bytes) -> tuple[int, int]:
    start = random.randint(0, len(document))
    return start, min(len(document), start + random.choice((1, 1, 2, 4, 16, 64)))


def _flip(random: Random, document: bytes) -> bytes:
    if not document:
        return document
    place = random.randrange(len(document))
    byte = document[place] ^ (1 << random.randrange(8))
    return document[:place] + bytes((byte,)) + document[place + 1 :]


def _insert(random: Random, document: bytes) -> bytes:
    place = random.randint(0, len(document))
    return document[:place] + random.choice(_TOKENS) + document[place:]


def _replace(random: Random, document: bytes) -> bytes:
    start, end = _cuts(random, document)
    return document[:start] + random.choice(_TOKENS) + document[end:]


def _delete(random: Random, document: bytes) -> bytes:
    start, end = _cuts(random, document)
    return document[:start] + document[end:]


def _repeat(random: Random, document: bytes) -> bytes:
    start, end = _cuts(random, document)
    return document[:start] + document[start:end] * random.choice((2, 2, 3, 50)) + document[end:]


def _move(random: Random, document: bytes) -> bytes:
    start, end = _cuts(random, document)
    rest = document[:start] + document[end:]
    place = random.randint(0, len(rest))
    return rest[:place] + document[start:end] + rest[place:]


def _truncate(random: Random, document: bytes) -> bytes:
    return document[: random.randint(0, len(document))]


def _splice(random: Random, document: bytes) -> bytes:
    other = write_document(random)
    return document[: random.randint(0, len(document))] + other[random.randint(0, len(other)) :]


_MUTATIONS: tuple[Callable[[Random, bytes], bytes], ...] = (
    _flip,
    _insert,
    _insert,
    _replace,
    _delete,
    _repeat,
    _move,
    _truncate,
    _splice,
)


def _add_declarations(random: Random, document: bytes) -> bytes:
    """Put declarations into the document type declaration, or make one of them."""
    chosen = b"".join(random.choices(_DECLARATIONS, k=random.randint(1, 4)))
    if b" [" in document:
        return document.replace(b" [", b" [" + chosen, 1)
    return b"<!DOCTYPE r [" + chosen + b"]>" + document


def _add_references(random: Random, document: bytes) -> bytes:
    """Refer to an entity in some text or attribute, declared or not."""
    places = [place for place, byte in enumerate(document) if byte in b">\"'"]
    if not places:
        return document
    place = random.choice(places) + 1
    name = random.choice((b"e", b"e", b"f", b"n", b"u", b"lt", b"m", b"x", b"#65", b"#x41", b"#1"))
    return document[:place] + b"&" + name + b";" + document[place:]


def _encode(random: Random, document: bytes) -> bytes:
    """Put an XML declaration in front, and encode the document by it, or not quite."""
    text = document.decode("utf-8", "replace")
    encoding = random.choice(_ENCODINGS)
    label = encoding if random.random() < 0.6 else random.choice(_LABELS)
    head = f'<?xml version="{random.choice(_VERSIONS)}"'
    if random.random() < 0.9:
        head += f' encoding="{label}"'
    if random.random() < 0.2:
        head += f' standalone="{random.choice(("yes", "no", "no", ""))}"'
    encoded = f"{head}?>{text}".encode(encoding, "xmlcharrefreplace")
    return (_MARKS.get(encoding, b"") if random.random() < 0.8 else b"") + encoded
