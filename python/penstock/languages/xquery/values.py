"""Values of external variables: from Python to literals, and to what JSON can hold.

A value is an ``int``, ``float``, ``Decimal``, ``str``, ``bool``, ``date``, ``datetime``, ``time``,
``timedelta``, a list of them, or a ``Document``. A mapping with one key says the type and the text
instead, as ``{"xs:date": "2024-05-01"}``, or names a stream: ``{"stream": "orders"}``; so every
value can be written as JSON.

A document stays outside the query. Its variable reads a stream of its own, called after the
variable (:func:`stream_of`), and whoever evaluates the query passes the document as that stream.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from penstock.errors import QueryError
from penstock.languages.xquery.literals import INTEGER_MAX, decimal_text, double_text
from penstock.languages.xquery.tokens import BAD_CHARACTER, Span
from penstock.results import Document
from penstock.twigs import sequences as q

Key = tuple[str, str]


def stream_of(name: str) -> str:
    """Return the stream that a variable reads if it is bound to a document."""
    return f"${name}"


def documents_of(variables: Mapping[str, object]) -> dict[str, Document]:
    """Return the documents among the values of variables, by the names of the variables."""
    return {name: value for name, value in variables.items() if isinstance(value, Document)}


class Given:
    """The values that variables get from outside, by their expanded names.

    A name is ``x``, ``prefix:x`` or ``{uri}x``. ``options`` collects the values that the query
    asks for, as JSON holds them.
    """

    def __init__(self, text: str, variables: Mapping[str, object] | None) -> None:
        self.text = text
        self.variables = dict(variables or {})
        self.prefixes: Mapping[str, tuple[str, ...]] = {}
        self.options: dict[str, Any] = {}

    def value_of(self, key: Key, span: Span) -> q.Item | None:
        """Return the value of a variable; None if it has none.

        Raises:
            QueryError: Its type has no counterpart in XQuery.
        """
        for name, value in self.variables.items():
            if self._key_of(name) == key:
                self.options[name] = _json_of(value, name)
                literal = literal_of(value, name)
                if literal is not None:
                    return literal
                message = f"`${name}` is {_described(value)}, which is no value of XQuery"
                way_out = "pass numbers, strings, booleans, dates, a list of them or a Document"
                raise QueryError("PQ0116", message, span, way_out, self.text)
        return None

    def _key_of(self, name: str) -> Key:
        if name.startswith("{"):
            uri, _, local = name[1:].partition("}")
            return uri, local
        prefix, _, local = name.rpartition(":")
        return (self.prefixes.get(prefix, ("",))[0] if prefix else ""), local


def literal_of(value: object, name: str) -> q.Item | None:
    """Return a Python value as an expression; None if it has no counterpart."""
    if isinstance(value, list | tuple):
        parts = [literal_of(part, name) for part in value]
        if any(part is None or isinstance(part, q.Sequence) for part in parts):
            return None
        return q.Sequence(tuple(parts))
    if isinstance(value, Document):
        return q.Stream(stream_of(name))
    if isinstance(value, Mapping):
        return _typed(value)
    return _atomic(value)


def _typed(value: Mapping[object, object]) -> q.Item | None:
    """Return what a mapping of a type to a text stands for."""
    if len(value) != 1:
        return None
    (kind, text), *_ = value.items()
    if not isinstance(kind, str) or not isinstance(text, str) or BAD_CHARACTER.search(text):
        return None
    if kind == "stream":
        return q.Stream(text)
    return typed_literal(kind.removeprefix("xs:"), text)


def typed_literal(kind: str, text: str) -> q.Atomic | None:
    """Return the value that a text has in a type; None if it has none, or only a cast can tell."""
    if kind in ("string", "untypedAtomic"):
        return q.Atomic(kind, text)
    canonical = _CANONICAL.get(kind)
    try:
        return None if canonical is None else q.Atomic(kind, canonical(text.strip(" \t\r\n")))
    except ValueError:
        return None


def _matching(pattern: str) -> Callable[[str], str]:
    """Return a check that a text is written as a pattern says."""
    compiled = re.compile(pattern)

    def check(text: str) -> str:
        if not compiled.fullmatch(text):
            raise ValueError(text)
        return text

    return check


def _canonical_integer(text: str) -> str:
    if abs(int(text)) > INTEGER_MAX:
        raise ValueError(text)
    return str(int(text))


def _canonical_moment(text: str) -> str:
    """Return a date, a time or both, if it is one of the calendar."""
    day, _, clock = text.partition("T") if "T" in text else (text, "", "")
    if re.fullmatch(r"\d{4}-\d\d-\d\d", day[:10]):
        dt.date.fromisoformat(day[:10])
    if clock or ":" in day[:3]:
        dt.time.fromisoformat(clock or day)
    return text


_ZONE = r"(?:Z|[+-](?:0\d|1[0-3]):[0-5]\d|[+-]14:00)?"
_CLOCK = r"\d\d:\d\d:\d\d(?:\.\d+)?"
_COUNT = r"\d{1,9}"
"""No duration with such counts is out of range; of others a cast tells."""
_DAYS = (
    rf"(?:{_COUNT}D)?"
    rf"(?:T(?=.)(?:{_COUNT}H)?(?:{_COUNT}M)?(?:{_COUNT}(?:\.\d{{1,9}})?S)?)?"
)
_DOUBLE = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|-?INF|NaN"


def _chain(pattern: str, canonical: Callable[[str], str]) -> Callable[[str], str]:
    check = _matching(pattern)
    return lambda text: canonical(check(text))


_CANONICAL: dict[str, Callable[[str], str]] = {
    "anyURI": str,
    "boolean": _matching("true|false"),
    "integer": _chain(r"[+-]?\d{1,19}", _canonical_integer),
    "decimal": _chain(r"[+-]?(?:\d{1,28}(?:\.\d*)?|\.\d+)", decimal_text),
    "float": _chain(_DOUBLE, lambda text: double_text(float(text))),
    "double": _chain(_DOUBLE, lambda text: double_text(float(text))),
    "date": _chain(rf"\d{{4}}-\d\d-\d\d{_ZONE}", _canonical_moment),
    "time": _chain(f"{_CLOCK}{_ZONE}", _canonical_moment),
    "dateTime": _chain(rf"\d{{4}}-\d\d-\d\dT{_CLOCK}{_ZONE}", _canonical_moment),
    "dayTimeDuration": _matching(rf"-?P(?=.*\d){_DAYS}"),
    "duration": _matching(rf"-?P(?=.*\d)(?:{_COUNT}Y)?(?:{_COUNT}M)?{_DAYS}"),
    "yearMonthDuration": _matching(rf"-?P(?=\d)(?:{_COUNT}Y)?(?:{_COUNT}M)?"),
}
"""How the text of each type is checked and written."""


def _atomic(value: object) -> q.Atomic | None:
    match value:
        case bool():
            return q.Atomic("boolean", "true" if value else "false")
        case int() if -INTEGER_MAX - 1 <= value <= INTEGER_MAX:
            return q.Atomic("integer", str(int(value)))
        case float():
            return q.Atomic("double", double_text(value))
        case Decimal() if value.is_finite():
            return q.Atomic("decimal", decimal_text(f"{value:f}"))
        case str() if not BAD_CHARACTER.search(value):
            return q.Atomic("string", str(value))
        case dt.datetime():
            return q.Atomic("dateTime", _moment(value))
        case dt.date():
            return q.Atomic("date", value.isoformat())
        case dt.time():
            return q.Atomic("time", _moment(value))
        case dt.timedelta():
            return q.Atomic("dayTimeDuration", duration_text(value))
    return None


def _moment(value: dt.datetime | dt.time) -> str:
    """Return a time as XML Schema writes it: no zeros at the end, Z for UTC."""
    whole, fraction = value.replace(tzinfo=None).isoformat(), ""
    if value.microsecond:
        whole, _, fraction = whole.partition(".")
        fraction = f".{fraction.rstrip('0')}"
    offset = value.utcoffset()
    if offset is None:
        return whole + fraction
    minutes = round(offset.total_seconds() / 60)
    if not minutes:
        return f"{whole}{fraction}Z"
    sign = "-" if minutes < 0 else "+"
    return f"{whole}{fraction}{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def duration_text(value: dt.timedelta) -> str:
    """Return the canonical text of a duration of days, hours, minutes and seconds."""
    sign, rest = ("-", -value) if value < dt.timedelta() else ("", value)
    hours, seconds = divmod(rest.seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    exact = decimal_text(f"{seconds}.{rest.microseconds:06}")
    date = f"{rest.days}D" if rest.days else ""
    time = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "")
    time += f"{exact}S" if exact != "0" else ""
    if not date and not time:
        return "PT0S"
    return f"{sign}P{date}{f'T{time}' if time else ''}"


def _json_of(value: object, name: str) -> Any:
    """Return a value as JSON holds it; :func:`literal_of` gives the same of both."""
    if isinstance(value, list | tuple):
        return [_json_of(part, name) for part in value]
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    literal = literal_of(value, name)
    if isinstance(literal, q.Atomic):
        return {f"xs:{literal.type}": literal.text}
    return {"stream": literal.name} if isinstance(literal, q.Stream) else None


def _described(value: object) -> str:
    match value:
        case int():
            return "an integer of more than 64 bits"
        case str():
            return "a string with a character that XML does not have"
        case _:
            return f"a {type(value).__name__}"
