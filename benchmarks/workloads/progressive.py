"""Join values of two or more streams, as in the experiments of Twig'n Join.

Each set has the sizes of the paper's tables 2 to 5 and gives the values that fragments join by, in
the order of the file. XMark's generator refers to each item at most once and in increasing order;
TPC-H has orders for two customers of three. SIGMOD Record has as many authors with one mention,
two and so on as the real file; DBLP is drawn: some authors write much, most write little, and three
of four authors of the small set are in the large one. `real_sets` takes values from real files.
"""

import random
from collections import Counter
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from xml.etree import ElementTree

Pair = tuple[list[int], list[int]]

X007_TYPES = 1_000
"""More than the ten of the paper's set, whose millions of results say no more."""
MENTIONS = {
    **{1: 1734, 2: 355, 3: 150, 4: 73, 5: 40, 6: 31, 7: 21, 8: 18, 9: 8, 10: 7, 11: 11, 12: 7},
    **{13: 6, 14: 6, 15: 2, 16: 7, 17: 3, 18: 2, 19: 2, 20: 1, 24: 1, 32: 2, 37: 1, 38: 2, 42: 2},
    **{45: 1, 54: 1},
}
"""How many authors SIGMOD Record names so often."""
MENTIONS_MAX = 6
"""So often a stream of blog entries names an author at most: the results of five streams grow with
the fifth power of it."""
VENUES, SIGMOD_VENUES = 100, 8


def x007(chance: random.Random, connections: int = 9) -> Pair:
    """NumConnPerAtomic connections of 20 parts of 50 components, with types that are uniform."""
    count = connections * 20 * 50
    return (
        [chance.randrange(X007_TYPES) for _ in range(count)],
        [chance.randrange(X007_TYPES) for _ in range(count)],
    )


def xmark(chance: random.Random, factor: float = 0.6) -> Pair:
    """Items, and the closed auctions that refer to them."""
    items, closed = round(21_740 * factor), round(9_742 * factor)
    return list(range(items)), sorted(chance.sample(range(items), closed))


def tpch(chance: random.Random, orders: int = 15_000, customers: int = 1_500) -> Pair:
    """Orders by customer, and customers."""
    active = [customer for customer in range(1, customers + 1) if customer % 3]
    return [chance.choice(active) for _ in range(orders)], list(range(1, customers + 1))


def sigmod(chance: random.Random) -> list[int]:
    """Authors of the small bibliography, in the order in which they are named."""
    often = [count for count, authors in MENTIONS.items() for _ in range(authors)]
    chance.shuffle(often)
    named = [author for author, count in enumerate(often) for _ in range(count)]
    chance.shuffle(named)
    return named


def dblp(
    chance: random.Random,
    *,
    is_by_venue: bool = False,
    small: list[int] | None = None,
    mentions: int = 100_000,
    others: int = 45_000,
) -> Pair:
    """Authors of the large bibliography and of the small one; the large one shuffled, or by venue.

    By venue, six of ten papers of an author are at the author's own, and authors of the small
    bibliography have a few venues in common.
    """
    small = sigmod(chance) if small is None else small
    named = Counter(small)
    authors = max(named) + 1
    weights = [
        min(chance.paretovariate(1.3) * 2 * named[author] ** 0.7, 150)
        if chance.random() < 0.75
        else 0
        for author in range(authors)
    ]
    weights += [min(chance.paretovariate(1.1), 150) for _ in range(others)]
    large = chance.choices(range(len(weights)), cum_weights=list(accumulate(weights)), k=mentions)
    if not is_by_venue:
        return large, small
    first = VENUES // 2 - SIGMOD_VENUES
    homes = [first + chance.randrange(SIGMOD_VENUES) for _ in range(authors)]
    homes += [chance.randrange(VENUES) for _ in range(others)]
    venues = [
        homes[author] if chance.random() < 0.6 else chance.randrange(VENUES) for author in large
    ]
    order = sorted(range(len(large)), key=venues.__getitem__)
    return [large[at] for at in order], small


def swissprot(chance: random.Random, share: float, entries: int = 56_900) -> Pair:
    """Entries by accession number, and the experiments on a share of them."""
    return list(range(entries)), [entry for entry in range(entries) if chance.random() < share]


def _x007(connections: int) -> Callable[[random.Random], Pair]:
    return lambda chance: x007(chance, connections)


