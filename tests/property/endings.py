"""Random endings of documents, and what the documents behind them give.

A draw is a number: it chooses what is subscribed, how a document is read, how it ends, and how
the good documents behind it are read. ``differences`` yields the draws whose good documents do not
give what a fresh engine gives. ``PENSTOCK_ENDINGS`` sets the number of draws of the default run.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from random import Random
from typing import Any, cast

import penstock
from penstock.errors import CancelledError, DocumentError
from penstock.limits import Limits
from penstock.results import Document
from penstock.routing import Configuration, Router, Server, Stamper
from penstock.sources import Input
from penstock.spark import worker
from tests.property.ways import BAD, WAYS, Place, Row, batch_of, job_of

DRAWS = int(os.environ.get("PENSTOCK_ENDINGS", "1500"))
LIMITS = Limits(results_max=3, depth_max=12)
VIEWS = ("/r/a", "/r/item/price", "/r/a/b")
PAIRS = "for $a in stream('S')//a, $b in stream('T')//a where $a = $b return <m>{$a}{$b}</m>"
BROKERED = "for $i in /r/item where $i/price > {} return <m>{{$i/name}}</m>"

Registering = Callable[[penstock.Registry], None]


def adding(*queries: Any, mode: str = "query") -> Registering:
    def register(registry: penstock.Registry) -> None:
        for number, query in enumerate(queries):
            registry.add(f"q{number}", query, mode=mode)

    return register


LANGUAGES: dict[str, Registering] = {
    "rows": adding("//a", "//a[b]/c", "//a/text()", "//*[2]", "//a[last()]"),
    "filters": adding("//a", "//a[. = '2']", "//item[price > 3]", "count(//a) > 1", mode="filter"),
    "questions": adding(*(f"//item[price = {n}]/name" for n in range(70)), "//a"),
    "values": adding("count(//a)", "sum(//price)", "string(//a)", "boolean(//item)", "//a = 2"),
    "gathered": adding(
        penstock.xquery("<m>{for $v in //a return $v}</m>"),
        penstock.xquery("<m>{sum(//price), count(//a)}</m>"),
        penstock.xquery("min(//a)"),
    ),
    "looped": adding(
        penstock.xquery("for $v in //a return <m>{$v}</m>"),
        penstock.xquery("for $v in //item order by $v/price return string($v/name)"),
        penstock.xquery("for $v in //a return xs:integer($v) + 1"),
    ),
    "brokered": adding(*(penstock.xquery(BROKERED.format(n)) for n in range(20))),
    "tables": adding(penstock.table("//item", {"price": ("price", "double"), "name": "name"})),
    "xscl": adding(
        penstock.xscl("S//a->x JOIN{x = y, INF} T//a->y"),
        penstock.xscl("S//item->x[price->p] FOLLOWED BY{p = q, INF} T//item->y[price->q]"),
    ),
    "streams": adding(penstock.xquery(PAIRS)),
}
JOINED = {"xscl", "streams"}


def random_bytes(random: Random) -> bytes:
    """Return a small document that all languages find something in."""
    parts = []
    for _ in range(random.randrange(1, 6)):
        value = random.choice(("1", "2", "3", "7", "x"))
        parts.append(
            random.choice(
                (
                    f"<a>{value}</a>",
                    f"<a><b/><c>{value}</c></a>",
                    f"<item><price>{random.randrange(6)}</price><name>n{value}</name></item>",
                    f"<c>{value}</c>",
                    "text<!--c-->",
                )
            )
        )
    return f"<r>{''.join(parts)}</r>".encode()


class FailedError(Exception):
    """What a source or a consumer raises."""


class Ending(Input):
    """A document whose reading ends in some way."""

    def __init__(self, data: bytes, random: Random, end: Callable[[], None] | None) -> None:
        super().__init__(BAD, random.choice(("S", "T", "default")), None)
        self._data = data
        self._is_whole = end is None and random.random() < 0.5
        self._end = end
        self._cuts = sorted(random.randrange(len(data) + 1) for _ in range(random.randrange(3)))

    def whole(self) -> bytes | None:
        return self._data if self._is_whole else None

    def pieces(self) -> Iterator[bytes]:
        for start, end in zip([0, *self._cuts], [*self._cuts, len(self._data)], strict=True):
            yield self._data[start:end]
        if self._end is not None:
            self._end()

    def original(self) -> bytes | None:
        return self._data


def malformed(random: Random) -> bytes:
    """Return a document that is broken, or cut off, somewhere."""
    data = random_bytes(random)
    cut = random.randrange(1, len(data))
    return data[:cut] + random.choice((b"", b"", b"</x>", b"<", b"&y;"))


def beyond(random: Random) -> bytes:
    """Return a document that passes a limit: of its depth, or of the results of a subscription."""
    if random.random() < 0.5:
        return b"<r><a>1</a>" + b"<a>" * 20 + b"</a>" * 20 + b"</r>"
    return b"<r>" + b"<a>1</a><item><price>5</price><name/></item>" * 5 + b"</r>"


def place_of(language: str) -> Place:
    """Return an engine for a language, to be used for many draws."""
    registry = penstock.Registry()
    LANGUAGES[language](registry)
    return Place(registry, LIMITS)


def ways_of(language: str) -> list[str]:
    """Return the ways in that can serve a language."""
    refused: set[str] = {"matches", "worker"} if language in JOINED else set()
    if language == "streams":
        refused.add("live")  # a document that does not end gathers no bindings
    return [way for way in WAYS if way not in refused]


ENDINGS = ("malformed", "limit", "read", "raise", "interrupt", "cancel", "consumer", "close")
ALIKE = ("malformed", "limit", "read")
"""After these the documents behind come in the same run."""


def document_of(place: Place, ending: str, random: Random) -> Ending:
    """Return a document that ends in a way."""

    def fail() -> None:
        match ending:
            case "read":
                raise DocumentError("PS0002", "the file ends early", 0, 0, "")
            case "raise":
                raise FailedError
            case "interrupt":
                raise KeyboardInterrupt
            case "cancel":
                place.engine.cancel()

    data = random_bytes(random)
    match ending:
        case "malformed":
            return Ending(malformed(random), random, None)
        case "limit":
            return Ending(beyond(random), random, None)
        case "consumer" | "close":
            return Ending(data, random, None)
        case _:
            return Ending(data[: random.randrange(1, len(data))], random, fail)


def end(place: Place, way: str, ending: str, random: Random) -> None:
    """Read a document that ends in a way."""
    document = document_of(place, ending, random)
    engine = place.engine
    if ending in ("consumer", "close"):
        leave(place, way, document, random)
        return
    with suppress(DocumentError, CancelledError, FailedError, KeyboardInterrupt):
        WAYS[way](place, [document])
    engine.close()


def leave(place: Place, way: str, document: Ending, random: Random) -> None:
    """Begin to read a document, and leave it."""
    engine = place.engine
    if way in ("open", "live", "push", "push_many"):
        opened = engine.open(stream=document.stream, live=way == "live")
        data = cast("bytes", document.original())
        with suppress(FailedError, DocumentError), opened:
            opened.feed(data[: random.randrange(len(data))])
            if random.random() < 0.5:
                raise FailedError
            opened.feed(data)  # the consumer went on with another document: that is malformed
        engine.close()
        return
    again = [document, document]
    rows: Iterator[Any]
    match way:
        case "batches":
            rows = engine.batches(again)
        case "matches":
            rows = engine.matches(again)
        case "worker":
            rows = worker.evaluate(job_of(place), iter([batch_of(again)]))
        case _:
            rows = engine.run(again)
    next(rows, None)
    cast("Any", rows).close()


class Endings:
    """Draws, with an engine for each language that lives through all of them."""

    def __init__(self) -> None:
        self._places = {language: place_of(language) for language in LANGUAGES}
        self._expected: dict[tuple[str, str, int], list[Row]] = {}
        self._servers = [Server({"q": path}) for path in VIEWS]
        self._router = Router({"one": {"q": VIEWS[0]}, "two": {"q": VIEWS[1]}}, limits=LIMITS)
        self._configuration = Configuration(VIEWS)
        self._stamper = Stamper(self._configuration, LIMITS)

    def differs(self, seed: int) -> str | None:
        """Return what differs in a draw, if something does."""
        random = Random(seed)
        if random.random() < 0.1:
            return self._differs_in_routing(random)
        language = random.choice([*LANGUAGES])
        place = self._places[language]
        ways = ways_of(language)
        way, later = random.choice(ways), random.choice(ways)
        ending = random.choice(ENDINGS)
        case = f"{seed}: {language}, {way}, {ending}, {later}"
        good = random.randrange(12)
        if ending in ALIKE and language not in JOINED and random.random() < 0.5:
            bad = document_of(place, ending, random)
            with suppress(DocumentError):
                found = WAYS[way](place, [bad, *good_documents(language, good)])
                if way != "worker" or ending != "read":
                    return self._compared(case + ", in one run", found, (language, way, good))
        with suppress(DocumentError):
            end(place, way, ending, random)
        found = WAYS[later](place, good_documents(language, good))
        return self._compared(case, found, (language, later, good))

    def _compared(self, case: str, found: list[Row], key: tuple[str, str, int]) -> str | None:
        language, way, good = key
        if key not in self._expected:
            documents = good_documents(language, good)
            self._expected[key] = WAYS[way](place_of(language), documents)
        expected = self._expected[key]
        return None if found == expected else f"{case}\n  found {found}\n  expected {expected}"

    def _differs_in_routing(self, random: Random) -> str | None:
        bad = random.choice((malformed, beyond))(random)
        good = random_bytes(random)
        server = random.choice(self._servers)
        for call in (
            lambda: server.decide(None, bad),
            lambda: self._router.route(None, bad),
            lambda: self._stamper.stamp(bad),
        ):
            with suppress(DocumentError):
                call()
        (query,) = server.queries
        fresh = Server({"q": query.text}).decide(None, good)
        if server.decide(None, good) != fresh:
            return f"decide: {bad!r}, {good!r}"
        if self._stamper.stamp(good) != Stamper(self._configuration, LIMITS).stamp(good):
            return f"stamp: {bad!r}, {good!r}"
        other = Router({"one": {"q": VIEWS[0]}, "two": {"q": VIEWS[1]}}, limits=LIMITS)
        if self._router.route(None, good) != other.route(None, good):
            return f"route: {bad!r}, {good!r}"
        return None


def good_documents(language: str, number: int) -> list[Document]:
    """Return documents that are well-formed and pass no limit."""
    random = Random(number)
    streams = ("S", "T") if language in JOINED else ("default", "default")
    return [
        Document(random_bytes(random), id=f"good{place}", stream=stream, time=1_000_000 + place)
        for place, stream in enumerate(streams)
    ]


def differences(first: int, count: int) -> Iterator[str]:
    """Yield the draws whose good documents do not give what a fresh engine gives."""
    endings = Endings()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(first, first + count):
            found = endings.differs(seed)
            if found is not None:
                yield found
