"""A text apart from its names and constants: queries of one skeleton differ in those only.

Names of elements and attributes, streams, variables, literals and numbers stand in slots; words
of the language, functions, axes, prefixes and units belong to the skeleton. What a slot is for,
its role, is the same in all texts of a skeleton, because the grammar never looks at a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

from penstock.languages.lazy_patterns import lazy_pattern
from penstock.languages.xpath.syntax import Literal, NameTest, Number, Path, Span, nodes_in
from penstock.languages.xpath.tokens import NAME_INNER, NAME_START, TEXT_LENGTH_MAX
from penstock.languages.xscl.parser import KEYWORDS, XsclParser
from penstock.languages.xscl.syntax import XsclSyntax
from penstock.languages.xscl.windows import INFINITE, UNIT_SECONDS

MARK = "\u01c2"
"""A letter that no text with slots contains: whoever fills them can mark them by it."""

_WORDS = "|".join(sorted({*KEYWORDS, *UNIT_SECONDS, INFINITE, "OR", "and", "or", "div", "mod"}))
# A slot begins with its first character, and only then looks back at what is before it: that way
# the search passes by everything else at once.
_FREE = rf"(?<![{NAME_INNER}$-].)(?<![^:]:.)"
_SLOT = lazy_pattern(
    rf"""(\"[^\"]*\"|'[^']*'
      |[{NAME_START}]{_FREE}(?<!(?=(?:{_WORDS})(?![{NAME_INNER}:-])).)
       (?:[{NAME_INNER}]|-(?!>))*+(?![ \t\r\n]*+(?:\(|:))
      |(?:[0-9]{_FREE}[0-9]*+(?:\.[0-9]*+)?+|\.{_FREE}[0-9]++)
      )""",
    re.VERBOSE,
)
_CONSTRUCTOR = re.compile(r"[ \t\r\n]*SELECT[ \t\r\n]*<")

Skeleton = tuple[str, ...]


class Role(Enum):
    """What a slot is for."""

    NODE = "the name of an element or attribute"
    STREAM = "a stream that a block reads"
    BINDING = "a variable where it is bound"
    REFERENCE = "a variable where it is used"
    PUBLISH = "the stream that the query publishes"
    CONSTANT = "a literal or a number"
    WINDOW = "the number of a window"


def split(text: str) -> tuple[Skeleton, list[str]] | None:
    """Return the skeleton of a text and what stands in its slots, literals with their quotes.

    None for a text that has to be read as a whole: one with a constructor, and one too long.
    """
    if len(text) > TEXT_LENGTH_MAX or MARK in text or _CONSTRUCTOR.match(text):
        return None
    parts = _SLOT.split(text)
    return tuple(parts[0::2]), parts[1::2]


def roles_of(text: str) -> list[Role] | None:
    """Return the roles of the slots of a text; None if a slot has none, or a constant no slot.

    Raises:
        QueryError: The text is no query.
    """
    role_at = dict(_roles(XsclParser(text).parse_query()))
    spans = [match.span() for match in _SLOT.finditer(text)]
    roles = [role_at[span] for span in spans if span in role_at]
    constants = {span for span, role in role_at.items() if role is Role.CONSTANT}
    return roles if len(roles) == len(spans) and constants <= set(spans) else None


def _roles(syntax: XsclSyntax) -> Iterator[tuple[Span, Role]]:
    for name in syntax.bindings.values():
        yield name.span, Role.BINDING
    for name in () if syntax.selection is None else syntax.selection.names:
        yield name.span, Role.REFERENCE
    if syntax.publish is not None:
        yield syntax.publish.span, Role.PUBLISH
    for block in syntax.blocks:
        yield block.stream.span, Role.STREAM
        if block.document is not None:
            yield block.document.span, Role.BINDING
        yield from _roles_in(block.path)
    for operator in syntax.operators:
        if operator.window_span is not None:
            yield operator.window_span, Role.WINDOW
        for term in operator.terms:
            for side in (term.left, term.right):
                yield from _roles_in(side)
                if isinstance(side, Path) and side.steps:
                    yield side.steps[0].test.span, Role.REFERENCE


def _roles_in(part: object) -> Iterator[tuple[Span, Role]]:
    """Yield the names and constants of an expression."""
    for node in nodes_in(part):
        if isinstance(node, Literal | Number):
            yield node.span, Role.CONSTANT
        elif isinstance(node, NameTest) and node.prefix is None and node.local is not None:
            yield node.span, Role.NODE
