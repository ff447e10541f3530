"""A text apart from its names and constants: queries of one skeleton differ in these only."""

from __future__ import annotations

from penstock.languages.lazy_patterns import lazy_pattern
from penstock.languages.xpath.tokens import NAME_INNER, NAME_START, NUMBER, TEXT_LENGTH_MAX
from penstock.twigs.blanks import Atom

Skeleton = tuple[str, ...]
"""The text between names and constants, and for each of them what it is. A name is told by its
place among the values: queries of one skeleton repeat their names in the same places."""

KEPT_NAMES = frozenset({"and", "or", "div", "mod", "id", "lang"})
"""Names that stay in a skeleton: they may be operators, or what a function looks for."""

_SPACE = "[ \\t\\r\\n]*+"
_NAME = rf"[{NAME_START}](?:[{NAME_INNER}]|-)*+"
# Names take their digits, hyphens and dots along, as in the lexer; `..` comes before a number
# that begins with a dot. Variables, prefixes, axes, functions and node types are no names of
# nodes. Nothing is ever tried twice: the quantifiers keep what they took.
_PIECES = lazy_pattern(
    rf"""((?:[^"'0-9.$\0{NAME_START}]++|\.\.|\.(?![0-9])|\${_SPACE}(?:{_NAME}:)?+{_NAME}"""
    rf"""|{_NAME}(?={_SPACE}(?:\(|::))|{_NAME}:(?!:)"""
    rf"""|(?:{"|".join(sorted(KEPT_NAMES))})(?![{NAME_INNER}-]))*+)"""
    rf"""(?:({_NAME})|"([^"]*)"|'([^']*)'|({NUMBER})|\Z)"""
)


def split(text: str) -> tuple[Skeleton, list[Atom]] | None:
    """Return the skeleton of a text, its names and constants; None for what is no query anyway.

    Two texts of one skeleton have the same tokens but for which names they mention and for the
    values of literals and numbers.
    """
    if len(text) > TEXT_LENGTH_MAX:
        return None
    pieces: list[str] = []
    values: list[Atom] = []
    places: dict[str, str] = {}
    end = 0
    for match in _PIECES.finditer(text):
        if match.start() != end:
            return None
        end = match.end()
        kind = match.lastindex or 1
        pieces.append(match[1])
        if kind == 1:
            break
        if kind == 2:
            name = match[2]
            if name not in places:
                places[name] = str(len(values))
                values.append(name)
            pieces.append(places[name])
        else:
            pieces.append("number" if kind == 5 else "literal")
            values.append(float(match[5]) if kind == 5 else match[kind])
    return (tuple(pieces), values) if end == len(text) else None
