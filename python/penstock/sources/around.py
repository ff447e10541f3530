"""Sessions that read records, and the values around them."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from penstock.errors import DocumentError
from penstock.kernel import Plan, Session, Surroundings
from penstock.limits import Limits
from penstock.sources.inputs import Piece
from penstock.sources.paths import RecordPath
from penstock.sources.string_values import string_value

_ELEMENT = 1

NOTHING: Mapping[str, str] = {}

Run = tuple[int, Mapping[str, str]]
"""What holds for a record, by its place, and for those after it up to the next run."""

Step = Callable[[Session], None]


class RecordReading:
    """Reads one document for its records, in document order, and for the values around them."""

    def __init__(
        self, plan: Plan, path: RecordPath, limits: Limits | None, encoding: str | None = None
    ) -> None:
        self.session = Session(plan, limits, in_document_order=True)
        self.session.begin(encoding)
        self._around = Around(path, limits, encoding) if path.ancestor_plan is not None else None

    def feed(self, piece: Piece) -> DocumentError | None:
        """Read the next bytes; return the first error."""
        return self._run(lambda session: session.feed(piece))

    def finish(self) -> DocumentError | None:
        """End the document; return the first error."""
        return self._run(lambda session: session.finish())

    def values_at(self, end: int) -> Mapping[str, str]:
        """Return the values for a record with this end; ends only grow."""
        return NOTHING if self._around is None else self._around.at(end)

    def runs(self, ends: Sequence[int]) -> list[Run]:
        """Return the values for records with these ends, from which place on each holds."""
        return [(0, NOTHING)] if self._around is None else self._around.runs(ends)

    def settle(self) -> None:
        """Forget values that no record can need any more; all records so far have been taken."""
        if self._around is not None and not self.session.statistics().held:
            self._around.settle()

    def _run(self, step: Step) -> DocumentError | None:
        failure = None if self._around is None else self._around.run(step)
        error = _attempt(step, self.session)
        if error is None or (failure is not None and failure.byte < error.byte):
            return failure
        return error


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
        failure = _attempt(step, self._session)
        if self._session.row_count():
            outermost = Surroundings({}, self._session.entities())
            found = []
            for number, _, kind, _, text, *place in self._session.take().rows()[0]:
                start, end, decided_at, _, _ = place
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


def _attempt(step: Step, session: Session) -> DocumentError | None:
    try:
        step(session)
    except DocumentError as error:
        return error
    return None
