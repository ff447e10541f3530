"""Atomic values by XPath 1.0: conversions, comparisons and functions on constants.

A constant may be a blank; then the answer is written down in its trace.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from decimal import Decimal
from functools import wraps
from typing import ParamSpec

from penstock.twigs.blanks import Atom, trace_of, type_of_atom
from penstock.twigs.expressions import ValueType

_NUMBER = re.compile(r"[ \t\r\n]*(-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))[ \t\r\n]*")
_SPACE = re.compile(r"[ \t\r\n]+")
_COMPARISONS: dict[str, Callable[[Atom, Atom], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


P = ParamSpec("P")


def asked(function: Callable[P, bool]) -> Callable[P, bool]:
    """Make a claim about constants one that blanks can be asked about."""

    @wraps(function)
    def ask(*arguments: P.args, **named: P.kwargs) -> bool:
        trace = trace_of(arguments)
        if trace is None:
            return function(*arguments, **named)
        return bool(trace.ask(function, arguments))

    return ask


def number_of(value: Atom) -> float:
    """Return ``number(value)`` of section 4.4: no exponent and no plus sign in a string."""
    if not isinstance(value, str):
        return float(value)
    match = _NUMBER.fullmatch(value)
    return math.nan if match is None else float(match[1])


def string_of(value: Atom) -> str:
    """Return ``string(value)`` of section 4.2: numbers without an exponent, -0 as 0."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    text = format(Decimal(repr(value)), "f")
    return text.removesuffix(".0")


def boolean_of(value: Atom) -> bool:
    """Return ``boolean(value)`` of section 4.3."""
    return bool(value) and value == value


is_true = asked(boolean_of)


def is_nan(value: Atom) -> bool:
    """Return whether a constant is the number that is none."""
    return type_of_atom(value) is ValueType.NUMBER and _is_nan(value)


def is_empty(value: Atom) -> bool:
    """Return whether a constant is the empty string."""
    return type_of_atom(value) is ValueType.STRING and _is_empty(value)


@asked
def is_whole(value: Atom) -> bool:
    """Return whether a constant is a whole number, small enough to be added to counts exactly."""
    return isinstance(value, float) and abs(value) < 2**52 and value == int(value)


@asked
def _is_nan(value: Atom) -> bool:
    return value != value


@asked
def _is_empty(value: Atom) -> bool:
    return value == ""


@asked
def compare(sign: str, left: Atom, right: Atom) -> bool:
    """Return ``left sign right`` of section 3.4."""
    convert: Callable[[Atom], Atom] = string_of
    if sign not in ("=", "!=") or isinstance(left, float) or isinstance(right, float):
        convert = number_of
    if sign in ("=", "!=") and (isinstance(left, bool) or isinstance(right, bool)):
        convert = boolean_of
    return _COMPARISONS[sign](convert(left), convert(right))


def call(function: str, arguments: list[Atom]) -> Atom:
    """Return the value of a call or a comparison on constants of the types that it asks for."""
    if function in _COMPARISONS:
        return compare(function, *arguments)
    trace = trace_of(arguments)
    if trace is None:
        return _FUNCTIONS[function](*arguments)
    derived: Atom = trace.derive(_FUNCTIONS[function], arguments)
    return derived


def _round(number: float) -> float:
    """Round to the nearest integer, halves upwards; -0.5 to -0 gives -0."""
    if not math.isfinite(number) or number == math.floor(number):
        return number
    low = float(math.floor(number))
    nearest = low + 1 if number - low >= 0.5 else low
    return math.copysign(nearest, number) if nearest == 0 else nearest


def _integral(rounding: Callable[[float], int]) -> Callable[[float], float]:
    def round_one(number: float) -> float:
        if not math.isfinite(number):
            return number
        return math.copysign(float(abs(rounding(number))), number)

    return round_one


def _divide(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


def _modulo(left: float, right: float) -> float:
    """Return the remainder with the sign of ``left``, as section 3.5 has it."""
    if right == 0 or math.isinf(left) or math.isnan(left) or math.isnan(right):
        return math.nan
    return math.fmod(left, right)


def _substring(text: str, start: float, length: float | None = None) -> str:
    first = _round(start)
    end = math.inf if length is None else first + _round(length)
    if math.isnan(first) or math.isnan(end):
        return ""
    low = int(min(max(first, 1), len(text) + 1))
    high = int(min(max(end, 1), len(text) + 1))
    return text[low - 1 : high - 1]


def _substring_before(text: str, part: str) -> str:
    return text.partition(part)[0] if part and part in text else ""


def _translate(text: str, wanted: str, replacement: str) -> str:
    table: dict[int, str | None] = {}
    for index, character in enumerate(wanted):
        new = replacement[index] if index < len(replacement) else None
        table.setdefault(ord(character), new)
    return text.translate(table)


_FUNCTIONS: dict[str, Callable[..., Atom]] = {
    "string": string_of,
    "number": number_of,
    "boolean": boolean_of,
    "concat": lambda *parts: "".join(parts),
    "contains": lambda text, part: part in text,
    "starts-with": lambda text, part: text.startswith(part),
    "substring": _substring,
    "substring-before": _substring_before,
    "substring-after": lambda text, part: text.partition(part)[2] if part else text,
    "string-length": lambda text: float(len(text)),
    "normalize-space": lambda text: _SPACE.sub(" ", text).strip(" "),
    "translate": _translate,
    "floor": _integral(math.floor),
    "ceiling": _integral(math.ceil),
    "round": _round,
    "negate": operator.neg,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "div": _divide,
    "mod": _modulo,
}
