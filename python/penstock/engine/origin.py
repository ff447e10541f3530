"""From the kernel's tuples to rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from penstock.kernel import Session
from penstock.results import KINDS, Result, Surroundings
from penstock.results.serialization import ends_in_cdata

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
        self._entities: dict[str, str] | None = None
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
        found = []
        for place, row in enumerate(rows):
            number, ordinal, kind, name, value, start, end, decided_at, node, scope = row
            surroundings = None
            if kind == _ELEMENT:
                declarations = scopes[scope] if scope >= 0 else {}
                surroundings = self._surroundings(session, declarations)
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

    def _surroundings(self, session: Session, declarations: dict[str, str]) -> Surroundings | None:
        # All entities are declared before the first element.
        if self._entities is None:
            self._entities = session.entities()
        if not declarations and not self._entities:
            return None
        return Surroundings(declarations, self._entities)

    def _piece(
        self, result: tuple[int, int], value: str, end: int, around: Surroundings | None
    ) -> Surroundings | None:
        """Return what a piece needs: only the first one has the start tag to be completed."""
        is_first, is_in_cdata = result not in self._begun, self._begun.get(result, False)
        if end < 0:
            is_open = bool(self._entities) and ends_in_cdata(value, is_in_cdata)
            self._begun[result] = is_open
        else:
            self._begun.pop(result, None)
        if is_first or around is None:
            return around
        return Surroundings({}, around.entities, is_further=True, is_in_cdata=is_in_cdata)
