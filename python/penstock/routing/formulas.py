"""What a server asks, as a formula over the values of paths; the printed form is XPath."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from penstock.errors import QueryError
from penstock.kernel import ValueTest
from penstock.routing.paths import Path

Operator = Literal["=", "!=", "<", "<=", ">", ">=", "contains", "starts-with", "matches"]
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
OPERATORS = (*COMPARISONS, "contains", "starts-with", "matches")
_NUMBER = re.compile(r"[ \t\r\n]*-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Check:
    """The string value of a node compared with a constant; ``is_date``: as dates or times."""

    operator: Operator
    constant: str | float
    is_date: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether XPath 1.0 can say it."""
        return not self.is_date and self.operator != "matches"


@dataclass(frozen=True, slots=True)
class Constant:
    """True or false, whatever the document is."""

    value: bool


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """Some part holds."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    """The part does not hold."""

    part: Formula


@dataclass(frozen=True, slots=True)
class Some:
    """Some node of a path satisfies ``where``, whose tests are about that node.

    ``whole`` is the path with that condition as a predicate, if the query was written so.
    """

    path: Path
    where: Formula
    whole: Path | None = None


@dataclass(frozen=True, slots=True)
class First:
    """The string value of the first node of a path passes a test; without a node it is empty."""

    path: Path
    test: Check


@dataclass(frozen=True, slots=True)
class Opaque:
    """An expression that only the kernel evaluates: the program of a filter."""

    program: bytes


Formula = Constant | All | Any | Negation | Some | First | Opaque | Check
TRUE, FALSE = Constant(True), Constant(False)


@lru_cache(maxsize=1 << 16)
def native_test(test: Check) -> ValueTest:
    """Return what evaluates a test.

    Raises:
        QueryError: The constant is no date, or no regular expression.
    """
    constant = test.constant
    try:
        if isinstance(constant, str):
            encoded = constant.encode("utf-8", "surrogatepass")
            return ValueTest(test.operator, encoded, is_date=test.is_date)
        return ValueTest(test.operator, number=constant)
    except ValueError as error:
        what = "date" if test.is_date else "regular expression"
        text = str(constant)
        reason = str(error).strip().splitlines()[-1]
        message = f"`{text}` is no {what} ({reason})"
        help_text = "write 2026-11-18 or 2026-11-18T12:30:00Z" if test.is_date else ""
        raise QueryError("PQ0602", message, (0, len(text)), help_text, text) from None


def passes(test: Check, value: str) -> bool:
    """Return whether a string value passes a test."""
    return native_test(test).passes(value.encode("utf-8", "surrogatepass"))


def number_of(text: str) -> float:
    """Return the number that XPath takes a string for."""
    return float(text.strip(" \t\r\n")) if _NUMBER.fullmatch(text) else math.nan


def leaves(formula: Formula) -> Iterator[Some | First | Opaque]:
    """Yield what a formula asks of documents."""
    match formula:
        case All(parts=parts) | Any(parts=parts):
            for part in parts:
                yield from leaves(part)
        case Negation(part=part):
            yield from leaves(part)
        case Some() | First() | Opaque():
            yield formula
        case _:
            pass


def checks_in(formula: Formula) -> Iterator[Check]:
    """Yield the tests of the condition of a path."""
    match formula:
        case All(parts=parts) | Any(parts=parts):
            for part in parts:
                yield from checks_in(part)
        case Negation(part=part):
            yield from checks_in(part)
        case Check():
            yield formula
        case _:
            pass


def as_xpath(formula: Formula) -> str | None:
    """Return a formula of one set of namespaces as XPath 1.0; None if that cannot say it."""
    match formula:
        case Constant(value=value):
            return "true()" if value else "false()"
        case All(parts=parts) | Any(parts=parts):
            texts = [as_xpath(part) for part in parts]
            if None in texts or not texts:
                return None
            return (" and " if isinstance(formula, All) else " or ").join(f"({t})" for t in texts)
        case Negation(part=part):
            text = as_xpath(part)
            return None if text is None else f"not({text})"
        case Some(path=path, where=Constant(value=True)):
            return f"boolean({path.text})"
        case Some(path=path, where=where):
            text = as_xpath(where)
            return None if text is None else f"boolean(({path.text})[{text}])"
        case First(path=path, test=test):
            return _test_text(f"string({path.text})", test)
        case Check():
            return _test_text(".", formula)
        case Opaque():
            return None


def _test_text(subject: str, test: Check) -> str | None:
    constant = _constant_text(test.constant)
    if constant is None or not test.is_plain:
        return None
    if test.operator in COMPARISONS:
        return f"{subject} {test.operator} {constant}"
    return f"{test.operator}({subject}, {constant})"


def _constant_text(constant: str | float) -> str | None:
    if isinstance(constant, str):
        quote = "'" if "'" not in constant else '"'
        return None if quote in constant else f"{quote}{constant}{quote}"
    if math.isnan(constant):
        return "number('')"
    if math.isinf(constant):
        return "(1 div 0)" if constant > 0 else "(-1 div 0)"
    return format(Decimal(repr(float(constant))), "f")
