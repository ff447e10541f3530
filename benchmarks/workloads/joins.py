"""Join queries and documents after MMQJP, section 6: two levels, three levels, a stream of items.

All queries of a set are distinct. Drawing a query again is refused, so large sets have fewer of
the short ones than the distribution alone would give.
"""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate, pairwise
from random import Random

BRANCHING = 4
CHANNELS = 418
LEAVES = "guid url title description author category channel stamp".split()
RARE = 4
"""The first leaves of an item are seldom equal in two items."""


def zipf(random: Random, largest: int, parameter: float) -> int:
    """Return a number from 1 to ``largest``, small ones more often."""
    weights = list(accumulate(1 / rank**parameter for rank in range(1, largest + 1)))
    return bisect(weights, random.random() * weights[-1]) + 1


def two_levels(count: int, leaves: int, parameter: float, window: str) -> list[str]:
    """Return queries over documents whose leaves are children of the root."""
    random = Random(f"{count} {leaves} {parameter}")
    found: dict[tuple[tuple[int, int], ...], None] = {}
    misses = 0
    while len(found) < count and misses < 1000:
        size = zipf(random, leaves, parameter)
        key = _draw(random, leaves, size)
        misses = misses + 1 if key in found else 0
        found[key] = None
    return [_flat_query(key, "d", [f"l{n}" for n in range(leaves)], window) for key in found]


def three_levels(count: int, joins_max: int, parameter: float, window: str) -> list[str]:
    """Return queries over documents with a level between; nodes on the way are bound too."""
    random = Random(f"{count} {joins_max} {parameter}")
    found: dict[tuple[tuple[int, int], ...], None] = {}
    misses = 0
    leaves = BRANCHING**2
    while len(found) < count and misses < 1000:
        size = zipf(random, joins_max, parameter)
        key = _draw(random, leaves, size)
        misses = misses + 1 if key in found else 0
        found[key] = None
    return [_nested_query(key, window) for key in found]


def item_queries(count: int) -> list[str]:
    """Return queries over items; the first 240 are the same in every set, and alone have results.

    Those ask for equal leaves, a rare one among them. The others compare different leaves
    somewhere, which never meet.
    """
    random = Random(7)
    size = len(LEAVES)
    found: dict[tuple[tuple[int, int], ...], None] = {}
    for subset in range(1, 1 << size):
        if subset & ((1 << RARE) - 1):
            found[tuple((leaf, leaf) for leaf in range(size) if subset >> leaf & 1)] = None
    while len(found) < count:
        width = zipf(random, size, 0.8)
        key = _draw(random, size, width)
        if any(left != right for left, right in key):
            found[key] = None
    return [_flat_query(key, "item", LEAVES, "INF") for key in list(found)[:count]]


def _draw(random: Random, leaves: int, size: int) -> tuple[tuple[int, int], ...]:
    """Return pairs of a leaf on the left and one on the right, none used twice on a side."""
    sides = (random.sample(range(leaves), size) for _ in range(2))
    return tuple(sorted(zip(*sides, strict=True)))


def _flat_query(
    pairs: tuple[tuple[int, int], ...], root: str, names: list[str], window: str
) -> str:
    left = "".join(f"[{names[one]}->x{n}]" for n, (one, _) in enumerate(pairs))
    right = "".join(f"[{names[other]}->y{n}]" for n, (_, other) in enumerate(pairs))
    terms = " AND ".join(f"x{n} = y{n}" for n in range(len(pairs)))
    return f"S//{root}->x{left} FOLLOWED BY{{{terms}, {window}}} S//{root}->y{right}"


def _nested_query(pairs: tuple[tuple[int, int], ...], window: str) -> str:
    sides = []
    for side, name in enumerate("xy"):
        inner: dict[int, list[str]] = {}
        for number, pair in enumerate(pairs):
            middle, leaf = divmod(pair[side], BRANCHING)
            inner.setdefault(middle, []).append(f"[l{leaf}->{name}{number}]")
        nested = "".join(
            f"[m{middle}->{name}m{middle}{''.join(leaves)}]"
            for middle, leaves in sorted(inner.items())
        )
        sides.append(f"S//d->{name}{nested}")
    terms = " AND ".join(f"x{n} = y{n}" for n in range(len(pairs)))
    return f"{sides[0]} FOLLOWED BY{{{terms}, {window}}} {sides[1]}"


