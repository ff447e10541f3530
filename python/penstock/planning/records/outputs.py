"""What becomes of the results of joins, as a program keeps it."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from penstock.planning.program import Request, request_of
from penstock.planning.records.encoding import ByteReader, counted, optional
from penstock.planning.templates import JoinQuery
from penstock.twigs import Element, Event, Insert, JoinKind, Literal

_CONTENT = {kind.__name__: kind for kind in (Element, Insert, Literal)}


@dataclass(frozen=True, slots=True)
class JoinOutput:
    """What becomes of the results of a program.

    ``streams`` are those of the query's blocks, in order. ``event`` is what a result is, and where
    it is published; the only node of one that ``is_node`` is the result itself. Where state is
    divided, several parts of it may find one and the same result of a query that ``may_repeat``.
    """

    streams: tuple[str | None, ...]
    event: Event
    is_node: bool
    may_repeat: bool

    @classmethod
    def of(cls, query: JoinQuery, is_node: bool) -> JoinOutput:
        """Return what becomes of the results of a compiled query."""
        streams = tuple(tree.stream for tree in query.trees)
        is_absence = any(row.kind is JoinKind.NOT_FOLLOWED_BY for row in query.rows)
        return cls(streams, query.event, is_node, is_absence or len(query.rows) > 1)

    @property
    def publish(self) -> str | None:
        """The stream that results are published on."""
        return self.event.publish

    def write(self) -> bytes:
        """Return the output as a program keeps it."""
        event = self.event
        plain = [self.streams, event.select, _plain(event.content), self.is_node, self.may_repeat]
        return optional(event.publish) + counted(json.dumps(plain).encode())

    @classmethod
    def read(cls, reader: ByteReader) -> JoinOutput:
        """Return the output that a program begins with."""
        publish = reader.optional()
        streams, select, content, is_node, may_repeat = json.loads(reader.counted())
        event = Event(tuple(select), publish, _value(content))
        return cls(tuple(streams), event, is_node, may_repeat)


def is_publishing(program: bytes) -> bool:
    """Return whether the results of a program become documents of a stream."""
    return request_of(program) is Request.RECORDS and program[len(Request.RECORDS.head)] == 1


def output_of(program: bytes) -> JoinOutput:
    """Return what becomes of the results of a program that requests records."""
    return JoinOutput.read(ByteReader(program, len(Request.RECORDS.head)))


def _plain(value: Any) -> Any:
    """Return content as JSON has it."""
    if is_dataclass(value):
        return {type(value).__name__: [_plain(getattr(value, one.name)) for one in fields(value)]}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def _value(plain: Any) -> Any:
    """Return the content that ``_plain`` made JSON of."""
    if isinstance(plain, dict):
        ((name, values),) = plain.items()
        return _CONTENT[name](*map(_value, values))
    return tuple(map(_value, plain)) if isinstance(plain, list) else plain
