"""Files of records with damage, and what may be expected of those who skip it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property

from lxml import etree

Span = tuple[int, int]

BYTES = b"<>&/\"'=!-[]?; x\x00\x01\xff"


@dataclass(frozen=True)
class Sound:
    """A file without damage: where its records are, and what is around each."""

    data: bytes
    records: list[Span]
    around: list[list[bytes]]
    """The start tags around each record."""
    path: str

    def text(self, number: int) -> bytes:
        start, end = self.records[number]
        return self.data[start:end]


@dataclass(frozen=True)
class Damaged:
    """The same file, damaged once: pieces of the sound one, and bytes that are none."""

    sound: Sound
    data: bytes
    spans: list[tuple[int, Span]]
    """Where pieces of the sound file lie in the damaged one: at a place, those from a span on."""

    @cached_property
    def untouched(self) -> dict[int, int]:
        """The records that no damage touches, and where they start now.

        Damage of an element's tags touches all that lies in it: what is around is unknown then.
        """
        found: dict[int, int] = {}
        places = [(start, end, at - start) for at, (start, end) in self.spans]
        for number, (start, end) in enumerate(self.sound.records):
            homes = [shift for first, last, shift in places if first <= start and end <= last]
            if homes:
                found[number] = start + homes[0]
        return found


def sound_file(draw: random.Random, count: int, groups: int) -> Sound:
    """Return a file of so many records, in groups of a size, or all beside each other."""
    data = bytearray(b"<?xml version='1.0' encoding='UTF-8'?>\n<!-- an export -->\n")
    list_tag = b"<list xmlns='urn:list' made='2026'>"
    data += list_tag + b"\n<head><by>r\xc3\xa9ne</by><day>2</day></head>\n"
    records: list[Span] = []
    around: list[list[bytes]] = []
    tags = [list_tag]
    for number in range(count):
        if groups and number % groups == 0:
            data += b"</group>\n" * bool(number)
            tags = [list_tag, b'<group id="g%d">' % number]
            data += tags[1] + b"<title>of %d</title>\n" % number
        start = len(data)
        data += _record(draw, number)
        records.append((start, len(data)))
        around.append(tags)
        data += draw.choice((b"\n", b"\n", b"", b" <!-- next -->\n"))
    data += b"</group>" * bool(groups and count) + b"\n</list>\n"
    path = "/l:list/l:group/l:item" if groups else "/l:list/l:item"
    return Sound(bytes(data), records, around, draw.choice((path, "//l:item")))


def _record(draw: random.Random, number: int) -> bytes:
    parts = [b'<item id="%d">' % number, b"<name>a &amp; b %d</name>" % number]
    kinds = (
        b"<sub a='1'/>",
        b"<!-- note %d -->" % number,
        b"<text><![CDATA[x < %d]]></text>" % number,
        b"<?pi %d?>" % number,
        b"<deep><deep>\xe2\x82\xac</deep></deep>",
        b"&#233;",
    )
    parts += draw.choices(kinds, k=draw.randrange(4))
    parts.append(b"<value>%d</value></item>" % (3 * number))
    return b"".join(parts)


def damaged_file(draw: random.Random, sound: Sound) -> Damaged:
    """Return the file with bytes changed, cut, doubled, or two stretches swapped."""
    data = sound.data
    length = draw.choice((1, 1, 1, 2, 4, 16, 64, 200))
    start = draw.randrange(len(data))
    end = min(len(data), start + length)
    match draw.choice(("changed", "cut", "doubled", "swapped")):
        case "changed":
            other = bytes(draw.choice(BYTES) for _ in range(end - start))
            parts: list[Span | bytes] = [(0, start), other, (end, len(data))]
        case "cut":
            parts = [(0, start), (end, len(data))]
        case "doubled":
            parts = [(0, end), data[start:end], (end, len(data))]
        case _:
            first, second = sorted((start, draw.randrange(len(data))))
            length = min(length, second - first, len(data) - second)
            ends = (first + length, second + length)
            parts = [(0, first), data[second : ends[1]], (ends[0], second)]
            parts += [data[first : ends[0]], (ends[1], len(data))]
    made, spans = bytearray(), []
    for part in parts:
        if isinstance(part, bytes):
            made += part
        else:
            spans.append((len(made), part))
            made += data[slice(*part)]
    return Damaged(sound, bytes(made), spans)


def is_whole(record: bytes) -> bool:
    """Return whether a record that stands alone is well-formed, as libxml2 sees it."""
    try:
        etree.fromstring(record, etree.XMLParser(resolve_entities=False, huge_tree=True))
    except etree.XMLSyntaxError:
        return False
    return True


def same(record: bytes, other: bytes) -> bool:
    """Return whether two elements are the same in canonical form, whatever they declare."""
    return _canonical(record) == _canonical(other)


def _canonical(record: bytes) -> bytes:
    written = etree.tostring(etree.fromstring(record), method="c14n")
    return bytes(written).replace(b' xmlns="urn:list"', b"")