def _xmark(factor: float) -> Callable[[random.Random], Pair]:
    return lambda chance: xmark(chance, factor)


def _swissprot(share: float) -> Callable[[random.Random], Pair]:
    return lambda chance: swissprot(chance, share)


FIGURES: dict[str, list[str]] = {
    "4": ["x007-9", "x007-3", "x007-6"],
    "5a": ["xmark-0.6", "xmark-0.2", "xmark-0.4", "xmark-0.8", "xmark-1.0", "xmark-2.0"],
    "5b": ["tpch"],
    "6": ["dblp", "dblp-by-venue"],
    "8": ["swissprot-0.2", "swissprot-0.4", "swissprot-0.6", "swissprot-0.8"],
}
"""The sets of each figure, the one that the paper shows first."""

SETS: dict[str, Callable[[random.Random], Pair]] = {
    **{f"x007-{connections}": _x007(connections) for connections in (3, 6, 9)},
    **{f"xmark-{factor}": _xmark(factor) for factor in (0.2, 0.4, 0.6, 0.8, 1.0, 2.0)},
    "tpch": tpch,
    "dblp": dblp,
    "dblp-by-venue": lambda chance: dblp(chance, is_by_venue=True),
    **{f"swissprot-{share}": _swissprot(share) for share in (0.2, 0.4, 0.6, 0.8)},
}


def real_sets(data: Path) -> dict[str, Callable[[random.Random], Pair]]:
    """Return sets with values of the real files that are there.

    SIGMOD Record stands beside a DBLP that is drawn: the real one is too large to lie there. A
    small XMark does not do: a tenth of what it takes is less than the counters of partitions.
    """
    names = sigmod_names(data)
    return {"dblp-real-sigmod": lambda chance: dblp(chance, small=names)} if names else {}


def sigmod_names(data: Path) -> list[int]:
    """Return the authors of the real SIGMOD Record as it names them; none if it is not there."""
    path = data / "sigmod" / "SigmodRecord.xml"
    if not path.is_file():
        return []
    root = ElementTree.parse(path).getroot()
    numbers: dict[str, int] = {}
    names = (" ".join((element.text or "").split()) for element in root.iter("author"))
    return [numbers.setdefault(name, len(numbers)) for name in names]


def authors(
    chance: random.Random,
    shares: list[float],
    *,
    is_once: bool = False,
    names: list[int] | None = None,
) -> list[list[int]]:
    """A stream of blog entries by author, and streams with a share of the authors.

    An author who is in a stream has all entries there, at most `MENTIONS_MAX`; with `is_once` one
    entry in each stream beside the first. All streams are shuffled.
    """
    reference = capped(names or sigmod(chance))
    every = sorted(set(reference))
    streams = [reference]
    for share in shares:
        included = {author for author in every if chance.random() < share}
        entries = every if is_once else reference
        streams.append([author for author in entries if author in included])
    for stream in streams:
        chance.shuffle(stream)
    return streams


def capped(names: list[int]) -> list[int]:
    """Return the first mentions of each author, `MENTIONS_MAX` at most."""
    seen: Counter[int] = Counter()
    kept = []
    for name in names:
        seen[name] += 1
        if seen[name] <= MENTIONS_MAX:
            kept.append(name)
    return kept


def round_robin(streams: list[list[int]]) -> list[tuple[int, int]]:
    """Arrivals as (stream, value): one of each stream in turn, until it has ended."""
    longest = max(map(len, streams))
    return [
        (stream, values[at])
        for at in range(longest)
        for stream, values in enumerate(streams)
        if at < len(values)
    ]


def proportional(streams: list[list[int]]) -> list[tuple[int, int]]:
    """Arrivals as (stream, value): all streams end at the same time."""
    timed = [
        ((at + 0.5) / len(values), stream, value)
        for stream, values in enumerate(streams)
        for at, value in enumerate(values)
    ]
    return [(stream, value) for _, stream, value in sorted(timed)]


def shuffled(streams: list[list[int]]) -> list[tuple[int, int]]:
    """Arrivals as (stream, value): one of each stream in turn, each stream in any order."""
    chance = random.Random(len(streams[0]))
    return round_robin([chance.sample(stream, len(stream)) for stream in streams])


ARRIVALS = {"round-robin": round_robin, "proportional": proportional, "shuffled": shuffled}
