"""Two streams of elements that join by a key, for queries over several streams.

Orders and payments: a share of the orders is paid, once each. Elements have a few children, and
words that no query asks for, so that the sizes of the sets of Twig'n Join can be had: an order of
TPC-H takes about 350 bytes, an item of XMark more than a kilobyte.
"""

import random
from typing import NamedTuple

from benchmarks.workloads.words import WORDS

CATEGORIES = 100
SIZES = {"small": 8, "like TPC-H": 45, "like XMark": 180}
"""Sets, with the words in an element."""

LOOPS = "for $o in stream('orders')//order, $p in stream('payments')//payment"
RESULT = "<paid>{$o/@id}{$p/amount}{$o/total}</paid>"
QUERY = f"{LOOPS} where $o/@id = $p/order return {RESULT}"


class Streams(NamedTuple):
    """A document of each stream, and how many pairs join."""

    orders: bytes
    payments: bytes
    pairs: int

    @property
    def size(self) -> int:
        """Return the bytes of both."""
        return len(self.orders) + len(self.payments)


def streams(count: int, words: int = 8, share: float = 0.83, seed: int = 0) -> Streams:
    """Return so many orders and as many payments, a share of which pays an order."""
    chance = random.Random(seed)
    keys = [f"k{number:07d}" for number in range(count)]
    shuffled = [*keys]
    chance.shuffle(shuffled)
    pairs = round(count * share)
    payers = [*shuffled[:pairs], *(f"x{number:07d}" for number in range(count - pairs))]
    chance.shuffle(payers)

    def text() -> str:
        return " ".join(chance.choices(WORDS, k=words))

    def amount() -> str:
        return f"{chance.randrange(1, 90_000) / 100:.2f}"

    orders = "".join(
        f"<order id='{key}'><class>c{number % CATEGORIES}</class><total>{amount()}</total>"
        f"<note>{text()}</note></order>\n"
        for number, key in enumerate(keys)
    )
    payments = "".join(
        f"<payment by='{chance.choice(WORDS)}'><order>{key}</order><amount>{amount()}</amount>"
        f"<text>{text()}</text></payment>\n"
        for key in payers
    )
    return Streams(
        f"<orders>\n{orders}</orders>".encode(),
        f"<payments>\n{payments}</payments>".encode(),
        pairs,
    )


TOTAL_MAX = 900
"""No order has more."""


def by_category() -> list[str]:
    """Return queries that differ in a condition about one loop, and together ask what one does."""
    return [
        f"{LOOPS} where $o/@id = $p/order and $o/class = 'c{number}' return {RESULT}"
        for number in range(CATEGORIES)
    ]


def by_total() -> list[str]:
    """Return queries that differ in a range of numbers, likewise."""
    step = TOTAL_MAX // CATEGORIES
    return [
        f"{LOOPS} where $o/@id = $p/order and $o/total > {number * step} "
        f"and $o/total <= {(number + 1) * step} return {RESULT}"
        for number in range(CATEGORIES)
    ]


def by_message() -> list[str]:
    """Return queries that differ in a condition, and in what they return of one loop, likewise."""
    returned = ["{$o/total}", "{$o/note}", "{$o/class}", "<t>{data($o/total)}</t>"]
    return [
        f"{LOOPS} where $o/@id = $p/order and $o/class = 'c{number}' "
        f"return <paid{number}>{{$o/@id}}{{$p/amount}}{returned[number % 4]}</paid{number}>"
        for number in range(CATEGORIES)
    ]


MANY = {"a category each": by_category, "a range each": by_total, "messages differ": by_message}
"""Sets of queries that have the results of one query together."""
