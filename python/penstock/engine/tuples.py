"""Tuples of bindings become rows: each is a small document that messages are made of."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from penstock.errors import DocumentError
from penstock.joins import TupleBinding
from penstock.kernel import ALONE, Plan, Session, Surroundings, event_ordinal
from penstock.limits import Limits
from penstock.planning.bindings.parts import TUPLE, TUPLES, side_name
from penstock.results import KINDS, Fault, Result, make_row
from penstock.results.documents import moment_of

TUPLES_MAX = 512
"""So many tuples are evaluated at once …"""
TUPLE_BYTES_MAX = 1 << 20
"""… and about so many bytes of them."""

Tuple = tuple[TupleBinding, ...]
"""A binding of each side."""

_UNBOUNDED = Limits().results_max


class Messages:
    """The messages of subscriptions that join the same bindings in the same way.

    ``note_failure`` is called with each subscription that fails at a tuple.
    """

    def __init__(
        self,
        programs: Mapping[str, bytes],
        stream: str,
        limits: Limits,
        note_failure: Callable[[str, DocumentError], None] | None = None,
    ) -> None:
        self._note_failure = note_failure
        self._names = [*programs]
        self._stream = stream
        self._plan = Plan.build([*programs.values()])
        # A document of tuples has the results of many bindings.
        self._limits = replace(limits, results_max=_UNBOUNDED)
        self._session = Session(self._plan, self._limits)

    def rows(self, tuples: Sequence[Tuple]) -> Iterator[Result]:
        """Yield the rows of tuples; where a message has no value, there is an error for it."""
        rows, failed, error = self._read(tuples)
        if error is None and not failed:
            yield from rows
        elif len(tuples) > 1:
            # Only the tuple that fails is to lose its messages.
            middle = len(tuples) // 2
            yield from self.rows(tuples[:middle])
            yield from self.rows(tuples[middle:])
        else:
            yield from rows
            origin = _Origin(tuples[0])
            for name in self._names if error is not None else failed:
                failure = error or failed[name]
                if self._note_failure is not None:
                    self._note_failure(name, failure)
                yield origin.failure(name, self._stream, failure)

    def interrupt(self) -> None:
        """End what is being evaluated, from any thread."""
        self._session.interrupt()

    def _read(
        self, tuples: Sequence[Tuple]
    ) -> tuple[list[Result], dict[str, DocumentError], DocumentError | None]:
        """Return the rows, who failed, and what is wrong with the whole, if anything is."""
        ends, document = _document_of(tuples)
        origins: dict[int, _Origin] = {}
        rows: list[Result] = []
        error = None
        session = self._session
        try:
            for _ in session.read_pieces([document]):
                rows += self._taken(tuples, ends, origins)
        except DocumentError as raised:
            error = raised
        rows += self._taken(tuples, ends, origins)
        failing = session.take_failing()
        return rows, {self._names[number]: one for _, number, one in failing}, error

    def _taken(
        self,
        tuples: Sequence[Tuple],
        ends: Sequence[int],
        origins: dict[int, _Origin],
    ) -> Iterator[Result]:
        taken, scopes, _ = self._session.take().rows()
        around = [ALONE.within(declarations) for declarations in scopes]
        for subscription, ordinal, kind, name, value, _, _, decided_at, _, scope in taken:
            # A message is complete at the end of its tuple.
            at = bisect_left(ends, decided_at)
            if at not in origins:
                origins[at] = _Origin(tuples[at])
            surroundings = around[scope] if scope >= 0 else ALONE
            said = KINDS[kind], name, value
            who = self._names[subscription], self._stream
            yield origins[at].row(who, said, ordinal, surroundings)


class _Origin:
    """What the rows of one tuple share."""

    def __init__(self, bindings: Tuple) -> None:
        self._documents = tuple([one.document for one in bindings])
        self._numbers = [one.number for one in bindings]
        times_us = [one.time_us for one in bindings]
        latest = max(times_us)
        # Of several with the latest event time it is the last one, as for events.
        self._latest = len(times_us) - 1 - times_us[::-1].index(latest)
        self._time = moment_of(latest)
        self._rows: dict[str, int] = {}

    def row(
        self,
        who: tuple[str, str],
        said: tuple[str, str, str | None],
        ordinal: int,
        surroundings: Surroundings,
    ) -> Result:
        """Return a row of a subscription: kind, name and value."""
        subscription, stream = who
        count = self._rows[subscription] = self._rows.get(subscription, -1) + 1
        nodes = [[side, number, count] for side, number in enumerate(self._numbers)]
        kind, name, value = said
        return make_row(
            subscription,
            stream,
            self._documents[self._latest],
            self._documents,
            event_ordinal([*self._documents], nodes),
            kind,
            name,
            value,
            None,
            None,
            0,
            self._time,
            None,
            None,
            None,
            surroundings,
        )

    def failure(self, name: str, stream: str, error: DocumentError) -> Result:
        """Return the row of a subscription whose message has no value."""
        row = self.row((name, stream), ("error", "", None), 0, ALONE)
        return replace(row, error=Fault.of(error))


def _document_of(tuples: Sequence[Tuple]) -> tuple[list[int], bytes]:
    """Return a document of tuples, and where each of them ends."""
    document = bytearray(f"<{TUPLES}>".encode())
    ends = []
    for parts in tuples:
        document += f"<{TUPLE}>".encode()
        for number, part in enumerate(parts):
            name = side_name(number).encode()
            document += b"<%s>%s</%s>" % (name, part.fragment, name)
        document += f"</{TUPLE}>".encode()
        ends.append(len(document))
    document += f"</{TUPLES}>".encode()
    return ends, bytes(document)
