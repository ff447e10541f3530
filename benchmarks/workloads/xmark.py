"""Auction documents after the XMark schema, generated from a seed and a scale factor.

Factor 1.0 is about 110 MB. The same factor and seed give the same bytes on every machine.
Counts of entities follow XMark; texts are drawn from prepared pieces, so that Python
writes tens of megabytes per second.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from benchmarks.workloads.words import (
    CITIES,
    COUNTRIES,
    FAMILY_NAMES,
    GIVEN_NAMES,
    HOSTS,
    WORDS,
)

SEED = 20_240_229
VERSION = 1  # Part of the cached file's name; raise it when the bytes change.

# Entities at factor 1.0.
REGION_ITEMS = {
    "africa": 550,
    "asia": 2000,
    "australia": 2200,
    "europe": 6000,
    "namerica": 10000,
    "samerica": 1000,
}
CATEGORIES, PEOPLE, OPEN_AUCTIONS, CLOSED_AUCTIONS = 1000, 25500, 12000, 9750

PIECES = 8192  # Prepared plain pieces and prepared inline elements.
PLAIN_MEAN, INLINE_MEAN = 210, 45  # Characters.
TABLE = 1024
PAYMENTS = ("Cash", "Creditcard", "Money order", "Personal Check")
SHIPPINGS = (
    "Will ship internationally",
    "Will ship only within country",
    "Buyer pays fixed shipping charges",
    "See description for charges",
)
EDUCATIONS = ("High School", "College", "Graduate School", "Other")


class Auction:
    """One document of the given scale; iterate it for its bytes, entity by entity."""

    def __init__(self, factor: float, seed: int = SEED) -> None:
        if factor <= 0:
            raise ValueError(f"the scale factor must be positive, not {factor}")
        self.random = Random(seed)
        self.items = {name: scaled(count, factor) for name, count in REGION_ITEMS.items()}
        self.item_count = sum(self.items.values())
        self.category_count = scaled(CATEGORIES, factor)
        self.person_count = scaled(PEOPLE, factor)
        self.open_count = scaled(OPEN_AUCTIONS, factor)
        self.closed_count = scaled(CLOSED_AUCTIONS, factor)
        self.plain = [self._words(PLAIN_MEAN) for _ in range(PIECES)]
        self.inline = [self._inline(nested=0.16) for _ in range(PIECES)]
        self.names = [self._words(14) for _ in range(PIECES)]
        # Geometric tables: an index of random bits costs less than drawing the number.
        self.few = self._counts(1.78)
        self.some = self._counts(4.9)
        self.mails = self._counts(0.95)

    def __iter__(self) -> Iterator[bytes]:
        yield b'<?xml version="1.0" standalone="yes"?>\n<site>\n<regions>\n'
        number = 0
        for region, count in self.items.items():
            yield f"<{region}>\n".encode()
            yield from self._many(self.item, range(number, number + count))
            yield f"</{region}>\n".encode()
            number += count
        yield b"</regions>\n<categories>\n"
        yield from self._many(self.category, range(self.category_count))
        yield b"</categories>\n<catgraph>\n"
        yield from self._many(self.edge, range(self.category_count))
        yield b"</catgraph>\n<people>\n"
        yield from self._many(self.person, range(self.person_count))
        yield b"</people>\n<open_auctions>\n"
        yield from self._many(self.open_auction, range(self.open_count))
        yield b"</open_auctions>\n<closed_auctions>\n"
        yield from self._many(self.closed_auction, range(self.closed_count))
        yield b"</closed_auctions>\n</site>\n"

    @staticmethod
    def _many(write: Callable[[int], str], numbers: range) -> Iterator[bytes]:
        for start in range(0, len(numbers), 256):
            yield "".join(map(write, numbers[start : start + 256])).encode("ascii")

    def _words(self, mean: float) -> str:
        """Return words of about this many characters, a space after each, at least one word."""
        length = self.random.expovariate(1 / mean)
        words = [self.random.choice(WORDS)]
        size = len(words[0]) + 1
        while size < length:
            words.append(self.random.choice(WORDS))
            size += len(words[-1]) + 1
        return " ".join(words) + " "

    def _inline(self, nested: float) -> str:
        name = self.random.choice(("keyword", "bold", "emph"))
        inner = self._inline(nested=0) + " " if self.random.random() < nested else ""
        return f"<{name}> {self._words(INLINE_MEAN)}{inner}</{name}>"

    def _counts(self, mean: float) -> list[int]:
        return [int(self.random.expovariate(1 / (mean + 0.4))) for _ in range(TABLE)]

    def _pick(self, table: list[int]) -> int:
        return table[self.random.getrandbits(10)]

    def _reference(self, kind: str, count: int) -> str:
        return f"{kind}{int(self.random.random() * count)}"

    def text(self) -> str:
        bits = self.random.getrandbits
        parts = [self.plain[bits(13)]]
        for _ in range(self.few[bits(10)]):
            parts += (self.inline[bits(13)], " ", self.plain[bits(13)])
        return f"<text>\n{''.join(parts)}\n</text>\n"

    def parlist(self, depth: int) -> str:
        parts = ["<parlist>\n"]
        for _ in range(2 + min(self.random.getrandbits(2), self.random.getrandbits(2))):
            nested = depth < 2 and self.random.random() < 0.2
            inner = self.parlist(depth + 1) if nested else self.text()
            parts += ("<listitem>\n", inner, "</listitem>\n")
        parts.append("</parlist>\n")
        return "".join(parts)

    def description(self) -> str:
        inner = self.parlist(1) if self.random.random() < 0.28 else self.text()
        return f"<description>\n{inner}</description>\n"

    def date(self) -> str:
        random = self.random.random
        return f"{int(random() * 12) + 1:02}/{int(random() * 28) + 1:02}/{int(random() * 4) + 1998}"

    def quantity(self) -> int:
        draw = self.random.random()
        return 1 if draw < 0.9 else 2 if draw < 0.99 else 3

    def full_name(self) -> tuple[str, str]:
        return self.random.choice(GIVEN_NAMES), self.random.choice(FAMILY_NAMES)

    def mailbox_address(self) -> str:
        given, family = self.full_name()
        return f"{given} {family} mailto:{family}@{self.random.choice(HOSTS)}"

    def choices(self, values: tuple[str, ...]) -> str:
        bits = self.random.getrandbits(len(values)) or 1
        return ", ".join(value for index, value in enumerate(values) if bits >> index & 1)

    def item(self, number: int) -> str:
        random = self.random.random
        featured = ' featured="yes"' if random() < 0.1 else ""
        country = "United States" if random() < 0.75 else self.random.choice(COUNTRIES)
        parts = [
            f'<item id="item{number}"{featured}>\n<location>{country}</location>\n'
            f"<quantity>{self.quantity()}</quantity>\n"
            f"<name>{self.names[self.random.getrandbits(13)]}</name>\n"
            f"<payment>{self.choices(PAYMENTS)}</payment>\n",
            self.description(),
        ]
        if random() < 0.85:
            parts.append(f"<shipping>{self.choices(SHIPPINGS)}</shipping>\n")
        for _ in range(1 + min(9, self._pick(self.some) * 5 // 8)):
            category = self._reference("category", self.category_count)
            parts.append(f'<incategory category="{category}"/>\n')
        parts.append("<mailbox>\n")
        for _ in range(self._pick(self.mails)):
            parts.append(
                f"<mail>\n<from>{self.mailbox_address()}</from>\n"
                f"<to>{self.mailbox_address()}</to>\n<date>{self.date()}</date>\n"
                f"{self.text()}</mail>\n"
            )
        parts.append("</mailbox>\n</item>\n")
        return "".join(parts)

    def category(self, number: int) -> str:
        name = self.names[self.random.getrandbits(13)]
        return (
            f'<category id="category{number}">\n<name>{name}</name>\n'
            f"{self.description()}</category>\n"
        )

    def edge(self, _number: int) -> str:
        source = self._reference("category", self.category_count)
        target = self._reference("category", self.category_count)
        return f'<edge from="{source}" to="{target}"/>\n'

    def address(self) -> str:
        random = self.random.random
        province = f"<province>{self.random.choice(CITIES)}</province>\n" if random() < 0.5 else ""
        return (
            f"<address>\n<street>{int(random() * 99) + 1} {self.random.choice(FAMILY_NAMES)} St"
            f"</street>\n<city>{self.random.choice(CITIES)}</city>\n"
            f"<country>{self.random.choice(COUNTRIES)}</country>\n{province}"
            f"<zipcode>{int(random() * 40) + 1}</zipcode>\n</address>\n"
        )

    def profile(self) -> str:
        random = self.random.random
        parts = [f'<profile income="{9876 + random() * 70000:.2f}">\n']
        for _ in range(min(14, self._pick(self.some) * 5 // 8)):
            category = self._reference("category", self.category_count)
            parts.append(f'<interest category="{category}"/>\n')
        if random() < 0.5:
            parts.append(f"<education>{self.random.choice(EDUCATIONS)}</education>\n")
        if random() < 0.5:
            parts.append(f"<gender>{'female' if random() < 0.5 else 'male'}</gender>\n")
        parts.append(f"<business>{'Yes' if random() < 0.5 else 'No'}</business>\n")
        if random() < 0.5:
            parts.append(f"<age>{18 + int(random() * 40)}</age>\n")
        parts.append("</profile>\n")
        return "".join(parts)

    def person(self, number: int) -> str:
        random = self.random.random
        given, family = self.full_name()
        host = self.random.choice(HOSTS)
        parts = [
            f'<person id="person{number}">\n<name>{given} {family}</name>\n'
            f"<emailaddress>mailto:{family}@{host}</emailaddress>\n"
        ]
        if random() < 0.5:
            parts.append(f"<phone>+{int(random() * 98) + 1} ({int(random() * 900) + 100}) ")
            parts.append(f"{int(random() * 9e7) + 10_000_000}</phone>\n")
        if random() < 0.5:
            parts.append(self.address())
        if random() < 0.5:
            parts.append(f"<homepage>http://www.{host}/~{family}</homepage>\n")
        if random() < 0.5:
            card = " ".join(f"{int(random() * 9000) + 1000}" for _ in range(4))
            parts.append(f"<creditcard>{card}</creditcard>\n")
        if random() < 0.54:
            parts.append(self.profile())
        if random() < 0.47:
            parts.append("<watches>\n")
            for _ in range(self._pick(self.some) * 6 // 7):
                watched = self._reference("open_auction", self.open_count)
                parts.append(f'<watch open_auction="{watched}"/>\n')
            parts.append("</watches>\n")
        parts.append("</person>\n")
        return "".join(parts)

    def annotation(self) -> str:
        return (
            f'<annotation>\n<author person="{self._reference("person", self.person_count)}"/>\n'
            f"{self.description()}<happiness>{int(self.random.random() * 10) + 1}</happiness>\n"
            "</annotation>\n"
        )

    def bidder(self) -> str:
        random = self.random.random
        return (
            f"<bidder>\n<date>{self.date()}</date>\n<time>{int(random() * 24):02}:"
            f"{int(random() * 60):02}:{int(random() * 60):02}</time>\n"
            f'<personref person="{self._reference("person", self.person_count)}"/>\n'
            f"<increase>{1.5 * (int(random() * 20) + 1):.2f}</increase>\n</bidder>\n"
        )

    def sale(self) -> str:
        kind = "Regular" if self.random.random() < 0.5 else "Featured"
        return f"<quantity>{self.quantity()}</quantity>\n<type>{kind}</type>\n"

    def open_auction(self, number: int) -> str:
        random = self.random.random
        initial = random() * 200 + 1
        parts = [f'<open_auction id="open_auction{number}">\n<initial>{initial:.2f}</initial>\n']
        if random() < 0.5:
            parts.append(f"<reserve>{initial * 2.2:.2f}</reserve>\n")
        parts += (self.bidder() for _ in range(self._pick(self.some) * 11 // 9))
        parts.append(f"<current>{initial + random() * 200:.2f}</current>\n")
        if random() < 0.42:
            parts.append("<privacy>Yes</privacy>\n")
        parts.append(
            f'<itemref item="{self._reference("item", self.item_count)}"/>\n'
            f'<seller person="{self._reference("person", self.person_count)}"/>\n'
            f"{self.annotation()}{self.sale()}<interval>\n<start>{self.date()}</start>\n"
            f"<end>{self.date()}</end>\n</interval>\n</open_auction>\n"
        )
        return "".join(parts)

    def closed_auction(self, _number: int) -> str:
        return (
            "<closed_auction>\n"
            f'<seller person="{self._reference("person", self.person_count)}"/>\n'
            f'<buyer person="{self._reference("person", self.person_count)}"/>\n'
            f'<itemref item="{self._reference("item", self.item_count)}"/>\n'
            f"<price>{self.random.random() * 300 + 1:.2f}</price>\n<date>{self.date()}</date>\n"
            f"{self.sale()}{self.annotation()}</closed_auction>\n"
        )


def scaled(count: int, factor: float) -> int:
    """Return a count at this factor, never less than one."""
    return max(1, round(count * factor))


def cached(folder: Path, factor: float, seed: int = SEED) -> Path:
    """Return the path of the document in the folder; write it if it is not there."""
    path = folder / f"auction-v{VERSION}-f{factor:g}-s{seed}.xml"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".part")
        with draft.open("wb") as out:
            for piece in Auction(factor, seed):
                out.write(piece)
        os.replace(draft, path)
    return path
