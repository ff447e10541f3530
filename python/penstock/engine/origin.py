"""From the kernel's tuples to rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from penstock.kernel import Session
from penstock.results import KINDS, Result, Surroundings

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
        self._begun: set[tuple[int, int]] = set()

    def take(self, session: Session) -> list[Result]:
        """Return the rows that wait in a session."""
        if not session.row_count():
            return []
        return [row for _, row in self.take_numbered(session)]

    def take_numbered(self, session: Session) -> list[tuple[int, Result]]:
        """Return the rows that wait in a session, each with its node's place in the document."""
        rows, scopes = session.take_rows()
        found = []
        for number, ordinal, kind, name, value, start, end, decided_at, node, scope in rows:
            surroundings = None
            if kind == _ELEMENT:
                declarations = scopes[scope] if scope >= 0 else {}
                if end < 0 or self._begun:
                    declarations = self._piece(number, ordinal, end, declarations)
                surroundings = self._surroundings(session, declarations)
            row = Result(
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
                None,
                None,
                None,
                surroundings,
            )
            found.append((node, row))
        return found

    def _surroundings(self, session: Session, declarations: dict[str, str]) -> Surroundings | None:
        # All entities are declared before the first element.
        if self._entities is None:
            self._entities = session.entities()
        if not declarations and not self._entities:
            return None
        return Surroundings(declarations, self._entities)

    def _piece(
        self, number: int, ordinal: int, end: int, declarations: dict[str, str]
    ) -> dict[str, str]:
        """Return the declarations that a piece needs: only the first one has the start tag."""
        result = (number, ordinal)
        is_first = result not in self._begun
        if end < 0:
            self._begun.add(result)
        else:
            self._begun.discard(result)
        return declarations if is_first else {}
