"""Where the records of a document are, found at the speed of the kernel.

The same records as those of a ``Splitter``, without their text and without a Python object for
each. Records that come out of entities are not told from others, so this is for documents
without a document type.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import compress, groupby
from operator import itemgetter, le
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import DocumentError
from penstock.limits import Limits
from penstock.sources.around import NOTHING, RecordReading, Run
from penstock.sources.paths import WHOLE, RecordPath
from penstock.sources.splitting import Account

if TYPE_CHECKING:
    from penstock.sources.inputs import Piece


class Spans(NamedTuple):
    """Neighbouring records: where each starts and ends, and what holds for which of them."""

    first: int
    """The number of the first record."""
    starts: Sequence[int]
    ends: Sequence[int]
    declarations: Sequence[Run]
    ancestors: Sequence[Run]

    def __len__(self) -> int:
        return len(self.starts)


class SpanFinder:
    """Finds the records of one document that is fed in pieces of any size.

    An error does not raise: ``failure`` holds it, and the records before it were handed out.
    """

    def __init__(self, path: RecordPath, limits: Limits | None = None) -> None:
        self._reading = RecordReading(path.span_plan, path, limits)
        self._end = 0
        self._account = Account()
        self.failure: DocumentError | None = None

    @property
    def account(self) -> Account:
        """The bytes accounted for so far; ``bytes_in`` is known at the end, or at an error."""
        return self._account

    def feed(self, piece: Piece) -> Spans:
        """Return the records that the next bytes complete."""
        return self._take(self._reading.feed(piece))

    def finish(self) -> Spans:
        """Return the records that the end of the document decides."""
        return self._take(self._reading.finish())

    def _take(self, failure: DocumentError | None) -> Spans:
        self.failure = failure
        spans = self._spans()
        if failure is not None:
            self._note(bytes_in=max(failure.byte, self._end))
        else:
            self._reading.settle()
        return spans

    def _spans(self) -> Spans:
        first = self._account.records
        session = self._reading.session
        if not session.row_count():
            return Spans(first, (), (), (), ())
        columns, scopes = session.take().spans()
        subscriptions, starts, ends, scope = map(array, "Iqqi", columns)
        if self.failure is not None or any(subscriptions) or not self._is_plain(starts, ends):
            kept = self._choose(subscriptions, starts, ends)
            starts, ends, scope = (
                array(one.typecode, compress(one, kept)) for one in (starts, ends, scope)
            )
        if not starts:
            return Spans(first, (), (), (), ())
        self._end = ends[-1]
        self._note(bytes_records=sum(ends) - sum(starts), records=len(starts))
        return Spans(first, starts, ends, _runs(scope, scopes), self._reading.runs(ends))

    def _is_plain(self, starts: array[int], ends: array[int]) -> bool:
        """Return whether the records follow each other, none in another."""
        return starts[0] >= self._end and all(map(le, ends, starts[1:]))

    def _choose(
        self, subscriptions: array[int], starts: array[int], ends: array[int]
    ) -> list[bool]:
        """Return which rows are records, up to the first that an error takes away."""
        kept, last, nested = [], self._end, 0
        upto = None if self.failure is None else self.failure.byte
        for subscription, start, end in zip(subscriptions, starts, ends, strict=True):
            is_record = subscription != WHOLE
            if not is_record:
                self._note(bytes_in=end)
            elif upto is not None and end > upto:
                break
            elif start < last:
                is_record = False
                nested += 1
            else:
                last = end
            kept.append(is_record)
        self._note(nested=nested)
        return kept

    def _note(
        self, bytes_in: int = 0, bytes_records: int = 0, records: int = 0, nested: int = 0
    ) -> None:
        so_far = self._account
        self._account = Account(
            max(so_far.bytes_in, bytes_in),
            so_far.bytes_records + bytes_records,
            so_far.records + records,
            so_far.nested + nested,
        )


def _runs(scope: array[int], scopes: Sequence[dict[str, str]]) -> list[Run]:
    """Return which declarations hold from which record on."""
    if scope.count(scope[0]) == len(scope):
        places = [(0, scope[0])]
    else:
        grouped = groupby(enumerate(scope), itemgetter(1))
        places = [next(group) for _, group in grouped]
    return [(place, NOTHING if number < 0 else scopes[number]) for place, number in places]
