"""Join values of two or more streams, as in the experiments of Twig'n Join.

Each set has the sizes of the paper's tables 2 to 5 and gives the values that fragments join by, in
the order of the file. XMark's generator refers to each item at most once and in increasing order;
TPC-H has orders for two customers of three. DBLP and SIGMOD Record are drawn: some authors write
much, most write little, and three of four authors of the small set are in the large one.
"""

import random
from collections.abc import Callable
from itertools import accumulate

Pair = tuple[list[int], list[int]]

X007_TYPES = 1_000
"""More than the ten of the paper's set, whose millions of results say no more."""
AUTHORS, MENTIONS = 2_800, 3_700
"""Authors in SIGMOD Record, and how often they are named, about."""


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
    weights = list(accumulate(chance.paretovariate(1.3) for _ in range(AUTHORS)))
    return chance.choices(range(AUTHORS), cum_weights=weights, k=MENTIONS)


def dblp(chance: random.Random, mentions: int = 100_000, others: int = 45_000) -> Pair:
    """Authors of the large bibliography, shuffled, and of the small one."""
    small = sigmod(chance)
    named = [0] * AUTHORS
    for author in small:
        named[author] += 1
    weights = [
        min((chance.paretovariate(1.3)) * 2 * count**0.7, 150) if chance.random() < 0.75 else 0
        for count in named
    ]
    weights += [min(chance.paretovariate(1.1), 150) for _ in range(others)]
    large = chance.choices(range(len(weights)), cum_weights=list(accumulate(weights)), k=mentions)
    return large, small


def swissprot(chance: random.Random, share: float, entries: int = 56_900) -> Pair:
    """Entries by accession number, and the experiments on a share of them."""
    return list(range(entries)), [entry for entry in range(entries) if chance.random() < share]


SETS: dict[str, Callable[[random.Random], Pair]] = {
    "x007": x007,
    "xmark": xmark,
    "tpch": tpch,
    "dblp": dblp,
    "swissprot-0.2": lambda chance: swissprot(chance, 0.2),
    "swissprot-0.8": lambda chance: swissprot(chance, 0.8),
}


def authors(chance: random.Random, shares: list[float]) -> list[list[int]]:
    """A stream of blog entries by author, and streams with a share of the authors, each once."""
    reference = sigmod(chance)
    streams = [reference]
    for share in shares:
        streams.append([author for author in sorted(set(reference)) if chance.random() < share])
    for stream in streams:
        chance.shuffle(stream)
    return streams


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


ARRIVALS = {"round-robin": round_robin, "proportional": proportional}
