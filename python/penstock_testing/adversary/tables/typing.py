"""Values of types, read by Python's own means: slow and obviously right."""

from __future__ import annotations

import re
from base64 import b64decode
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import ROUND_HALF_EVEN, Context, Decimal
from math import isinf, isnan
from typing import Any

_SPACES = " \t\n\r"
_DAY = r"(\d{4})-(\d\d)-(\d\d)"
_ZONE = r"(Z|[+-]\d\d:\d\d)?"
_DATE = re.compile(_DAY + _ZONE, re.ASCII)
_TIMESTAMP = re.compile(_DAY + r"T(\d\d):(\d\d):(\d\d)(\.\d+)?" + _ZONE, re.ASCII)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)", re.ASCII)
_DOUBLE = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_BASE64 = re.compile(
    r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?"
)
_EXACT = Context(prec=2000)


class MisfitError(Exception):
    """A value does not fit a type."""


def text_of(value: str | float | bool) -> str:
    """Return ``string(value)`` of XPath 1.0."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isnan(value):
        return "NaN"
    if isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    shown = format(Decimal(repr(value)), "f") if value else "0"
    return re.sub(r"\.0$", "", shown)


def typed(type_: str, value: str | float | bool) -> Any:
    """Return a value in a type, as pyarrow gives it to Python.

    Raises:
        MisfitError: It does not fit.
    """
    is_number = isinstance(value, float)
    if type_ == "double" and is_number:
        return value
    text = text_of(value)
    if type_ in ("string", "xml"):
        return text
    text = text.strip(_SPACES)
    if type_.startswith("decimal"):
        digits, scale = map(int, re.findall(r"\d+", type_))
        return _decimal(text, digits, scale, is_number)
    return _READERS[type_](text)


def _match(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    found = pattern.fullmatch(text)
    if found is None:
        raise MisfitError(text)
    return found


def _integer(text: str) -> int:
    _match(_INTEGER, text)
    number = int(text)
    if not -(2**63) <= number < 2**63:
        raise MisfitError(text)
    return number


def _decimal(text: str, digits: int, scale: int, is_computed: bool) -> Decimal:
    _match(_DECIMAL, text)
    number = Decimal(text)
    rounded = number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_EVEN, _EXACT)
    if (rounded != number and not is_computed) or abs(rounded) >= Decimal(10) ** (digits - scale):
        raise MisfitError(text)
    return rounded + 0  # zero has no sign


def _double(text: str) -> float:
    words = {"INF": "inf", "+INF": "inf", "-INF": "-inf", "NaN": "nan"}
    if text not in words:
        _match(_DOUBLE, text)
    return float(words.get(text, text))


def _boolean(text: str) -> bool:
    if text not in ("true", "false", "1", "0"):
        raise MisfitError(text)
    return text in ("true", "1")


def _zone(text: str | None) -> timezone:
    if text in (None, "Z"):
        return UTC
    hours, minutes = int(text[1:3]), int(text[4:6])
    if minutes > 59 or hours * 60 + minutes > 14 * 60:
        raise MisfitError(text)
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(offset if text[0] == "+" else -offset)


def _date(text: str) -> date:
    year, month, day, zone = _match(_DATE, text).groups()
    _zone(zone)
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        raise MisfitError(text) from None


def _timestamp(text: str) -> datetime:
    year, month, day, hour, minute, second, fraction, zone = _match(_TIMESTAMP, text).groups()
    fraction = (fraction or ".").removeprefix(".").ljust(6, "0")
    is_midnight = hour == "24" and not any(map(int, (minute, second, fraction)))
    if fraction[6:].strip("0"):
        raise MisfitError(text)
    try:
        local = datetime(
            int(year),
            int(month),
            int(day),
            0 if is_midnight else int(hour),
            int(minute),
            int(second),
            int(fraction[:6]),
            tzinfo=_zone(zone),
        )
        return local.astimezone(UTC) + timedelta(days=int(is_midnight))
    except (ValueError, OverflowError):
        raise MisfitError(text) from None


def _binary(text: str) -> bytes:
    digits = "".join(text.split())
    _match(_BASE64, digits)
    return b64decode(digits)


_READERS = {
    "integer": _integer,
    "double": _double,
    "boolean": _boolean,
    "date": _date,
    "timestamp": _timestamp,
    "binary": _binary,
}
