"""From the kernel's tuples, and from errors, to rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from penstock import logs
from penstock.errors import DocumentError
from penstock.kernel import ALONE, Batch, Session, Surroundings, ends_in_cdata
from penstock.results import KINDS, Fault, Result, make_row
from penstock.sources import Input

if TYPE_CHECKING:
    from penstock.engine.driver import Portion

SUSPENDED = "PL0018"
"""The code of the error that says that a subscription is suspended."""
_ELEMENT = 1
_CHUNK_ROWS = 1 << 14
"""Objects for so many rows are made at a time."""


def rows_of(portions: Iterable[Portion]) -> Iterator[list[Result]]:
    """Yield the rows of portions, each of which ends in the document that its rows are of."""
    origin = None
    for portion in portions:
        rows: list[Result] = []
        if portion.batch.row_count:
            document = portion.documents[-1]
            if origin is None or origin.document is not document:
                origin = Origin(portion.session, portion.names, document)
            for chunk in origin.chunks(portion.batch):
                if rows:
                    yield rows
                rows = chunk
        if portion.errors or portion.joined:
            rows += portion.further_rows()
        yield rows


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
        self._names = names
        self.document = document
        self._outermost: Surroundings | None = None
        # Results of which pieces went out, and whether the last one ended in a CDATA section.
        self._begun: dict[tuple[int, int], bool] = {}

    def rename(self, names: Sequence[str]) -> None:
        """Take over the names of a session that goes on with another plan."""
        self._names = names

    def rows(self, batch: Batch) -> list[Result]:
        """Return the rows of a batch."""
        return [row for chunk in self.chunks(batch) for row in chunk]

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
        names = {number: self._names[number] for number in {row[0] for row in tuples}}
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
    return Result(
        subscription=error.subscription,
        stream=document.stream,
        document=document.document,
        documents=None,
        ordinal=error.ordinal,
        kind="error",
        name="",
        value=None,
        start=None,
        end=None,
        decided_at=error.byte,
        event_time=document.event_time,
        error=Fault.of(error),
        source=None if error.subscription else document.original(),
        surroundings=ALONE,
    )
