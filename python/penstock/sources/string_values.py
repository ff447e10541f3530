"""String values of elements that are at hand as source text."""

from __future__ import annotations

import re

from penstock.kernel import ALONE, Surroundings

_QUOTED = r"\"[^\"]*\"|'[^']*'"
_MARKUP = re.compile(
    rf"<!\[CDATA\[(?P<cdata>.*?)\]\]>|<!--.*?-->|<\?.*?\?>|<(?:[^\"'>]|{_QUOTED})*>", re.DOTALL
)
_CHARACTER = re.compile(r"&(?:#x([0-9a-fA-F]+)|#([0-9]+)|([a-z]+));")
_PREDEFINED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


def string_value(element: str, around: Surroundings = ALONE) -> str:
    """Return the string value of an element, given its source text and what is around it.

    The text is a slice of a document that was checked to be well-formed.
    """
    text = around.expand(element)
    parts = []
    last = 0
    for markup in _MARKUP.finditer(text):
        parts.append(_characters(text[last : markup.start()]))
        parts.append(_lines(markup["cdata"] or ""))
        last = markup.end()
    parts.append(_characters(text[last:]))
    return "".join(parts)


def _characters(text: str) -> str:
    text = _lines(text)
    return _CHARACTER.sub(_character, text) if "&" in text else text


def _character(found: re.Match[str]) -> str:
    hexadecimal, decimal, name = found.groups()
    if name:
        return _PREDEFINED[name]
    return chr(int(hexadecimal, 16) if hexadecimal else int(decimal))


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
