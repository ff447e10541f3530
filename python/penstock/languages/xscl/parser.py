"""Recursive descent over XSCL: its own clauses, and the paths of XPath with variables in them."""

from __future__ import annotations

from dataclasses import replace

from penstock.errors import QueryError
from penstock.languages.xpath.parser import Parser
from penstock.languages.xpath.syntax import COMPARISONS, Path, Step
from penstock.languages.xpath.tokens import TokenKind, token_pattern, tokenize
from penstock.languages.xscl import syntax, windows
from penstock.languages.xscl.constructors import parse_constructor
from penstock.twigs import JoinKind

BLOCKS_MAX = 32
"""Blocks of one query."""

TERMS_MAX = 256
"""Terms of one predicate."""

_PATTERN = token_pattern(r"->|[{}]|")
_OPERATORS = ("JOIN", "FOLLOWED BY", "NOT FOLLOWED BY")
KEYWORDS = frozenset("SELECT FROM JOIN FOLLOWED BY NOT AND AS PUBLISH".split())


class XsclParser(Parser):
    """Parses one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.constructor, end = parse_constructor(text)
        # A constructor is no XPath: blanks stand for it, so that every span stays true.
        rest = " " * end + text[end:]
        self.tokens = tokenize(rest, self.operator_names, _PATTERN)
        self.index = 0
        self.nesting = 0
        self.trace = None
        self.bindings: dict[tuple[int, int], syntax.Name] = {}

    def parse_query(self) -> syntax.XsclSyntax:
        """Return the query that the whole text is.

        Raises:
            QueryError: It is none; the span covers the first token that does not fit.
        """
        selection = self.parse_selection()
        blocks = [self.parse_block()]
        operators = []
        while self.at_operator():
            operators.append(self.parse_operator())
            blocks.append(self.parse_block())
            if len(blocks) > BLOCKS_MAX:
                message = f"the query has more than {BLOCKS_MAX} blocks"
                way_out = "publish a part of it as a stream, and read that"
                raise self.error("PQ0105", message, blocks[-1].span, way_out)
        publish = None
        if self.take_keyword("PUBLISH"):
            publish = self.parse_name("the name of a stream", is_literal_allowed=True)
        if self.token.kind is not TokenKind.END:
            raise self.unexpected("an operator, PUBLISH or the end of the query")
        return syntax.XsclSyntax(selection, tuple(blocks), tuple(operators), publish, self.bindings)

    # Words

    def at_keyword(self, *words: str) -> bool:
        """Return whether the next tokens are these words."""
        tokens = [self.peek(ahead) for ahead in range(len(words))]
        return all(
            token.kind in (TokenKind.NAME, TokenKind.OPERATOR) and token.text == word
            for token, word in zip(tokens, words, strict=True)
        )

    def take_keyword(self, word: str) -> bool:
        """Take a word if it comes next."""
        found = self.at_keyword(word)
        if found:
            self.advance()
        return found

    def parse_name(self, wanted: str, *, is_literal_allowed: bool = False) -> syntax.Name:
        """Parse a name that the author chose."""
        token = self.token
        if is_literal_allowed and token.kind is TokenKind.LITERAL and len(token.text) > 2:
            self.advance()
            return syntax.Name(token.text[1:-1], token.span)
        if token.kind is not TokenKind.NAME or token.text == "*" or token.text in KEYWORDS:
            raise self.unexpected(wanted)
        self.advance()
        return syntax.Name(token.text, token.span)

    # Clauses

    def parse_selection(self) -> syntax.Selection | None:
        """Parse SELECT and FROM; None stands for the roots of all blocks."""
        selection = self.constructor
        if selection is None and self.take_keyword("SELECT"):
            if self.token.text == "*":
                self.advance()
            else:
                names = [self.parse_name("a variable, * or a constructor")]
                while self.is_symbol(","):
                    self.advance()
                    names.append(self.parse_name("a variable"))
                if self.is_symbol("/", "//", "["):
                    raise self.error(
                        "PQ0411",
                        "a path in SELECT is not evaluated yet",
                        self.token.span,
                        "bind the node in its block, …[.//title->t], and select t",
                    )
                selection = syntax.Selection(tuple(names))
            if not self.at_keyword("FROM"):
                raise self.unexpected("FROM")
        self.take_keyword("FROM")
        return selection

    def parse_block(self) -> syntax.BlockSyntax:
        """Parse a stream and the path after it."""
        start = self.token.start
        if self.is_symbol("/", "//"):
            message = "a block begins with the name of its stream"
            raise self.error("PQ0401", message, self.token.span, "write S//book for the stream S")
        stream = self.parse_name("the name of a stream", is_literal_allowed=True)
        document = self.parse_binding()
        path = None
        if self.is_symbol("/", "//"):
            parsed = self.parse_path()
            assert isinstance(parsed, Path)
            path = parsed
        return syntax.BlockSyntax(stream, document, path, self.span_from(start))

    def at_operator(self) -> bool:
        """Return whether an operator comes next."""
        return any(self.at_keyword(*operator.split()) for operator in _OPERATORS)

    def parse_operator(self) -> syntax.OperatorSyntax:
        """Parse an operator and its braces."""
        start = self.token.start
        words = []
        while not self.is_symbol("{"):
            if self.token.text not in ("NOT", "FOLLOWED", "BY", "JOIN"):
                raise self.unexpected("`{`")
            words.append(self.advance().text)
        kind = JoinKind(" ".join(words))
        self.expect("{")
        terms = [self.parse_term()]
        while self.take_keyword("AND") or self.take_keyword("and"):
            terms.append(self.parse_term())
            if len(terms) > TERMS_MAX:
                message = f"the predicate has more than {TERMS_MAX} terms"
                way_out = "use fewer terms; what concerns one block alone belongs into its brackets"
                raise self.error("PQ0105", message, terms[-1].span, way_out)
        if self.at_keyword("or") or self.at_keyword("OR"):
            message = "`or` between terms is not evaluated yet"
            raise self.error("PQ0412", message, self.token.span, "make it two subscriptions")
        if self.is_symbol("}"):
            message = "the operator has no window"
            way_out = "add one: {x = y, 7 days}, or INF for no bound"
            raise self.error("PQ0406", message, self.token.span, way_out)
        self.expect(",")
        window_span = self.token.span if self.token.kind is TokenKind.NUMBER else None
        window = self.parse_window()
        self.expect("}")
        span = self.span_from(start)
        return syntax.OperatorSyntax(kind, tuple(terms), window, window_span, span)

    def parse_term(self) -> syntax.TermSyntax:
        """Parse a comparison."""
        start = self.token.start
        left = self.parse_unary()
        if self.token.text not in COMPARISONS:
            raise self.unexpected("=, !=, <, <=, > or >=")
        operator = self.advance().text
        right = self.parse_unary()
        return syntax.TermSyntax(left, operator, right, self.span_from(start))

    def parse_window(self) -> float | None:
        """Parse a number of seconds, a number with a unit, or INF."""
        token = self.token
        if token.text == windows.INFINITE:
            self.advance()
            return None
        if token.kind is not TokenKind.NUMBER:
            raise self.unexpected("a window, such as 90 s, 7 days or INF,")
        self.advance()
        unit_seconds = 1.0
        unit = self.token
        if unit.kind is TokenKind.NAME:
            if unit.text not in windows.UNIT_SECONDS:
                message = f"`{unit.text}` is no unit of time"
                raise self.error("PQ0406", message, unit.span, windows.suggest_unit(unit.text))
            self.advance()
            unit_seconds = windows.UNIT_SECONDS[unit.text]
        seconds = windows.window_seconds(token.text, unit_seconds)
        if seconds > windows.WINDOW_SECONDS_MAX:
            message = f"the window is longer than {windows.WINDOW_SECONDS_MAX:g} seconds"
            raise self.error("PQ0406", message, self.span_from(token.start), "write INF")
        return seconds

    # Variables

    def parse_step(self) -> Step:
        """Parse a step; predicates may stand before and after its variable."""
        start = self.token.start
        step = super().parse_step()
        name = self.parse_binding()
        if name is None:
            return step
        predicates = (*step.predicates, *self.parse_predicates())
        bound = replace(step, predicates=predicates, span=self.span_from(start))
        if self.at_binding():
            message = f"the step is bound to `{name.text}` already"
            raise self.error("PQ0402", message, self.token.span, "one name for a node is enough")
        self.bindings[bound.span] = name
        return bound

    def parse_binding(self) -> syntax.Name | None:
        """Parse ``->x`` or ``AS x``, if it comes next."""
        if not self.at_binding():
            return None
        self.advance()
        return self.parse_name("a variable")

    def at_binding(self) -> bool:
        """Return whether a variable is bound here."""
        return self.is_symbol("->") or self.at_keyword("AS")

    def unexpected(self, wanted: str) -> QueryError:
        """Return the error about the next token; a keyword in small letters gets its own."""
        token = self.token
        upper = token.text.upper()
        if token.kind is TokenKind.NAME and upper in KEYWORDS and token.text != upper:
            message = f"`{token.text}` cannot stand here"
            return self.error("PQ0103", message, token.span, f"XSCL writes {upper} in capitals")
        return super().unexpected(wanted)
