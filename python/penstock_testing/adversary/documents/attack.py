"""The attack: each document is read as a whole and in pieces, and by libxml2.

Verdicts and values have to be the same. Where libxml2 differs, expat is asked, and where both
differ, the difference has to be a known one.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from penstock.errors import DocumentError, LimitError
from penstock.kernel import Plan, Session
from penstock.languages.xpath import xpath
from penstock.planning.compile import compile_query
from penstock_testing.adversary.documents.mutations import write_fuzzed
from penstock_testing.adversary.documents.verdicts import ALL_VALUES, deviation_of
from penstock_testing.adversary.minimise import minimise, smaller_bytes
from penstock_testing.adversary.report import Failure, Tally
from penstock_testing.adversary.splitting import feed, read, split

_PROGRAMS = [compile_query(xpath(ALL_VALUES)), compile_query(xpath("count(//*)"))]


class Reading(NamedTuple):
    """What is read of a document: its error, else the values of its nodes and its elements."""

    error: str
    is_limited: bool
    values: tuple[str, ...]


def attack(seed: int, count: int) -> Tally:
    """Read ``count`` documents, each from its own seed, and return what was found."""
    tally = Tally()
    session = Session(Plan.build(_PROGRAMS))
    for number in range(seed, seed + count):
        random = Random(number)
        document = write_fuzzed(random)
        tally.cases += 1
        whole = _read(session, lambda session: read(session, document))  # noqa: B023
        tally.non_empty += not whole.error
        pieces = split(document, random)
        in_pieces = _read(session, lambda session: feed(session, pieces))  # noqa: B023
        if whole != in_pieces:
            case = f"{document!r}\n  whole {whole}\n  in pieces {in_pieces}\n  {pieces}"
            tally.failures.append(Failure("wrong", number, case))
            continue
        deviation = _deviation(document, whole)
        if deviation is None:
            tally.failures.append(Failure("wrong", number, _minimised(session, document)))
        elif deviation:
            tally.deviations[deviation] += 1
    return tally


def _read(session: Session, step: Callable[[Session], None]) -> Reading:
    try:
        step(session)
    except DocumentError as error:
        session.take().rows()
        return Reading(str(error), isinstance(error, LimitError), ())
    rows = sorted((row[0], row[8], row[4]) for row in session.take().rows()[0])
    return Reading("", False, tuple(value for _, _, value in rows))


def _deviation(document: bytes, reading: Reading) -> str | None:
    if reading.is_limited:
        return "passes a limit"
    return deviation_of(document, reading.error, reading.values)


def _minimised(session: Session, document: bytes) -> str:
    """Return the smallest document like this one whose reading is wrong, with the verdicts."""

    def fails(smaller: bytes) -> bool:
        reading = _read(session, lambda session: read(session, smaller))
        return _deviation(smaller, reading) is None

    smallest = minimise(document, smaller_bytes, fails)
    reading = _read(session, lambda session: read(session, smallest))
    return f"{smallest!r}\n  {reading.error or reading.values}"
