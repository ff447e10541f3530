"""Conversions between the atomic types and comparisons, by XPath 1.0, sections 3.4 and 4."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from decimal import Decimal

Atomic = str | float | bool

_NUMBER = re.compile(r"[ \t\r\n]*(-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))[ \t\r\n]*")
_ORDERINGS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
COMPARISONS = ("=", "!=", *_ORDERINGS)


def to_number(value: Atomic) -> float:
    """Return ``number(value)``: no exponents, no plus sign, NaN for what is no number."""
    if isinstance(value, str):
        found = _NUMBER.fullmatch(value)
        return float(found[1]) if found else math.nan
    return float(value)


def to_string(value: Atomic) -> str:
    """Return ``string(value)``: numbers in decimal notation, as short as tells them apart."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    return f"{Decimal(repr(value)):f}".removesuffix(".0")


def to_boolean(value: Atomic) -> bool:
    """Return ``boolean(value)``."""
    if isinstance(value, float):
        return value != 0 and not math.isnan(value)
    return bool(value)


def compare(sign: str, left: Atomic, right: Atomic) -> bool:
    """Return ``left sign right`` for atomic values."""
    if sign in _ORDERINGS:
        return _ORDERINGS[sign](to_number(left), to_number(right))
    assert sign in COMPARISONS, sign
    if isinstance(left, bool) or isinstance(right, bool):
        equal = to_boolean(left) == to_boolean(right)
    elif isinstance(left, float) or isinstance(right, float):
        equal = to_number(left) == to_number(right)
    else:
        equal = left == right
    return equal == (sign == "=")
