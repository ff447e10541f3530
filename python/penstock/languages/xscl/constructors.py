"""The constructor of a SELECT clause: an element with variables in braces.

``{x}`` inserts the node of a variable, ``{string(x)}`` its string value; in an attribute it is
always the string value. ``{{`` and ``}}`` stand for braces.
"""

from __future__ import annotations

import re

from penstock.errors import QueryError
from penstock.languages.lazy_patterns import lazy_pattern
from penstock.languages.xpath.parser import NESTING_MAX
from penstock.languages.xscl.syntax import Name, Selection
from penstock.twigs import Element, Insert, Literal
from penstock.twigs.outputs import Content

_NAME = r"[A-Za-z_\u0080-\uffff][\w.\u00b7-]*"
_BEGIN = re.compile(r"[ \t\r\n]*SELECT[ \t\r\n]*(?=<)")
_SPACE = re.compile(r"[ \t\r\n]*")
_TAG = lazy_pattern(rf"<({_NAME})")
_CLOSE = lazy_pattern(rf"</({_NAME})[ \t\r\n]*>")
_ATTRIBUTE = lazy_pattern(rf"""({_NAME})[ \t\r\n]*=[ \t\r\n]*(["'])""")
_INSERT = lazy_pattern(
    rf"\{{[ \t\r\n]*(?:string[ \t\r\n]*\([ \t\r\n]*({_NAME})[ \t\r\n]*\)|({_NAME}))[ \t\r\n]*\}}"
)
_REFERENCE = re.compile(r"&(?:(lt|gt|amp|quot|apos)|#([0-9]+)|#x([0-9A-Fa-f]+));")
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


def parse_constructor(text: str) -> tuple[Selection | None, int]:
    """Return the constructor that a text begins with, SELECT included, and where it ends.

    Without one: None and 0.

    Raises:
        QueryError: It is not well-formed.
    """
    begin = _BEGIN.match(text)
    if begin is None:
        return None, 0
    parser = _Constructor(text, begin.end())
    element = parser.element(0)
    return Selection(tuple(parser.names), (element,)), parser.position


class _Constructor:
    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position
        self.names: list[Name] = []

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Take what the pattern matches here, if it does."""
        found = pattern.match(self.text, self.position)
        if found is not None:
            self.position = found.end()
        return found

    def element(self, depth: int) -> Element:
        """Parse an element, from its start tag to its end tag."""
        start = self.position
        tag = self.take(_TAG)
        if tag is None:
            raise self.fail("a start tag should stand here", "write <name>, with its end </name>")
        if depth >= NESTING_MAX:
            raise self.fail("elements are nested too deeply", "use fewer levels", start)
        attributes = self.attributes()
        self.take(_SPACE)
        if self.text.startswith("/>", self.position):
            self.position += 2
            return Element(tag[1], attributes)
        self.expect(">")
        content = self.content(depth, "")
        close = self.take(_CLOSE)
        if close is None or close[1] != tag[1]:
            found = "ends nowhere" if close is None else f"ends with </{close[1]}>"
            raise self.fail(f"<{tag[1]}> {found}", f"close it with </{tag[1]}>", start)
        return Element(tag[1], attributes, content)

    def attributes(self) -> tuple[tuple[str, tuple[Content, ...]], ...]:
        """Parse the attributes of a start tag."""
        found: dict[str, tuple[Content, ...]] = {}
        while True:
            self.take(_SPACE)
            start = self.position
            name = self.take(_ATTRIBUTE)
            if name is None:
                return tuple(found.items())
            if name[1] in found:
                raise self.fail(f"the attribute `{name[1]}` stands twice", "keep one", start)
            value = self.content(0, name[2])
            self.expect(name[2])
            if name[1] == "xmlns" and not all(isinstance(part, Literal) for part in value):
                way_out = "write the namespace itself"
                raise self.fail("a namespace is declared by a variable", way_out, start)
            found[name[1]] = value

    def content(self, depth: int, quote: str) -> tuple[Content, ...]:
        """Parse content up to an end tag, or within quotes up to the closing one."""
        parts: list[Content] = []
        while self.position < len(self.text):
            start = self.position
            literal = self.literal(quote)
            # White space between tags and braces is layout, as in XQuery.
            if literal and (quote or not self.text[start : self.position].isspace()):
                parts.append(Literal(literal))
            if self.text.startswith((quote or "</", "</"), self.position):
                break
            if self.text.startswith("{", self.position):
                parts.append(self.insert(bool(quote)))
            elif self.position < len(self.text):
                parts.append(self.nested(depth, quote))
        return tuple(parts)

    def literal(self, quote: str) -> str:
        """Take characters up to a tag, a variable or the closing quote."""
        pieces = []
        while self.position < len(self.text) and self.text[self.position] != quote:
            piece = self.characters(self.text[self.position])
            if piece is None:
                break
            pieces.append(piece)
        return "".join(pieces)

    def characters(self, character: str) -> str | None:
        """Take a piece of literal text; None where something else begins."""
        doubled = self.text[self.position : self.position + 2]
        if doubled in ("{{", "}}"):
            self.position += 2
            return character
        if character == "}":
            raise self.fail("a brace closes what none opened", "write }} for the character itself")
        if character == "&":
            return self.reference()
        if character in "<{":
            return None
        self.position += 1
        return character

    def reference(self) -> str:
        """Take a reference to a character."""
        found = self.take(_REFERENCE)
        if found is None:
            raise self.fail("& begins a reference that is none", "write &amp; for the character")
        named, decimal, hexadecimal = found.groups()
        if named:
            return _ENTITIES[named]
        code = int(decimal) if decimal else int(hexadecimal, 16)
        is_character = code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE
        if not is_character and not 0x10000 <= code < 0x110000:
            raise self.fail("no XML contains this character", "remove it", found.start())
        return chr(code)

    def insert(self, is_attribute: bool) -> Insert:
        """Take a variable in braces."""
        start = self.position
        found = self.take(_INSERT)
        if found is None:
            end = self.text.find("}", start)
            self.position = len(self.text) if end < 0 else end + 1
            way_out = "write {x} or {string(x)}; bind the node in its block to name it"
            raise self.fail("only a variable can stand in braces", way_out, start)
        group = 1 if found[1] else 2
        self.names.append(Name(found[group], found.span(group)))
        return Insert(found[group], as_value=is_attribute or group == 1)

    def nested(self, depth: int, quote: str) -> Element:
        """Parse an element inside another."""
        if quote:
            raise self.fail("an attribute contains no element", "write &lt; for the character")
        return self.element(depth + 1)

    def expect(self, text: str) -> None:
        """Take a text or raise."""
        if not self.text.startswith(text, self.position):
            raise self.fail(f"{text} should stand here", "check the tag before it")
        self.position += len(text)

    def fail(self, message: str, way_out: str, start: int | None = None) -> QueryError:
        """Return the error about what stands from ``start`` to here."""
        begin = self.position if start is None else start
        span = (begin, max(self.position, begin + 1))
        return QueryError("PQ0407", message, span, way_out, self.text)
