"""One document becomes its records, in one pass and in bounded memory."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import DocumentError
from penstock.kernel import Session, Surroundings
from penstock.limits import Limits
from penstock.sources.paths import WHOLE, RecordPath
from penstock.sources.string_values import string_value

if TYPE_CHECKING:
    from penstock.sources.inputs import Piece

_ELEMENT = 1

Run = tuple[int, Mapping[str, str]]
"""What holds for a record, by its place, and for those after it up to the next run."""


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
        self._session = Session(path.plan, limits, in_document_order=True)
        self._session.begin(encoding)
        self._around = Around(path, limits, encoding) if path.ancestor_plan is not None else None
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
        return self._run(lambda session: session.feed(piece))

    def finish(self) -> list[Record]:
        """Return the records that the end of the document decides.

        Raises:
            DocumentError: The document is not complete; ``results`` as above.
            LimitError: The document passed a limit; likewise.
        """
        return self._run(lambda session: session.finish())

    def _run(self, step: Step) -> list[Record]:
        failure = read_on(self._session, self._around, step)
        records: list[Record] = []
        failure = self._take(records, failure)
        if failure is not None:
            self._bytes_in = max(failure.byte, self._end)
            raise failure.with_results(records) from None
        if self._around and not self._session.statistics().held:
            self._around.settle()
        return records

    def _take(self, records: list[Record], failure: DocumentError | None) -> DocumentError | None:
        """Append the records that wait, as far as an error lets them stand; return the error."""
        if not self._session.row_count():
            return failure
        rows, scopes, _ = self._session.take().rows()
        if self._outermost is None:
            # All entities are declared before the first element.
            self._outermost = Surroundings({}, self._session.entities())
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
            ancestors = self._around.at(end) if self._around else NOTHING
            records.append(Record(number, start, end, name, xml, declarations, ancestors))
            number += 1
            total += end - start
            last_end = end
        self._records, self._end = number, last_end
        self._bytes_records += total
        return failure


class Around:
    """The values around records: what each ancestor path last matched, by byte.

    A session of its own, because rows of these paths must come when they are decided, while
    records wait for their turn in document order.
    """

    def __init__(self, path: RecordPath, limits: Limits | None, encoding: str | None) -> None:
        assert path.ancestor_plan is not None
        self._session = Session(path.ancestor_plan, limits)
        self._session.begin(encoding)
        self._names = path.ancestor_names
        self._waiting: deque[tuple[int, int, int, str]] = deque()
        self._latest: dict[str, tuple[int, str]] = {}
        self._values: Mapping[str, str] = NOTHING

    def run(self, step: Step) -> DocumentError | None:
        """Read on, and return the error if there is one."""
        failure = None
        try:
            step(self._session)
        except DocumentError as error:
            failure = error
        if self._session.row_count():
            outermost = Surroundings({}, self._session.entities())
            found = []
            for row in self._session.take().rows()[0]:
                number, _, kind, _, text, start, end, decided_at, *_ = row
                value = string_value(text, outermost) if kind == _ELEMENT else text
                found.append((max(end, decided_at), start, number, value))
            found.sort(key=lambda item: item[:2])
            self._waiting.extend(found)
        return failure

    def at(self, end: int) -> Mapping[str, str]:
        """Return the values for a record with this end; ends only grow."""
        waiting = self._waiting
        has_changed = False
        while waiting and waiting[0][0] <= end:
            _, start, number, value = waiting.popleft()
            name = self._names[number]
            old = self._latest.get(name)
            if old is None or start >= old[0]:
                self._latest[name] = (start, value)
                has_changed = has_changed or old is None or old[1] != value
        if has_changed:
            self._values = {name: value for name, (_, value) in self._latest.items()}
        return self._values

    def runs(self, ends: Sequence[int]) -> list[Run]:
        """Return the values for records with these ends, from which place on each holds."""
        found = [(0, self.at(ends[0]))]
        while self._waiting and self._waiting[0][0] <= ends[-1]:
            place = bisect_left(ends, self._waiting[0][0])
            values = self.at(ends[place])
            if values is not found[-1][1]:
                found.append((place, values))
        return found

    def settle(self) -> None:
        """No record that ends before this point can still come: forget what was overtaken."""
        if self._waiting:
            self.at(self._waiting[-1][0])


def read_on(session: Session, around: Around | None, step: Step) -> DocumentError | None:
    """Let a session take a step, and what reads around it; return the first error."""
    failure = around.run(step) if around else None
    try:
        step(session)
    except DocumentError as error:
        if failure is None or error.byte <= failure.byte:
            failure = error
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


if TYPE_CHECKING:
    from collections.abc import Callable

    Step = Callable[[Session], None]

NOTHING: Mapping[str, str] = {}
