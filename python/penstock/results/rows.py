"""The row: one result of one subscription, or what failed: a document, or one subscription."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Protocol

from penstock.results.columns import COLUMNS, Bindings, Columns, Fault, Texts
from penstock.results.html import table

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
    "record",
    "end",
)
"""What a row can be. The kernel counts in this order."""


class Surroundings(Protocol):
    """What a fragment needs to stand alone; whoever makes a row knows it."""

    def serialize(self, kind: str, name: str, value: str) -> str:
        """Return a result as XML that can be read without the document around it."""


@dataclass(frozen=True, slots=True)
class Result(Columns):
    """One row: the columns, and what XML that stands alone is made of.

    >>> import penstock
    >>> (row,) = penstock.evaluate("//p:b", "<a xmlns='urn:p'><b/></a>", namespaces={"p": "urn:p"})
    >>> row.kind, row.name, row.value, row.start, row.end
    ('element', '{urn:p}b', '<b/>', 17, 21)
    >>> row.xml
    '<b xmlns="urn:p"/>'
    """

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

        Raises:
            ValueError: The row was made without surroundings.
        """
        if self.surroundings is None:
            raise ValueError("a row needs surroundings for XML that stands alone")
        return self.surroundings.serialize(self.kind, self.name, self.value or "")

    @property
    def jsonml(self) -> Any:
        """The element as JsonML, which loses nothing; what is no element is its value.

        ``[name, {attributes}, child, …]``: see ``penstock.results.elements``.
        """
        from penstock.results.elements import to_jsonml

        return to_jsonml(self.xml) if self.kind in _MARKUP else self.value

    @property
    def plain(self) -> Any:
        """The element as an object by the names of attributes and children; text where it is text.

        Prefixes, comments and the order of children with different names are lost.
        """
        from penstock.results.elements import to_plain

        return to_plain(self.jsonml) if self.kind in _MARKUP else self.value

    def __repr__(self) -> str:
        what = " ".join(filter(None, [self.kind, self.name]))
        told = self.value if self.error is None else f"{self.error.code}: {self.error.reason}"
        value = "" if told is None else f" {_short(told)!r}"
        return f"<Result {what}{value}>"

    def _repr_html_(self) -> str:
        shown = ((name, value) for name, value in self.as_dict().items() if value is not None)
        return table(("column", "value"), shown)

    def as_dict(self) -> dict[str, Any]:
        """Return the columns by name, with values that JSON can hold; bytes become base64."""
        row = {name: getattr(self, name) for name in COLUMNS}
        for name, plain in _PLAIN.items():
            if row[name] is not None:
                row[name] = plain(row[name])
        return row

    def as_json(self) -> str:
        """Return the columns as one line of JSON."""
        return json.dumps(self.as_dict(), ensure_ascii=False, separators=(",", ":"))


class _Draft(Columns):
    """A row that is being made, with the layout of a finished one."""

    __slots__ = ("surroundings",)
    # Both, or each assignment still looks for the one of the frozen class.
    __setattr__ = object.__setattr__
    __delattr__ = object.__delattr__


def _row_maker() -> Callable[..., Result]:
    """Return what makes a row of all its fields, in order.

    A frozen dataclass takes a call for each field. Here plain assignments fill a draft, which
    then becomes a row: that is five times as fast, and a document may give a million rows. The
    function is written out, as that of a dataclass is.
    """
    names = [column.name for column in fields(Result)]
    lines = [
        f"def make_row({', '.join(names)}):",
        " row = Draft.__new__(Draft)",
        *(f" row.{name} = {name}" for name in names),
        " row.__class__ = Result",
        " return row",
    ]
    scope: dict[str, Any] = {"Draft": _Draft, "Result": Result}
    exec("\n".join(lines), scope)
    maker: Callable[..., Result] = scope["make_row"]
    return maker


make_row = _row_maker()
"""Makes a row of all its fields, in order."""


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN_MAX else text[: _SHOWN_MAX - 1] + "…"


_SHOWN_MAX = 60
_MARKUP = ("element", "document", "event", "message")
_PLAIN_TYPES: dict[Any, Callable[[Any], Any]] = {
    Texts: list,
    Bindings: dict,
    Fault: Fault.as_dict,
    datetime: datetime.isoformat,
    bytes: lambda value: b64encode(value).decode("ascii"),
}
_PLAIN = {name: _PLAIN_TYPES[type_] for name, type_ in COLUMNS.items() if type_ in _PLAIN_TYPES}
"""What makes the values of a column such that JSON can hold them, where they are not yet."""
