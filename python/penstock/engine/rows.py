"""From the kernel's tuples, and from errors, to rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock import logs
from penstock.errors import DocumentError
from penstock.kernel import ALONE, Batch, Session, Surroundings, ends_in_cdata
from penstock.results import KINDS, Fault, Result, make_row
from penstock.sources import Input

if TYPE_CHECKING:
    from penstock.engine.reading import Portion

SUSPENDED = "PL0018"
"""The code of the error that says that a subscription is suspended."""
_ELEMENT = 1
_CHUNK_ROWS = 1 << 14
"""Objects for so many rows are made at a time."""


def rows_of(portions: Iterable[Portion], *, with_ends: bool = False) -> Iterator[list[Result]]:
    """Yield the rows of portions, each of which ends in the document that its rows are of."""
    making = Making(with_ends=with_ends)
    for portion in portions:
        yield from making.rows(portion)


class Making:
    """Makes the rows of portions; if ``with_ends``, a row marks the end of each document."""

    def __init__(self, *, with_ends: bool = False) -> None:
        self._origin: Origin | None = None
        self._with_ends = with_ends
        self._ends = 0

    def rows(self, portion: Portion) -> Iterator[list[Result]]:
        """Yield the rows of a portion; each but the last list is full."""
        rows: list[Result] = []
        if portion.batch.row_count:
            origin, document = self._origin, portion.documents[-1]
            if origin is None or origin.document is not document:
                origin = self._origin = Origin(portion.session, portion.names, document)
            origin.names = portion.names
            for chunk in origin.chunks(portion.batch):
                if rows:
                    yield rows
                rows = chunk
        if portion.errors or portion.joined:
            rows += portion.further_rows()
        if self._with_ends:
            rows += [self._end(document) for document in portion.ended]
        yield rows

    def _end(self, document: Input) -> Result:
        self._ends += 1
        return row_about(document, "end", self._ends - 1)


def log_failure(document: Input, error: DocumentError) -> None:
    """Log that a document failed, or a subscription at a document."""
    if error.subscription is None:
        logs.engine.info("the document %s failed: %s", document.document, error)
    elif error.code != SUSPENDED:  # a suspension is logged where it is made
        name = error.subscription
        logs.engine.info("the subscription %s failed at %s: %s", name, document.document, error)


class Origin:
    """What all rows of one document share, and how its rows are made."""

    def __init__(self, session: Session, names: Sequence[str], document: Input) -> None:
        self._session = session
        self.names = names
        """Those of the plan at hand; a live session goes on with others."""
        self.document = document
        self._outermost: Surroundings | None = None
        # Results of which pieces went out, and whether the last one ended in a CDATA section.
        self._begun: dict[tuple[int, int], bool] = {}

    def chunks(self, batch: Batch) -> Iterator[list[Result]]:
        """Yield the rows of a batch in lists: a batch is smaller than its rows as objects."""
        for chunk in self._numbered_chunks(batch):
            yield [row for _, row in chunk]

    def numbered_rows(self, batch: Batch) -> list[tuple[int, Result]]:
        """Return the rows of a batch, each with its node's place in the document."""
        return [row for chunk in self._numbered_chunks(batch) for row in chunk]

    def _numbered_chunks(self, batch: Batch) -> Iterator[list[tuple[int, Result]]]:
        while (part := batch.next_rows(_CHUNK_ROWS)) is not None:
            yield self._numbered(*part)

    def _numbered(
        self,
        tuples: Sequence[tuple[int, int, int, str, str, int, int, int, int, int]],
        scopes: Sequence[dict[str, str]],
        bindings: Mapping[int, dict[str, str | None]],
    ) -> list[tuple[int, Result]]:
        around = [self._outside().within(declarations) for declarations in scopes]
        names = {number: self.names[number] for number in {row[0] for row in tuples}}
        document = self.document
        rows = []
        for place, row in enumerate(tuples):
            number, ordinal, kind, name, value, start, end, decided_at, node, scope = row
            surroundings = ALONE
            if kind == _ELEMENT:
                surroundings = around[scope] if scope >= 0 else self._outside()
                if end < 0 or self._begun:
                    surroundings = self._piece((number, ordinal), value, end, surroundings)
            result = make_row(
                names[number],
                document.stream,
                document.document,
                None,
                ordinal,
                KINDS[kind],
                name,
                value,
                None if start < 0 else start,
                None if end < 0 else end,
                decided_at,
                document.event_time,
                bindings.get(place),
                None,
                None,
                surroundings,
            )
            rows.append((node, result))
        return rows

    def _outside(self) -> Surroundings:
        """Return the surroundings of the whole document."""
        # All entities are declared before the first element.
        if self._outermost is None:
            self._outermost = Surroundings({}, self._session.entities())
        return self._outermost

    def _piece(
        self, result: tuple[int, int], value: str, end: int, around: Surroundings
    ) -> Surroundings:
        """Return what a piece needs: only the first one has the start tag to be completed."""
        is_in_cdata = self._begun.pop(result, None)
        if end < 0:
            self._begun[result] = ends_in_cdata(value, bool(is_in_cdata))
        return around if is_in_cdata is None else around.further(is_in_cdata)


def blamed(error: DocumentError, session: Session, names: Sequence[str]) -> DocumentError:
    """Return an error with the name of who caused most of the work, if it was too much."""
    subscription = session.blamed()
    if subscription is None or subscription >= len(names):
        return error
    return error.blaming(names[subscription])


def error_row(error: DocumentError, document: Input) -> Result:
    """Return the row of a document that failed, or of one subscription that failed at it."""
    row = row_about(document, "error", error.ordinal)
    return replace(
        row,
        subscription=error.subscription,
        decided_at=error.byte,
        error=Fault.of(error),
        source=None if error.subscription else document.original(),
    )


def row_about(document: Input, kind: str, ordinal: int) -> Result:
    """Return a row that is about a document, and no result."""
    return Result(
        subscription=None,
        stream=document.stream,
        document=document.document,
        documents=None,
        ordinal=ordinal,
        kind=kind,
        name="",
        value=None,
        start=None,
        end=None,
        decided_at=0,
        event_time=document.event_time,
        error=None,
        source=None,
        surroundings=ALONE,
    )
