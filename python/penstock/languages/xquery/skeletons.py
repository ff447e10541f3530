"""A text apart from its names and constants: queries of one skeleton differ in those only.

Only texts that begin with a constructor have a skeleton here. Names of elements, where they are
built or follow ``/``, ``@`` or ``[``, stand in slots, and so do strings and numbers that such a
name or a variable is compared with. All else belongs to the skeleton: words of the language,
functions, prefixes, variables and whatever might be read in another way.
"""

from __future__ import annotations

from typing import NamedTuple

from penstock.languages.lazy_patterns import lazy_pattern
from penstock.languages.xpath.tokens import NAME_INNER, NAME_START, TEXT_LENGTH_MAX
from penstock.languages.xquery.literals import decimal_text
from penstock.languages.xquery.tokens import BAD_CHARACTER

MARK = "\u01c2"
"""A letter that no text with slots contains: whoever fills them can mark them by it."""

NAME, STRING, INTEGER, DECIMAL = "nsid"
"""What stands in a slot."""

# Words that begin an expression of their own, or that are no name where a name could stand.
_KEPT = (
    "and|array|attribute|cast|castable|comment|copy|declare|delete|div|document|element|else|every"
    "|except|execute|for|function|idiv|if|import|in|insert|instance|intersect|let|map|mod"
    "|namespace|node|or|ordered|processing-instruction|rename|replace|return|satisfies|some|switch"
    "|text|then|to|transform|treat|try|typeswitch|union|unordered|validate|where|xmlns|xquery"
)
_SPACE = "[ \\t\\r\\n]*+"
_WORD_END = rf"(?![{NAME_INNER}-])"
# A name takes all its letters along; prefixes, axes, functions and kinds of nodes are none.
_NAME = rf"[{NAME_START}](?:[{NAME_INNER}]|-)*+"
_SLOT_NAME = rf"(?!(?:{_KEPT}){_WORD_END})({_NAME})(?!{_SPACE}[(:{{$])"
_OPERATOR = rf"{_SPACE}(?:[!<>]?=|[<>]|(?:eq|ne|lt|le|gt|ge){_WORD_END}){_SPACE}"
_PLAIN = "[^\"'&{}<\\t\\r\\n]+"
_SLOT = lazy_pattern(
    rf"""</?+{_SLOT_NAME}|(?:(?:(?<!<)/|[@[]){_SPACE}{_SLOT_NAME}|\${_SPACE}{_NAME})"""
    rf"""(?:{_OPERATOR}(?:"({_PLAIN})"(?!")|'({_PLAIN})'(?!')"""
    rf"""|([0-9]{{1,15}}\.[0-9]{{1,15}})(?![{NAME_INNER}])|([0-9]{{1,15}})(?![{NAME_INNER}])))?+"""
)
_KINDS = (NAME, NAME, STRING, STRING, DECIMAL, INTEGER)
# Comments, sections and pragmas have rules of their own for what lies in them.
_OTHER = ("(:", "(#", "<!", "<?", MARK)


class Slots(NamedTuple):
    """A text in pieces: slots lie between them."""

    pieces: tuple[str, ...]
    kinds: str
    """What stands in each slot."""
    values: tuple[str, ...]
    """The same as programs hold it: numbers in their canonical form."""

    def filled(self, values: list[str]) -> str:
        """Return the text with something else in its slots."""
        pairs = zip(values, self.pieces[1:], strict=True)
        return self.pieces[0] + "".join([part for pair in pairs for part in pair])


def split(text: str) -> Slots | None:
    """Return a text in pieces; None for one that has to be read as a whole.

    Two texts with equal pieces and kinds have the same tokens, but for names and constants.
    """
    if len(text) > TEXT_LENGTH_MAX or not text.lstrip(" \t\r\n").startswith("<"):
        return None
    if any(mark in text for mark in _OTHER) or BAD_CHARACTER.search(text):
        return None
    pieces, kinds, values, end = [], [], [], 0
    for match in _SLOT.finditer(text):
        for group, kind in enumerate(_KINDS, start=1):
            value = match[group]
            if value is None:
                continue
            pieces.append(text[end : match.start(group)])
            end = match.end(group)
            kinds.append(kind)
            if kind == INTEGER:
                value = value.lstrip("0") or "0"
            elif kind == DECIMAL:
                value = decimal_text(value)
            values.append(value)
    return Slots((*pieces, text[end:]), "".join(kinds), tuple(values))
