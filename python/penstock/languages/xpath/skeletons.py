"""A text apart from its constants: queries of one skeleton differ in literals and numbers only."""

from __future__ import annotations

import re

from penstock.languages.xpath.tokens import NAME_START, NC_NAME, NUMBER, TEXT_LENGTH_MAX
from penstock.twigs.blanks import Atom

Skeleton = tuple[str, ...]
"""The text between the constants, and for each of them what it is."""

# Names take their digits, hyphens and dots along, as in the lexer; `..` comes before a number
# that begins with a dot. Nothing is ever tried twice: the quantifiers keep what they took.
_PIECES = re.compile(
    rf"""((?:[^"'0-9.\0{NAME_START}]++|{NC_NAME}|\.\.|\.(?![0-9]))*+)"""
    rf"""(?:"([^"]*)"|'([^']*)'|({NUMBER})|\Z)"""
)


def split(text: str) -> tuple[Skeleton, list[Atom]] | None:
    """Return the skeleton of a text and its constants; None for what is no query anyway.

    Two texts of one skeleton have the same tokens but for the values of literals and numbers.
    """
    if len(text) > TEXT_LENGTH_MAX:
        return None
    pieces: list[str] = []
    constants: list[Atom] = []
    end = 0
    for match in _PIECES.finditer(text):
        if match.start() != end:
            return None
        end = match.end()
        kind = match.lastindex or 1
        pieces.append(match[1])
        if kind == 1:
            break
        pieces.append("number" if kind == 4 else "literal")
        constants.append(float(match[4]) if kind == 4 else match[kind])
    return (tuple(pieces), constants) if end == len(text) else None
