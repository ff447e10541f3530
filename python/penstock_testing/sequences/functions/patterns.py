"""Functions that match patterns."""

from __future__ import annotations

import re

from penstock_testing.sequences.context import Context
from penstock_testing.sequences.errors import DynamicError
from penstock_testing.sequences.functions.strings import text
from penstock_testing.sequences.functions.table import function
from penstock_testing.sequences.items import Items, boolean, string
from penstock_testing.sequences.regular import compiled


@function("matches", "string?", "string", "string", least=2)
def _matches(_context: Context, source: Items, pattern: Items, *flags: Items) -> Items:
    found = compiled(text(pattern), text(flags[0]) if flags else "").search(text(source))
    return [boolean(found is not None)]


@function("replace", "string?", "string", "string", "string", least=3)
def _replace(
    _context: Context, source: Items, pattern: Items, replacement: Items, *flags: Items
) -> Items:
    searched = _not_empty(pattern, flags)
    parts = _replacement_parts(text(replacement), searched.groups)

    def replaced(found: re.Match[str]) -> str:
        return "".join(
            part
            if isinstance(part, str)
            else (found[part] or "" if part <= searched.groups else "")
            for part in parts
        )

    return [string(searched.sub(replaced, text(source)))]


@function("tokenize", "string?", "string", "string", least=2)
def _tokenize(_context: Context, source: Items, pattern: Items, *flags: Items) -> Items:
    searched = _not_empty(pattern, flags)
    whole = text(source)
    if not whole:
        return []
    tokens, start = [], 0
    for found in searched.finditer(whole):
        tokens.append(whole[start : found.start()])
        start = found.end()
    return [string(token) for token in [*tokens, whole[start:]]]


def _not_empty(pattern: Items, flags: tuple[Items, ...]) -> re.Pattern[str]:
    """Return a pattern that does not match the empty string."""
    searched = compiled(text(pattern), text(flags[0]) if flags else "")
    if searched.search("") is not None:
        raise DynamicError("FORX0003", f"{text(pattern)!r} matches the empty string")
    return searched


def _replacement_parts(replacement: str, groups: int) -> list[str | int]:
    """Return texts and numbers of groups; a number has as many digits as there are groups."""
    parts: list[str | int] = []
    place = 0
    while place < len(replacement):
        character = replacement[place]
        if character == "\\":
            if replacement[place + 1 : place + 2] not in ("\\", "$"):
                raise DynamicError("FORX0004", "a backslash stands before a backslash or a dollar")
            parts.append(replacement[place + 1])
            place += 2
        elif character == "$":
            end = place + 1
            while replacement[end : end + 1].isdigit():
                if end > place + 1 and int(replacement[place + 1 : end + 1]) > groups:
                    break
                end += 1
            if end == place + 1:
                raise DynamicError("FORX0004", "a dollar stands before a digit")
            parts.append(int(replacement[place + 1 : end]))
            place = end
        else:
            parts.append(character)
            place += 1
    return parts
