"""From the kernel's tuples to rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from penstock.kernel import ALONE, Session, Surroundings, ends_in_cdata
from penstock.results import KINDS, Result

_ELEMENT = 1


class Origin:
    """What all rows of one document share, and how its rows are made."""

    def __init__(
        self, names: Sequence[str], document: str, stream: str, event_time: datetime | None
    ) -> None:
        self._names = names
        self._document = document
        self._stream = stream
        self._event_time = event_time
        self._outermost: Surroundings | None = None
        # Results of which pieces went out, and whether the last one ended in a CDATA section.
        self._begun: dict[tuple[int, int], bool] = {}

    def rename(self, names: Sequence[str]) -> None:
        """Take over the names of a session that goes on with another plan."""
        self._names = names

    def take(self, session: Session) -> list[Result]:
        """Return the rows that wait in a session."""
        if not session.row_count():
            return []
        return [row for _, row in self.take_numbered(session)]

    def take_numbered(self, session: Session) -> list[tuple[int, Result]]:
        """Return the rows that wait in a session, each with its node's place in the document."""
        rows, scopes, beside = session.take_rows()
        around = [self._outside(session).within(declarations) for declarations in scopes]
        found = []
        for place, row in enumerate(rows):
            number, ordinal, kind, name, value, start, end, decided_at, node, scope = row
            surroundings = ALONE
            if kind == _ELEMENT:
                surroundings = around[scope] if scope >= 0 else self._outside(session)
                if end < 0 or self._begun:
                    surroundings = self._piece((number, ordinal), value, end, surroundings)
            result = Result(
                self._names[number],
                self._stream,
                self._document,
                None,
                ordinal,
                KINDS[kind],
                name,
                value,
                None if start < 0 else start,
                None if end < 0 else end,
                decided_at,
                self._event_time,
                beside.get(place),
                None,
                None,
                surroundings,
            )
            found.append((node, result))
        return found

    def _outside(self, session: Session) -> Surroundings:
        """Return the surroundings of the whole document."""
        # All entities are declared before the first element.
        if self._outermost is None:
            self._outermost = Surroundings({}, session.entities())
        return self._outermost

    def _piece(
        self, result: tuple[int, int], value: str, end: int, around: Surroundings
    ) -> Surroundings:
        """Return what a piece needs: only the first one has the start tag to be completed."""
        is_in_cdata = self._begun.pop(result, None)
        if end < 0:
            self._begun[result] = ends_in_cdata(value, bool(is_in_cdata))
        return around if is_in_cdata is None else around.further(is_in_cdata)
