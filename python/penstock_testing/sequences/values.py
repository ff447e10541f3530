"""Atomic values as values of Python, and back."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

from penstock_testing.sequences.casting import text_of
from penstock_testing.sequences.items import (
    Atom,
    Duration,
    Moment,
    boolean,
    integer,
    primitive,
    string,
)

_MICROSECOND = Decimal("0.000001")


def atom_from(value: Any) -> Atom:
    """Return a value of Python as an atomic value."""
    match value:
        case bool():
            return boolean(value)
        case int():
            return integer(value)
        case float():
            return Atom("double", value)
        case Decimal():
            return Atom("decimal", value)
        case str():
            return string(value)
        case datetime():
            clock = (value.hour * 60 + value.minute) * 60 + value.second
            seconds = Decimal(clock) + value.microsecond * _MICROSECOND
            return Atom(
                "dateTime", Moment(value.year, value.month, value.day, seconds, _zone(value))
            )
        case date():
            return Atom("date", Moment(value.year, value.month, value.day, Decimal(0), None))
        case timedelta():
            seconds = Decimal(value.days * 86_400 + value.seconds)
            return Atom("dayTimeDuration", Duration(0, seconds + value.microseconds * _MICROSECOND))
    raise TypeError(f"{value!r} is no value of a variable")


def _zone(value: datetime) -> int | None:
    offset = value.utcoffset()
    return None if offset is None else int(offset.total_seconds()) // 60


def python_value(atom: Atom) -> Any:
    """Return an atomic value as a result has it.

    Dates with a time zone, times, names and durations of months have no counterpart in Python
    and are texts.
    """
    value = atom.value
    if isinstance(value, bool | int | float | Decimal):
        return value
    kind = primitive(atom.type)
    if kind == "date" and value.zone is None:
        return date(value.year, value.month, value.day)
    if kind == "dateTime":
        zone = None if value.zone is None else timezone(timedelta(minutes=value.zone))
        midnight = datetime.combine(date(value.year, value.month, value.day), time(), zone)
        return midnight + timedelta(microseconds=int(value.seconds / _MICROSECOND))
    if atom.type == "dayTimeDuration":
        return timedelta(microseconds=int(value.seconds / _MICROSECOND))
    return text_of(atom)
