"""Sequence types, and the tests of kinds of nodes that paths and types share."""

from __future__ import annotations

from penstock.languages.xquery import syntax as y
from penstock.languages.xquery.literals import string_value
from penstock.languages.xquery.parsing.reading import Reader
from penstock.languages.xquery.rejections import rejection
from penstock.languages.xquery.tokens import Token, TokenKind

KIND_TESTS = frozenset(
    {
        "node",
        "text",
        "comment",
        "processing-instruction",
        "element",
        "attribute",
        "document-node",
        "schema-element",
        "schema-attribute",
    }
)
_LATER_TYPES = {"map": "maps", "array": "arrays", "function": "functions as values"}


class TypeParser(Reader):
    """Adds types to the parser."""

    def parse_optional_type(self) -> y.SequenceType | None:
        """Parse ``as type``, if it comes next."""
        if not self.is_word("as"):
            return None
        self.advance()
        return self.parse_sequence_type()

    def parse_sequence_type(self) -> y.SequenceType:
        """Parse a type of items and how many of them."""
        token = self.token
        if self.are_words("empty-sequence", "("):
            self.advance()
            self.advance()
            self.expect(")")
            return y.SequenceType(None, "0", self.span_from(token.start))
        item = self.parse_item_type()
        occurrence = self.advance().text if self.is_symbol("?", "*", "+") else ""
        return y.SequenceType(item, occurrence, self.span_from(token.start))

    def parse_item_type(self) -> y.QName | y.KindTest | None:
        """Parse the type of one item; ``item()`` is None."""
        token = self.token
        if token.kind is not TokenKind.NAME:
            raise self.unexpected("a type")
        if self.peek().text != "(":
            return self.name_of(self.advance())
        if token.text == "item":
            self.advance()
            self.advance()
            self.expect(")")
            return None
        if token.text in KIND_TESTS:
            return self.parse_kind_test()
        if token.text in _LATER_TYPES:
            raise rejection(_LATER_TYPES[token.text], token.span, self.text)
        message = f"`{token.text}()` is no type"
        way_out = "write item(), node(), element(), text() or the name of a type such as xs:string"
        raise self.error("PQ0103", message, token.span, way_out)

    def parse_single_type(self) -> y.SequenceType:
        """Parse the type that a value is cast to."""
        name = self.expect_name("an atomic type")
        occurrence = self.advance().text if self.is_symbol("?") else ""
        return y.SequenceType(name, occurrence, self.span_from(name.span[0]))

    def parse_kind_test(self) -> y.KindTest:
        """Parse a test of a kind of nodes, from its name to its closing parenthesis."""
        token = self.advance()
        if token.text in ("schema-element", "schema-attribute"):
            raise rejection("schema", token.span, self.text)
        self.expect("(")
        match token.text:
            case "element" | "attribute":
                test = self._named_test(token)
            case "processing-instruction":
                test = y.KindTest(token.text, token.span, target=self._target())
            case "document-node" if not self.is_symbol(")"):
                test = y.KindTest(token.text, token.span, element=self._element_test())
            case _:
                test = y.KindTest(token.text, token.span)
        self.expect(")")
        return test

    def _element_test(self) -> y.KindTest:
        if self.is_word("schema-element"):
            raise rejection("schema", self.token.span, self.text)
        if not self.are_words("element", "("):
            raise self.unexpected("element(…)")
        return self.parse_kind_test()

    def _named_test(self, token: Token) -> y.KindTest:
        """Parse what stands between the parentheses of ``element`` or ``attribute``."""
        if self.is_symbol(")"):
            return y.KindTest(token.text, token.span)
        if self.is_symbol("*"):
            name = y.NameTest("*", None, self.advance().span)
        else:
            written = self.expect_name("a name or *")
            name = y.NameTest(written.prefix, written.local, written.span)
        of_type = None
        if self.take_symbol(","):
            of_type = self.expect_name("the name of a type")
            if token.text == "element":
                self.take_symbol("?")
        return y.KindTest(token.text, token.span, name, of_type)

    def _target(self) -> str | None:
        if self.is_symbol(")"):
            return None
        if self.token.kind is TokenKind.STRING:
            return " ".join(string_value(self.text, self.advance().span).split())
        target = self.expect_name("the target of an instruction")
        if target.prefix:
            message = "the target of an instruction has no prefix"
            raise self.error("PQ0103", message, target.span, f"write {target.local}")
        return target.local
