"""The row: one result of one subscription, or what failed: a document, or one subscription."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from penstock.errors import DocumentError
from penstock.results.serialization import serialize, serialize_further

KINDS = (
    "document",
    "element",
    "attribute",
    "text",
    "comment",
    "processing-instruction",
    "namespace",
    "number",
    "string",
    "boolean",
    "message",
    "event",
    "match",
    "error",
)
"""What a row can be. The kernel counts in this order."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a document, and where."""

    code: str
    reason: str
    byte: int
    line: int
    path: str

    @classmethod
    def of(cls, error: DocumentError) -> Fault:
        """Return the fault that an error reports."""
        return cls(error.code, error.reason, error.byte, error.line, error.path)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a fragment needs to stand alone: declarations in scope, and internal entities."""

    declarations: Mapping[str, str]
    entities: Mapping[str, str]
    is_further: bool = False
    """Whether it is a piece of an element that began in an earlier row …"""
    is_in_cdata: bool = False
    """… and begins inside a CDATA section."""


@dataclass(frozen=True, slots=True)
class Result:
    """One row. The fields up to ``source`` are the columns, the same wherever rows go.

    ``value`` is source text for an element or document and the string value for everything else.
    ``start`` and ``end`` count bytes of the document in UTF-8; an atomic value has neither, and
    a piece of a result that goes on has no ``end``. ``decided_at`` is the offset just past the
    event that decided the result. ``bindings`` are the values that the query selects beside the
    result, by name; None where there is no such node.
    """

    subscription: str | None
    stream: str
    document: str
    documents: tuple[str, ...] | None
    ordinal: int
    kind: str
    name: str
    value: str | None
    start: int | None
    end: int | None
    decided_at: int
    event_time: datetime | None = None
    bindings: Mapping[str, str | None] | None = None
    error: Fault | None = None
    source: bytes | None = None
    surroundings: Surroundings | None = field(default=None, repr=False, compare=False)

    @property
    def id(self) -> tuple[str | None, str, int]:
        """What tells this result from every other: subscription, document and ordinal."""
        return (self.subscription, self.document, self.ordinal)

    @property
    def is_error(self) -> bool:
        """Whether the row reports a failure: of a document, or of one subscription with it."""
        return self.error is not None

    @property
    def xml(self) -> str:
        """XML that stands alone: namespaces in scope declared, internal entities expanded.

        A document keeps its document type and loses its XML declaration, since text has no
        encoding. Events and messages are XML as they are. The value of an attribute, a text or
        an atomic result is escaped.
        """
        value = self.value or ""
        around = self.surroundings
        if around is None:
            return serialize(self.kind, self.name, value, {}, {})
        if around.is_further:
            return serialize_further(value, around.entities, around.is_in_cdata)
        return serialize(self.kind, self.name, value, around.declarations, around.entities)

    def as_dict(self) -> dict[str, Any]:
        """Return the columns by name, with values that JSON can hold; bytes become base64."""
        row: dict[str, Any] = {name: getattr(self, name) for name in COLUMNS}
        if self.documents is not None:
            row["documents"] = list(self.documents)
        if self.event_time is not None:
            row["event_time"] = self.event_time.isoformat()
        if self.bindings is not None:
            row["bindings"] = dict(self.bindings)
        if self.error is not None:
            row["error"] = {name: getattr(self.error, name) for name in FAULT_FIELDS}
        if self.source is not None:
            row["source"] = b64encode(self.source).decode("ascii")
        return row

    def as_json(self) -> str:
        """Return the columns as one line of JSON."""
        return json.dumps(self.as_dict(), ensure_ascii=False, separators=(",", ":"))


COLUMNS = tuple(name for name in Result.__dataclass_fields__ if name != "surroundings")
"""The names of the columns, in order."""
FAULT_FIELDS = tuple(Fault.__dataclass_fields__)
"""The fields of the column ``error``."""
