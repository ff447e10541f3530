"""Records that stand alone: namespaces in scope declared, internal entities expanded."""

from __future__ import annotations

import re
from collections.abc import Mapping

from penstock.results.serialization import declare, expand

_QUOTED = r"\"[^\"]*\"|'[^']*'"
_START_TAG = re.compile(rf"<(?:[^\"'>]|{_QUOTED})*>".encode())
_FOREIGN = re.compile(r"&(?!lt;|gt;|amp;|quot;|apos;|#)")
_MARKUP = re.compile(
    rf"<!\[CDATA\[(?P<cdata>.*?)\]\]>|<!--.*?-->|<\?.*?\?>|<(?:[^\"'>]|{_QUOTED})*>", re.DOTALL
)
_CHARACTER = re.compile(r"&(?:#x([0-9a-fA-F]+)|#([0-9]+)|([a-z]+));")
_PREDEFINED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_TAGS_KEPT = 1024


class StandAlone:
    """Makes the records of one document stand alone; neighbours mostly share their start tag."""

    def __init__(self, declarations: Mapping[str, str]) -> None:
        self._declarations = declarations
        self._tags: dict[bytes, bytes] = {}

    def declare(self, record: bytes) -> bytes:
        """Return a record with the declarations added that its start tag does not make."""
        if not self._declarations:
            return record
        found = _START_TAG.match(record)
        assert found is not None, "a record begins with a start tag"
        tag = found[0]
        made = self._tags.get(tag)
        if made is None:
            if len(self._tags) >= _TAGS_KEPT:
                self._tags.clear()
            made = declare(tag.decode(), self._declarations).encode()
            self._tags[tag] = made
        return made + memoryview(record)[len(tag) :]


def expand_foreign(text: str, entities: Mapping[str, str]) -> str:
    """Return text whose only references are those that every document may make."""
    if "&" not in text or not _FOREIGN.search(text):
        return text
    return expand(text, entities)


def string_value(element: str, entities: Mapping[str, str]) -> str:
    """Return the string value of an element, given its source text.

    The text is a slice of a document that was checked to be well-formed.
    """
    text = expand_foreign(element, entities)
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
