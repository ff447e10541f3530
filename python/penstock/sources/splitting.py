"""One document becomes its records, in one pass and in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import DocumentError
from penstock.kernel import Surroundings
from penstock.limits import Limits
from penstock.sources.around import NOTHING, RecordReading
from penstock.sources.paths import WHOLE, RecordPath

if TYPE_CHECKING:
    from penstock.sources.inputs import Piece


class Record(NamedTuple):
    """An element of a larger document that can be read without it.

    ``start`` and ``end`` are its byte range in the document. ``xml`` has the namespaces in scope
    declared in the start tag, where it does not declare them itself, and internal entities
    expanded; attributes that only a document type supplies are not added.
    """

    number: int
    start: int
    end: int
    name: str
    xml: bytes
    declarations: Mapping[str, str]
    ancestors: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Account:
    """Where the bytes of a document went: ``bytes_in = bytes_records + bytes_between``.

    Bytes are those of the document in UTF-8. ``nested`` counts the matches inside a record,
    which are part of it and no records of their own.
    """

    bytes_in: int = 0
    bytes_records: int = 0
    records: int = 0
    nested: int = 0

    @property
    def bytes_between(self) -> int:
        """Bytes before, between and after the records."""
        return self.bytes_in - self.bytes_records


class Splitter:
    """Splits one document that is fed in pieces of any size.

    The outermost match of the path is the record. Where the pieces end never changes a record.
    What is held is the record that is open, and what an undecided predicate of the path holds
    back; ``limits.buffer_bytes_max`` bounds both.
    """

    def __init__(
        self,
        path: RecordPath,
        limits: Limits | None = None,
        encoding: str | None = None,
    ) -> None:
        self._reading = RecordReading(path.plan, path, limits, encoding)
        self._outermost: Surroundings | None = None
        self._end = 0
        self._bytes_in = 0
        self._bytes_records = 0
        self._records = 0
        self._nested = 0

    @property
    def account(self) -> Account:
        """The bytes accounted for so far; ``bytes_in`` is known at the end, or at an error."""
        return Account(self._bytes_in, self._bytes_records, self._records, self._nested)

    def feed(self, piece: Piece) -> list[Record]:
        """Return the records that the next bytes complete.

        Raises:
            DocumentError: The bytes so far cannot begin a well-formed document, or a record
                comes from an entity; ``results`` holds the records that were complete before.
            LimitError: The document passed a limit; likewise.
        """
        return self._take(self._reading.feed(piece))

    def finish(self) -> list[Record]:
        """Return the records that the end of the document decides.

        Raises:
            DocumentError: The document is not complete; ``results`` as above.
            LimitError: The document passed a limit; likewise.
        """
        return self._take(self._reading.finish())

    def _take(self, failure: DocumentError | None) -> list[Record]:
        """Return the records that wait, as far as an error lets them stand, or raise it."""
        records: list[Record] = []
        if self._reading.session.row_count():
            failure = self._append(records, failure)
        if failure is not None:
            self._bytes_in = max(failure.byte, self._end)
            raise failure.with_results(records) from None
        self._reading.settle()
        return records

    def _append(self, records: list[Record], failure: DocumentError | None) -> DocumentError | None:
        """Append the records that wait; return the first error."""
        session, values_at = self._reading.session, self._reading.values_at
        rows, scopes, _ = session.take().rows()
        if self._outermost is None:
            # All entities are declared before the first element.
            self._outermost = Surroundings({}, session.entities())
        around = [self._outermost.within(declarations) for declarations in scopes]
        number, last_end, total = self._records, self._end, 0
        for subscription, _, _, name, text, start, end, _, _, scope in rows:
            if subscription == WHOLE:
                self._bytes_in = end
                continue
            if failure is not None and end > failure.byte:
                break
            if start < last_end:
                self._nested += 1
                continue
            if text[:1] != "<":
                reason = f"the record {name} comes from the entity reference {text}"
                failure = DocumentError("PS0005", reason, start, 0, "")
                break
            declarations = scopes[scope] if scope >= 0 else NOTHING
            alone = around[scope] if scope >= 0 else self._outermost
            xml = alone.serialize("element", name, text).encode()
            records.append(Record(number, start, end, name, xml, declarations, values_at(end)))
            number += 1
            total += end - start
            last_end = end
        self._records, self._end = number, last_end
        self._bytes_records += total
        return failure


def split(
    pieces: Iterable[Piece],
    path: RecordPath,
    limits: Limits | None = None,
    encoding: str | None = None,
) -> Iterator[Record]:
    """Yield the records of a document that comes in pieces.

    Raises:
        DocumentError: The document is not well-formed, after the records before the error.
        LimitError: The document passed a limit; likewise.
    """
    splitter = Splitter(path, limits, encoding)
    try:
        for piece in pieces:
            yield from splitter.feed(piece)
        yield from splitter.finish()
    except DocumentError as error:
        yield from error.results
        raise error.with_results([]) from None
