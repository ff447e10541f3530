"""Casts between atomic types, by section 17 of the functions and operators of XQuery 1.0."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from penstock_testing.sequences.dates import (
    on_any_day,
    read_duration,
    read_moment,
    write_duration,
    write_moment,
)
from penstock_testing.sequences.errors import DynamicError, mistyped
from penstock_testing.sequences.items import (
    INTEGER_MAX,
    INTEGER_MIN,
    MOMENTS,
    NUMERIC,
    PARENT,
    Atom,
    Duration,
    QName,
    derives,
    primitive,
)
from penstock_testing.sequences.numbers import (
    DECIMAL_MAX,
    EXACT,
    read_decimal,
    read_double,
    read_integer,
    to_single,
    write_decimal,
    write_double,
)

WHITE_SPACE = " \t\r\n"
_BOUNDS: dict[str, tuple[int | None, int | None]] = {
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-128, 127),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 255),
}
_NAME = r"[^\W\d][\w.\-·]*"
NCNAME = re.compile(_NAME)
_PATTERNS = {
    "language": re.compile(r"[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*"),
    "NMTOKEN": re.compile(r"[\w.\-·:]+"),
    "Name": re.compile(r"[^\W\d:][\w.\-·:]*|[:_][\w.\-·:]*"),
    "NCName": NCNAME,
}


def text_of(atom: Atom) -> str:
    """Return an atomic value as a string."""
    value: Any = atom.value
    kind = primitive(atom.type)
    match kind:
        case "boolean":
            return "true" if value else "false"
        case "decimal":
            return write_decimal(value)
        case "double" | "float":
            return write_double(value, is_single=kind == "float")
        case "QName":
            return str(value.text)
        case "duration":
            return write_duration(atom.type, value)
        case "date" | "time" | "dateTime":
            return write_moment(kind, value)
    return str(value)


def cast(atom: Atom, target: str) -> Atom:
    """Return an atomic value as one of another type.

    Raises:
        DynamicError: FORG0001 and others, the value has no counterpart; XPTY0004, no value of
            its type has one.
    """
    if atom.type == target:
        return atom
    source = primitive(atom.type)
    if target == "anyAtomicType":
        return atom
    if target == "untypedAtomic":
        return Atom(target, text_of(atom))
    if derives(target, "string"):
        return Atom(target, _restricted_text(text_of(atom), target))
    if source in ("string", "untypedAtomic"):
        return read(atom.value, target)
    if target == "anyURI" and source == "anyURI":
        return atom
    convert = _CONVERSIONS.get(primitive(target))
    value = None if convert is None else convert(atom, source, target)
    if value is None:
        raise mistyped(f"xs:{atom.type} cannot be cast as xs:{target}")
    return value


def is_castable(atom: Atom, target: str) -> bool:
    """Return whether a cast would give a value."""
    try:
        cast(atom, target)
    except DynamicError:
        return False
    return True


def read(text: str, target: str) -> Atom:
    """Return the value that a text writes.

    Raises:
        DynamicError: FORG0001, it writes none of that type; XPTY0004, there is no such cast.
    """
    if target == "QName":
        raise mistyped("only a literal string can be cast as xs:QName")
    plain = text.strip(WHITE_SPACE)
    if derives(target, "integer"):
        number = read_integer(plain)
        if number is not None:
            return _bounded(number, target)
    elif primitive(target) in _READERS:
        value = _READERS[primitive(target)](plain)
        if value is not None and _is_part(value, target):
            return Atom(target, value)
    elif target in MOMENTS:
        moment = read_moment(target, plain)
        if moment is not None:
            return Atom(target, moment)
    raise DynamicError("FORG0001", f"{text!r} is no xs:{target}")


def _is_part(value: Any, target: str) -> bool:
    """Return whether the text of a duration may have the parts that it has."""
    if target == "dayTimeDuration":
        return bool(value.months == 0)
    return target != "yearMonthDuration" or bool(value.seconds == 0)


def _read_boolean(text: str) -> bool | None:
    return {"true": True, "1": True, "false": False, "0": False}.get(text)


def _read_decimal(text: str) -> Decimal | None:
    value = read_decimal(text)
    if value is not None and abs(value) >= DECIMAL_MAX:
        raise DynamicError("FOCA0001", f"{text} is too large for a decimal")
    return value


def _read_single(text: str) -> float | None:
    value = read_double(text)
    return None if value is None else to_single(value)


_READERS: dict[str, Callable[[str], Any]] = {
    "boolean": _read_boolean,
    "decimal": _read_decimal,
    "double": read_double,
    "float": _read_single,
    "duration": read_duration,
    "anyURI": lambda text: " ".join(text.split()),
}


def _restricted_text(text: str, target: str) -> str:
    if target == "normalizedString":
        return re.sub("[\t\r\n]", " ", text)
    if target == "string":
        return text
    text = " ".join(text.split())
    pattern = _PATTERNS.get(target)
    if pattern is not None and not pattern.fullmatch(text):
        raise DynamicError("FORG0001", f"{text!r} is no xs:{target}")
    return text


def _bounded(number: int, target: str) -> Atom:
    least, most = _BOUNDS.get(target, (None, None))
    if (least is not None and number < least) or (most is not None and number > most):
        raise DynamicError("FORG0001", f"{number} is no xs:{target}")
    if not INTEGER_MIN <= number <= INTEGER_MAX:
        raise DynamicError("FOCA0003", f"{number} is too large for an integer")
    return Atom(target, number)


def _to_boolean(atom: Atom, source: str, target: str) -> Atom | None:
    if source not in NUMERIC:
        return None
    return Atom("boolean", not (atom.value == 0 or atom.value != atom.value))


def _to_decimal(atom: Atom, source: str, target: str) -> Atom | None:
    value = atom.value
    if source == "boolean":
        value = int(value)
    elif source not in NUMERIC:
        return None
    elif isinstance(value, float):
        if math.isnan(value) or math.isinf(value):
            raise DynamicError("FOCA0002", f"{text_of(atom)} is no decimal number")
        value = Decimal(value)
    if target == "decimal":
        if abs(value) >= DECIMAL_MAX:
            raise DynamicError("FOCA0001", f"{text_of(atom)} is too large for a decimal")
        return Atom("decimal", EXACT.create_decimal(value))
    return _bounded(int(value), target)


def _to_double(atom: Atom, source: str, target: str) -> Atom | None:
    if source != "boolean" and source not in NUMERIC:
        return None
    value = float(atom.value)
    return Atom(target, to_single(value) if target == "float" else value)


def _to_moment(atom: Atom, source: str, target: str) -> Atom | None:
    if source == target:
        return atom
    if source == "date" and target == "dateTime":
        return Atom(target, atom.value)
    if source == "dateTime" and target == "date":
        moment = atom.value
        return Atom(
            target, type(moment)(moment.year, moment.month, moment.day, Decimal(0), moment.zone)
        )
    if source == "dateTime" and target == "time":
        return Atom(target, on_any_day(atom.value))
    return None


def _to_duration(atom: Atom, source: str, target: str) -> Atom | None:
    if source != "duration":
        return None
    months = 0 if target == "dayTimeDuration" else atom.value.months
    seconds = Decimal(0) if target == "yearMonthDuration" else atom.value.seconds
    return Atom(target, Duration(months, seconds))


def _to_name(atom: Atom, source: str, target: str) -> Atom | None:
    return Atom(target, atom.value) if isinstance(atom.value, QName) else None


_CONVERSIONS: dict[str, Callable[[Atom, str, str], Atom | None]] = {
    "boolean": _to_boolean,
    "decimal": _to_decimal,
    "double": _to_double,
    "float": _to_double,
    "date": _to_moment,
    "time": _to_moment,
    "dateTime": _to_moment,
    "duration": _to_duration,
    "QName": _to_name,
}


def is_type(name: str) -> bool:
    """Return whether there is an atomic type of this local name."""
    return name in PARENT or name == "anyAtomicType"
