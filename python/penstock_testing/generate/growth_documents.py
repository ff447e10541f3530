"""Documents of any size that make expressions grow, piece by piece and the same for the same size.

All are well-formed with the root ``r``; records are elements ``a`` with an attribute ``n`` and a
child ``b``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from random import Random

GROUPS = 3
"""Groups of records under one root; each of them grows with the document."""
GROUP_RECORDS = 200
"""Records of one group where the number of groups grows instead."""
_REPEATED = 13


def flat(n: int) -> Iterator[bytes]:
    """Yield n records with distinct values."""
    return _rooted(_record(i, i) for i in range(n))


def equal(n: int) -> Iterator[bytes]:
    """Yield n records with the same value."""
    return _rooted(_record(7, 7) for _ in range(n))


def repeating(n: int) -> Iterator[bytes]:
    """Yield n records with few different values, and attributes that differ from them."""
    return _rooted(_record(i % 10, i * 7 % _REPEATED) for i in range(n))


def groups(n: int) -> Iterator[bytes]:
    """Yield n records in a few groups."""
    return _grouped(n, -(-n // GROUPS))


def small_groups(n: int) -> Iterator[bytes]:
    """Yield n records in groups of a constant size."""
    return _grouped(n, GROUP_RECORDS)


def mixed(n: int) -> Iterator[bytes]:
    """Yield n records between elements of other names, text and comments."""
    between = (b"", b"<c>%d</c>", b"<d n='%d'/>", b"%d", b"<!--%d-->", b"<c><b>%d</b></c>")
    return _rooted(
        _record(i, i * 7 % _REPEATED) + (piece % i if (piece := between[i % 6]) else b"")
        for i in range(n)
    )


def keys_first(n: int) -> Iterator[bytes]:
    """Yield the keys that decide records, then n records, half of them with a key."""
    return _rooted(_keys(n), _keyed_records(n))


def keys_last(n: int) -> Iterator[bytes]:
    """Yield n records, then the keys that decide half of them, in any order."""
    return _rooted(_keyed_records(n), _keys(n))


def deep(n: int) -> Iterator[bytes]:
    """Yield n elements inside each other."""
    return _rooted((b'<a n="%d">' % (i % 100) for i in range(n)), (b"</a>" for _ in range(n)))


def comb(n: int) -> Iterator[bytes]:
    """Yield n elements inside each other, with a child before and a child after the inner one."""
    starts = (b'<a n="%d"><c>%d</c>' % (i % 100, i % 10) for i in range(n))
    return _rooted(starts, (b"<b>%d</b></a>" % (i % 7) for i in range(n)))


SHAPES: dict[str, Callable[[int], Iterator[bytes]]] = {
    shape.__name__: shape
    for shape in (
        flat,
        equal,
        repeating,
        groups,
        small_groups,
        mixed,
        keys_first,
        keys_last,
        deep,
        comb,
    )
}
DEEP = frozenset({"deep", "comb"})
"""Shapes whose depth grows: nodes as results would be longer than the document."""


def records(first: int) -> Iterator[bytes]:
    """Yield the records of a stream without an end, after its root's start tag.

    Every record brings new values and values that came before; what is in it differs in turns.
    """
    for number in count(first):
        few, some = number % 10, number % _REPEATED
        inside = (
            b"<b>%d</b><b y='u'>%d</b>" % (number, some),
            b"<c><d x='%d'>v</d></c>" % some,
            b"<a n='%d'><b>%d</b></a>u" % (some, few),
            b"",
            b"<!--%d--><?t %d?>" % (few, some),
        )[number % 5]
        yield b'<a n="%d" x="%d">%b</a><c>%d</c>' % (number, few, inside, few)
        yield b"<d y='v'><b>%d</b></d>text" % number if number % 7 == 0 else b""


def random_groups(random: Random, members_max: int = 12) -> bytes:
    """Return a document of the same names with groups of any form: nested, uneven, with keys.

    Values are few, so that they often meet.
    """
    return b"<r>%b</r>" % b"".join(
        _group(random, members_max) for _ in range(random.choice((1, 1, 2)))
    )


def _group(random: Random, members_max: int) -> bytes:
    members = b"".join(
        _member(random, members_max // 2) for _ in range(random.randint(1, members_max))
    )
    return (
        members if random.random() < 0.5 else b'<g n="%d">%b</g>' % (random.randrange(4), members)
    )


def _member(random: Random, members_max: int) -> bytes:
    name = random.choice((b"a", b"a", b"a", b"a", b"b", b"c", b"k"))
    attribute = b' n="%d"' % random.randrange(6) if random.random() < 0.6 else b""
    value = b"%d" % random.randrange(6)
    kind = random.random()
    if kind < 0.1:
        return value + b"<!--%b-->" % value
    if name == b"a" and members_max and kind < 0.25:
        value = b"".join(_member(random, members_max // 2) for _ in range(random.randint(1, 3)))
    elif name != b"k" and kind < 0.7:
        value = b"<b>%b</b>" % value * random.choice((0, 1, 1, 2))
    return b"<%b%b>%b</%b>" % (name, attribute, value, name)


def _rooted(*parts: Iterator[bytes]) -> Iterator[bytes]:
    yield b"<r>"
    for part in parts:
        yield from part
    yield b"</r>"


def _record(attribute: int, content: int) -> bytes:
    return b'<a n="%d"><b>%d</b></a>' % (attribute, content)


def _grouped(n: int, size: int) -> Iterator[bytes]:
    def group(first: int) -> bytes:
        members = (_record(i % 50, i * 7 % 31) for i in range(first, min(first + size, n)))
        return b'<g n="%d">%b</g>' % (first % 5, b"".join(members))

    return _rooted(group(first) for first in range(0, n, size))


def _keyed_records(n: int) -> Iterator[bytes]:
    for i in range(n):
        yield b"<c/>" * (i % 10 == 0) + _record(i, i)


def _keys(n: int) -> Iterator[bytes]:
    numbers = list(range(0, n, 2))
    Random(n).shuffle(numbers)
    return (b"<k>%d</k>" % number for number in numbers)
