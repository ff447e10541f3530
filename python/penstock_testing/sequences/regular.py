"""Regular expressions of XPath, translated to those of Python."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache

from penstock_testing.sequences.errors import DynamicError

_FLAGS = {"s": re.DOTALL, "m": re.MULTILINE, "i": re.IGNORECASE, "x": re.VERBOSE}
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_LITERAL = "\\|.-^?*+{}()[]$"
_QUANTIFIER = re.compile(r"(?:[?*+]|\{\d+(?:,\d*)?\})\??")
_CATEGORY = re.compile(r"\{(Is[A-Za-z0-9-]+|[LMNPZSC][a-z]?)\}")
_CLASSES = {
    "d": r"\d",
    "D": r"\D",
    "s": r" \t\n\r",
    "i": r"A-Za-z_:À-ÖØ-öø-˿Ͱ-ͽͿ-῿‌-‍⁰-↏Ⰰ-⿯、-퟿豈-﷏ﷰ-�",
    "c": r"A-Za-z_:0-9.\-·À-ÖØ-öø-˿̀-ͽͿ-῿‌-‍‿-⁀⁰-↏Ⰰ-⿯、-퟿豈-﷏ﷰ-�",
}


@lru_cache(512)
def compiled(pattern: str, flags: str) -> re.Pattern[str]:
    """Return a pattern for Python.

    Raises:
        DynamicError: FORX0001, a flag is unknown; FORX0002, the pattern is none.
    """
    if set(flags) - set(_FLAGS):
        raise DynamicError("FORX0001", f"{flags!r} are no flags")
    if "x" in flags:
        pattern = _without_spaces(pattern)
    translated = _Translator(pattern, "s" in flags, "m" in flags).translate()
    options = 0
    for flag in set(flags) - {"x"}:
        options |= _FLAGS[flag]
    try:
        return re.compile(translated, options)
    except (re.error, OverflowError) as error:
        raise DynamicError("FORX0002", f"{pattern!r} is no pattern: {error}") from None


def _without_spaces(pattern: str) -> str:
    """Return a pattern without spaces outside of classes."""
    kept, depth, place = "", 0, 0
    while place < len(pattern):
        character = pattern[place]
        if character == "\\":
            kept += pattern[place : place + 2]
            place += 2
            continue
        depth += (character == "[") - (character == "]")
        if depth or character not in " \t\n\r":
            kept += character
        place += 1
    return kept


class _Translator:
    """Reads a pattern from left to right; whatever XPath does not have is an error."""

    def __init__(self, pattern: str, is_dot_all: bool, is_multiline: bool) -> None:
        self.pattern = pattern
        self.place = 0
        self.is_dot_all = is_dot_all
        self.is_multiline = is_multiline
        self.open_groups: list[int] = []
        self.closed_groups: set[int] = set()
        self.groups = 0

    def translate(self) -> str:
        written = ""
        can_repeat = False
        while self.place < len(self.pattern):
            part, can_repeat = self.part(can_repeat)
            written += part
        if self.open_groups:
            raise self.wrong("a group is not closed")
        return written

    def part(self, can_repeat: bool) -> tuple[str, bool]:
        """Return the next part, and whether a quantifier may come behind it."""
        character = self.pattern[self.place]
        if character in "?*+{":
            found = _QUANTIFIER.match(self.pattern, self.place)
            if not can_repeat or found is None:
                raise self.wrong("there is nothing to repeat")
            self.place = found.end()
            return found[0], False
        if character == "[":
            return self.character_class(), True
        self.place += 1
        match character:
            case "\\":
                return self.escape(), True
            case "(":
                if self.pattern.startswith("?", self.place):
                    raise self.wrong("groups have no options")
                self.groups += 1
                self.open_groups.append(self.groups)
                return "(", False
            case ")":
                if not self.open_groups:
                    raise self.wrong("a group is not opened")
                self.closed_groups.add(self.open_groups.pop())
                return ")", True
            case "|":
                return "|", False
            case "^":
                return "^", False
            case "$":
                return ("$" if self.is_multiline else r"\Z"), False
            case ".":
                return ("." if self.is_dot_all else r"[^\n\r]"), True
            case "]" | "}":
                raise self.wrong(f"{character} stands alone")
        return re.escape(character), True

    def escape(self) -> str:
        if self.place >= len(self.pattern):
            raise self.wrong("it ends with a backslash")
        character = self.pattern[self.place]
        if character.isdigit():
            return self.back_reference()
        return self.class_escape()

    def back_reference(self) -> str:
        number = int(self.pattern[self.place])
        self.place += 1
        if number not in self.closed_groups:
            raise self.wrong(f"there is no group {number} before")
        return f"(?:\\{number})"

    def class_escape(self) -> str:
        """Return an escape as a class or a character of its own."""
        character = self.pattern[self.place]
        self.place += 1
        if character in _ESCAPED:
            return re.escape(_ESCAPED[character])
        if character in _LITERAL:
            return re.escape(character)
        if character in "pP":
            return self.category(is_inverse=character == "P")
        if character in "dD":
            return _CLASSES[character]
        if character in "wW":
            outside = _category_class("P") + _category_class("Z") + _category_class("C")
            return f"[{'^' if character == 'w' else ''}{outside}]"
        if character.lower() in _CLASSES:
            return f"[{'^' if character.isupper() else ''}{_CLASSES[character.lower()]}]"
        raise self.wrong(f"\\{character} means nothing")

    def category(self, is_inverse: bool) -> str:
        found = _CATEGORY.match(self.pattern, self.place)
        if found is None or found[1].startswith("Is"):
            raise self.wrong("there is no such category")
        self.place = found.end()
        return f"[{'^' if is_inverse else ''}{_category_class(found[1])}]"

    def character_class(self) -> str:
        """Return a class as a choice; what is taken away is looked at before."""
        self.place += 1
        is_inverse = self.pattern.startswith("^", self.place)
        self.place += is_inverse
        members: list[str] = []
        taken = ""
        while True:
            if self.place >= len(self.pattern):
                raise self.wrong("a class is not closed")
            if self.pattern[self.place] == "]":
                self.place += 1
                break
            if self.pattern.startswith("-[", self.place) and members:
                self.place += 1
                taken = f"(?!{self.character_class()})"
                if not self.pattern.startswith("]", self.place):
                    raise self.wrong("a subtraction ends its class")
                continue
            members.append(self.member())
        if not members:
            raise self.wrong("a class is empty")
        choice = f"(?:{'|'.join(members)})"
        return f"(?:{taken}{f'(?!{choice})(?s:.)' if is_inverse else choice})"

    def member(self) -> str:
        start, text = self.character()
        if start is None:
            return text
        is_range = self.pattern.startswith("-", self.place) and not self.pattern.startswith(
            ("-[", "-]"), self.place
        )
        if not is_range:
            return text
        self.place += 1
        if self.place >= len(self.pattern):
            raise self.wrong("a class is not closed")
        end, _ = self.character()
        if end is None or end < start:
            raise self.wrong("a range is between two characters in order")
        return f"[{re.escape(start)}-{re.escape(end)}]"

    def character(self) -> tuple[str | None, str]:
        """Return the next character of a class, None for a whole class, and its text."""
        character = self.pattern[self.place]
        if character == "[":
            raise self.wrong("a class stands in a class")
        if character != "\\":
            self.place += 1
            return character, re.escape(character)
        self.place += 1
        if self.place >= len(self.pattern):
            raise self.wrong("it ends with a backslash")
        name = self.pattern[self.place]
        text = self.class_escape()
        if name in _ESCAPED:
            return _ESCAPED[name], text
        return (name if name in _LITERAL else None), text

    def wrong(self, reason: str) -> DynamicError:
        return DynamicError("FORX0002", f"{self.pattern!r} is no pattern: {reason}")


@lru_cache(64)
def _category_class(name: str) -> str:
    """Return all characters of a category, as ranges of a class."""
    ranges: list[tuple[int, int]] = []
    for code in range(sys.maxunicode + 1):
        if 0xD800 <= code <= 0xDFFF or not unicodedata.category(chr(code)).startswith(name):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in ranges)
