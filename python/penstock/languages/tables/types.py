"""The types of columns as they are written: ``integer``, ``decimal(18,2)``, ``list[date]``."""

from __future__ import annotations

import re
from difflib import get_close_matches

from penstock.errors import QueryError
from penstock.twigs.tables import ColumnType

TYPES = (
    "string",
    "integer",
    "decimal",
    "double",
    "boolean",
    "date",
    "timestamp",
    "binary",
    "xml",
)
"""The types of values. Their codes in a program are their places here."""
DIGITS_MAX = 38

_LIST = re.compile(r"\s*list\s*\[(.*)\]\s*", re.DOTALL)
_DECIMAL = re.compile(r"decimal\s*\(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\)")


def read_type(text: str) -> tuple[ColumnType, bool]:
    """Return a type, and whether a column has a list of such values.

    Raises:
        QueryError: There is no such type.
    """
    listed = _LIST.fullmatch(text)
    name = (listed.group(1) if listed else text).strip()
    if decimal := _DECIMAL.fullmatch(name):
        digits, scale = map(int, decimal.groups())
        if not (1 <= digits <= DIGITS_MAX and scale <= digits):
            message = f"`{name}` has no room for its digits"
            way_out = f"use decimal(p,s) with p from 1 to {DIGITS_MAX} and s at most p"
            raise QueryError("PQ0702", message, (0, len(text)), way_out, text)
        return ColumnType("decimal", digits, scale), listed is not None
    if name in TYPES and name != "decimal":
        return ColumnType(name), listed is not None
    raise _unknown(name, text)


def _unknown(name: str, text: str) -> QueryError:
    if name == "decimal":
        way_out = "say how many digits: decimal(18,2) has 18, 2 of them after the point"
    elif close := get_close_matches(name, TYPES, 1):
        way_out = f"did you mean {close[0]}?"
    else:
        names = ", ".join(one if one != "decimal" else "decimal(p,s)" for one in TYPES)
        way_out = f"use one of {names}, or list[…] of one"
    return QueryError("PQ0702", f"`{name}` is no type", (0, len(text)), way_out, text)