def flat_document(leaves: int, salt: int) -> bytes:
    """Return a document of two levels; documents of one salt have equal leaves."""
    inner = "".join(f"<l{n}>value {salt} {n}</l{n}>" for n in range(leaves))
    return f"<d>{inner}</d>".encode()


def nested_document(salt: int) -> bytes:
    """Return a document of three levels."""
    inner = "".join(
        f"<m{middle}>"
        + "".join(f"<l{n}>value {salt} {middle} {n}</l{n}>" for n in range(BRANCHING))
        + f"</m{middle}>"
        for middle in range(BRANCHING)
    )
    return f"<d>{inner}</d>".encode()


def items(count: int) -> list[bytes]:
    """Return items of a feed: channels and authors come often, titles come again now and then."""
    random = Random(11)
    words = [f"w{n}" for n in range(2000)]
    titles: list[str] = []
    made = []
    for number in range(count):
        channel = min(int(random.paretovariate(0.6)), CHANNELS)
        if titles and random.random() < 0.1:
            title = titles[max(0, len(titles) - 1 - int(random.expovariate(0.002)))]
        else:
            title = " ".join(random.choices(words, k=7)) + f" {number}"
        titles.append(title)
        values = {
            "guid": f"urn:item:{number}",
            "url": f"http://c{channel}.example/{number}",
            "title": title,
            "description": " ".join(random.choices(words, k=40)) + f" {number}",
            "author": f"author {random.randrange(5000)}",
            "category": f"category {min(int(random.paretovariate(0.8)), 300)}",
            "channel": f"http://c{channel}.example/",
            "stamp": f"2006-{6 + number * 5 // count:02d}-{1 + number % 28:02d}",
        }
        inner = "".join(f"<{name}>{value}</{name}>" for name, value in values.items())
        made.append(f"<item>{inner}</item>".encode())
    return made


def own_leaves(number: int) -> str:
    """Return a query whose leaves no other query has."""
    return f"S//a->x[l{number}->y] FOLLOWED BY{{y = z, 10 s}} S//b->w[k{number}->z]"


def leaf_pair(*numbers: int) -> tuple[bytes, bytes]:
    """Return two documents that the queries of these numbers join."""
    left = "".join(f"<l{number}>same</l{number}>" for number in numbers)
    right = "".join(f"<k{number}>same</k{number}>" for number in numbers)
    return f"<r><a>{left}</a></r>".encode(), f"<r><b>{right}</b></r>".encode()


def diverse(random: Random, joins: int = 5) -> str:
    """Return a query with so many value joins whose sides are nested at random."""
    sides = [
        f"{stream}//{_nested(random, name, list(range(joins)), 0)}"
        for stream, name in (("S", "x"), ("T", "y"))
    ]
    order = random.sample(range(joins), joins)
    terms = " AND ".join(f"x{left} = y{right}" for left, right in enumerate(order))
    window = random.randint(1, 100)
    return f"{sides[0]} FOLLOWED BY{{{terms}, {window} s}} {sides[1]}"


def _nested(random: Random, name: str, leaves: list[int], depth: int) -> str:
    if depth and len(leaves) == 1 and random.random() < 0.8:
        return f"{random.choice(('', './/'))}l{random.randrange(30)}->{name}{leaves[0]}"
    count = random.randint(1, min(3, len(leaves))) if depth < BRANCHING else len(leaves)
    cuts = [0, *sorted(random.sample(range(1, len(leaves)), count - 1)), len(leaves)]
    groups = [leaves[start:end] for start, end in pairwise(cuts)]
    if depth < BRANCHING:
        inner = [_nested(random, name, group, depth + 1) for group in groups]
    else:
        inner = [f"l{random.randrange(30)}->{name}{group[0]}" for group in groups]
    return f"m{random.randrange(9)}" + "".join(f"[{one}]" for one in inner)
