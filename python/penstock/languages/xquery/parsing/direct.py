"""Direct constructors: elements, comments and instructions written as in XML.

Inside them the rules are those of XML: no comments ``(: :)``, references stand for characters,
and only braces lead back to expressions.
"""

from __future__ import annotations

import re

from penstock.errors import QueryError
from penstock.languages.xpath.tokens import NC_NAME
from penstock.languages.xquery import syntax as y
from penstock.languages.xquery.literals import normal_lines, referred
from penstock.languages.xquery.parsing.flwor import FlworParser

_SPACE = re.compile(r"[ \t\r\n]*")
_NAME = re.compile(rf"(?:({NC_NAME}):)?({NC_NAME})")
_TEXT = re.compile(r"[^<{}&]+")
_VALUE = {quote: re.compile(rf"[^<{{}}&{quote}]+") for quote in "\"'"}
_COMMENT = re.compile(r"<!--((?:[^-]|-[^-])*)-->")
_INSTRUCTION = re.compile(rf"<\?({NC_NAME})(?:[ \t\r\n]+(.*?))?\?>", re.DOTALL)
_LAYOUT = str.maketrans("\t\n", "  ")


class DirectParser(FlworParser):
    """Adds direct constructors to the parser."""

    def parse_direct(self) -> y.Expression:
        """Parse a direct constructor; the next token is its ``<``."""
        self.place = self.token.start
        return self._parse_node()

    def _parse_node(self) -> y.Expression:
        if self.text.startswith("<!--", self.place):
            return self._parse_comment()
        if self.text.startswith("<?", self.place):
            return self._parse_instruction()
        return self.nested(self._parse_element, (self.place, self.place + 1))

    def _parse_comment(self) -> y.Expression:
        match = _COMMENT.match(self.text, self.place)
        if match is None:
            way_out = "end it with -->; no other -- may stand in it"
            raise self._malformed("this is no comment of XML", way_out, self.place + 4)
        self.place = match.end()
        return y.DirectComment(normal_lines(match[1]), match.span())

    def _parse_instruction(self) -> y.Expression:
        match = _INSTRUCTION.match(self.text, self.place)
        if match is None:
            way_out = "write <?target text?>, without a colon or a space before the target"
            raise self._malformed("this is no processing instruction", way_out, self.place + 2)
        if match[1].lower() == "xml":
            message = f"`{match[1]}` cannot be the target of an instruction"
            raise self.error("PQ0502", message, match.span(1), "use another target")
        self.place = match.end()
        return y.DirectInstruction(match[1], normal_lines(match[2] or ""), match.span())

    def _parse_element(self) -> y.Expression:
        start = self.place
        self.place += 1
        name = self._take_name("the name of an element")
        attributes = self._parse_attributes()
        if self._take("/>"):
            return y.DirectElement(name, attributes, (), (start, self.place))
        if not self._take(">"):
            message = f"the start tag of <{name.text}> should end here"
            raise self._malformed(message, "write > or />; an attribute is name='value'")
        content = self._parse_content(name)
        end = self.place
        self.place += 2
        closing = self._take_name(f"`{name.text}`")
        self._skip_space()
        if not self._take(">"):
            raise self._malformed("the end tag should end here", "write >")
        if closing != name:
            message = f"</{closing.text}> ends <{name.text}>"
            way_out = f"write </{name.text}>"
            raise self.error("PQ0502", message, (end, self.place), way_out)
        return y.DirectElement(name, attributes, content, (start, self.place))

    def _parse_attributes(self) -> tuple[y.DirectAttribute, ...]:
        attributes: list[y.DirectAttribute] = []
        while True:
            has_space = self._skip_space()
            start = self.place
            if not _NAME.match(self.text, start):
                return tuple(attributes)
            if not has_space:
                raise self._malformed("a space should stand before the attribute", "add a space")
            name = self._take_name("the name of an attribute")
            self._skip_space()
            if not self._take("="):
                message = f"the attribute `{name.text}` has no value"
                raise self._malformed(message, f'write {name.text}="…"')
            self._skip_space()
            value = self._parse_value(name)
            attributes.append(y.DirectAttribute(name, value, (start, self.place)))

    def _parse_value(self, name: y.QName) -> tuple[y.Characters | y.Enclosed, ...]:
        quote = self.text[self.place : self.place + 1]
        if quote not in _VALUE:
            message = f"the value of `{name.text}` has no quotes"
            raise self._malformed(message, f'write {name.text}="…"')
        start = self.place
        self.place += 1
        parts: list[y.Characters | y.Enclosed] = []
        while True:
            literal = self._parse_literal(_VALUE[quote], quote)
            if literal is not None:
                parts.append(literal)
            if self._take(quote):
                return tuple(parts)
            if self._starts("{"):
                parts.append(self._parse_enclosed())
            elif self._starts("<"):
                message = "an attribute cannot contain <"
                raise self._malformed(message, "write &lt; for the character")
            else:
                message, way_out = "the value of the attribute never ends", f"close it with {quote}"
                raise self.error("PQ0102", message, (start, len(self.text)), way_out)

    def _parse_content(self, name: y.QName) -> tuple[y.Expression | y.Characters | y.Enclosed, ...]:
        """Parse content up to the end tag of the element."""
        parts: list[y.Expression | y.Characters | y.Enclosed] = []
        while True:
            literal = self._parse_literal(_TEXT, "")
            if literal is not None:
                parts.append(literal)
            if self._starts("</"):
                return tuple(parts)
            if self._starts("{"):
                parts.append(self._parse_enclosed())
            elif self._starts("<"):
                parts.append(self._parse_node())
            else:
                message = f"<{name.text}> has no end tag"
                way_out = f"write </{name.text}>"
                raise self.error("PQ0502", message, name.span, way_out)

    def _parse_literal(self, plain: re.Pattern[str], quote: str) -> y.Characters | None:
        """Parse characters up to a tag, an expression or the closing quote; None if none come.

        In a value (``quote`` is not empty) layout becomes spaces. Space is boundary space only
        if it is written as itself, and nothing but space stands in the run.
        """
        start = self.place
        pieces: list[str] = []
        is_space = not quote
        while True:
            match = plain.match(self.text, self.place)
            if match is not None:
                self.place = match.end()
                piece = normal_lines(match[0])
                is_space = is_space and not piece.strip(" \t\n")
                pieces.append(piece.translate(_LAYOUT) if quote else piece)
                continue
            piece_or_none = self._parse_escape(quote)
            if piece_or_none is None:
                break
            is_space = False
            pieces.append(piece_or_none)
        if self.place == start:
            return None
        return y.Characters("".join(pieces), is_space, (start, self.place))

    def _parse_escape(self, quote: str) -> str | None:
        """Parse what stands for other characters; None where something else begins."""
        for doubled in ("{{", "}}", quote * 2):
            if doubled and self._take(doubled):
                return doubled[0]
        if self._starts("}"):
            raise self._malformed("} closes what no { opened", "write }} for the character")
        if self._starts("&"):
            character, self.place = referred(self.text, self.place)
            return character
        if not quote and self._starts("<![CDATA["):
            end = self.text.find("]]>", self.place)
            if end < 0:
                raise self._malformed("the CDATA section never ends", "close it with ]]>")
            section = normal_lines(self.text[self.place + 9 : end])
            self.place = end + 3
            return section
        return None

    def _parse_enclosed(self) -> y.Enclosed:
        start = self.place
        self.expect("{")
        expression = self.parse_expression()
        self.expect("}")
        return y.Enclosed(expression, (start, self.place))

    # Characters

    def _starts(self, text: str) -> bool:
        return self.text.startswith(text, self.place)

    def _take(self, text: str) -> bool:
        if not self._starts(text):
            return False
        self.place += len(text)
        return True

    def _skip_space(self) -> bool:
        match = _SPACE.match(self.text, self.place)
        assert match is not None
        self.place = match.end()
        return bool(match[0])

    def _take_name(self, wanted: str) -> y.QName:
        match = _NAME.match(self.text, self.place)
        if match is None:
            raise self._malformed(f"{wanted} should stand here", f"write {wanted}")
        self.place = match.end()
        return y.QName(match[1] or "", match[2], match.span())

    def _malformed(self, message: str, way_out: str, end: int | None = None) -> QueryError:
        place = min(self.place, len(self.text))
        span = (place, min(place + 1 if end is None else end, len(self.text)))
        return self.error("PQ0502", message, span, way_out)
