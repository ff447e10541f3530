"""What literals and references stand for: strings, numbers, characters."""

from __future__ import annotations

import re
from decimal import Decimal

from penstock.errors import QueryError
from penstock.languages.xquery.tokens import BAD_CHARACTER, SYNTAX_ERROR, Span

REFERENCE = re.compile(r"&(?:(lt|gt|amp|quot|apos)|#([0-9]+)|#x([0-9A-Fa-f]+));")
INTEGER_MAX = 2**63 - 1
DECIMAL_MAX = 2**96 - 1
CODE_POINT_MAX = 0x10FFFF

_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


def normal_lines(text: str) -> str:
    """Return a text with each end of a line as one line feed."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def string_value(text: str, span: Span) -> str:
    """Return what a string literal stands for; ``span`` is where it stands in the query.

    Raises:
        QueryError: A reference in it is none.
    """
    start, end = span
    quote = text[start]
    parts, place = [], start + 1
    while True:
        reference = text.find("&", place, end - 1)
        piece = text[place : end - 1 if reference < 0 else reference]
        parts.append(normal_lines(piece.replace(quote * 2, quote)))
        if reference < 0:
            return "".join(parts)
        character, place = referred(text, reference)
        parts.append(character)


def referred(text: str, place: int) -> tuple[str, int]:
    """Return the character that a reference stands for, and where the reference ends.

    Raises:
        QueryError: There is no reference, or it stands for no character.
    """
    match = REFERENCE.match(text, place)
    if match is None:
        way_out = "write &amp; for the character &, or one of &lt; &gt; &quot; &apos; &#10; &#xA;"
        message = "& begins a reference, and this is none"
        raise QueryError("PQ0503", message, (place, place + 1), way_out, text, SYNTAX_ERROR)
    named, decimal, hexadecimal = match.groups()
    if named:
        return _ENTITIES[named], match.end()
    digits = (decimal or hexadecimal).lstrip("0")
    # More digits than any character needs: the number itself may be too long to read.
    code = int(digits or "0", 10 if decimal else 16) if len(digits) < 10 else CODE_POINT_MAX + 1
    character = chr(code) if code <= CODE_POINT_MAX else "\0"
    if BAD_CHARACTER.match(character):
        message = f"{match[0]} stands for no character of XML"
        raise QueryError("PQ0503", message, match.span(), "remove it", text, "XQST0090")
    return character, match.end()


def integer_text(text: str, span: Span, query: str) -> str:
    """Return the canonical text of an integer literal.

    Raises:
        QueryError: It does not fit into 64 bits.
    """
    digits = text.lstrip("0") or "0"
    if len(digits) > len(str(INTEGER_MAX)) or int(digits) > INTEGER_MAX:
        message = f"integers go up to {INTEGER_MAX}"
        way_out = "write a double, such as 1e30, or a decimal with a point"
        raise QueryError("PQ0510", message, span, way_out, query, "FOAR0002")
    return digits


def decimal_literal(text: str, span: Span, query: str) -> str:
    """Return the canonical text of a decimal literal.

    Raises:
        QueryError: Its whole part does not fit into 96 bits.
    """
    canonical = decimal_text(text)
    whole = canonical.partition(".")[0]
    if len(whole) > len(str(DECIMAL_MAX)) or int(whole) > DECIMAL_MAX:
        message = f"decimals go up to {DECIMAL_MAX}"
        raise QueryError("PQ0510", message, span, "write a double: 1e30", query, "FOAR0002")
    return canonical


def decimal_text(text: str) -> str:
    """Return the canonical text of a decimal: no zeros that say nothing."""
    sign = "-" if text.startswith("-") else ""
    whole, _, fraction = text.lstrip("+-").partition(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    if not fraction:
        return whole if whole == "0" else sign + whole
    return f"{sign}{whole}.{fraction}"


def double_text(value: float) -> str:
    """Return the text that casting a double to a string gives."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "INF" if value > 0 else "-INF"
    if value == 0:
        return "-0" if str(value).startswith("-") else "0"
    if 1e-6 <= abs(value) < 1e6:
        return decimal_text(f"{Decimal(repr(value)):f}")
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    mantissa = "".join(map(str, digits)).rstrip("0")
    power = exponent + len(digits) - 1
    return f"{'-' if sign else ''}{mantissa[0]}.{mantissa[1:] or '0'}E{power}"
