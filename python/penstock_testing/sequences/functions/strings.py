"""Functions on strings."""

from __future__ import annotations

import math
import unicodedata
from decimal import ROUND_FLOOR, Decimal
from urllib.parse import quote

from penstock_testing.sequences.casting import text_of
from penstock_testing.sequences.context import Context
from penstock_testing.sequences.errors import DynamicError, mistyped
from penstock_testing.sequences.functions.table import function
from penstock_testing.sequences.items import Atom, Items, boolean, integer, string, value_of

CODEPOINTS = "http://www.w3.org/2005/xpath-functions/collation/codepoint"
_FORMS = ("NFC", "NFD", "NFKC", "NFKD")


def text(items: Items) -> str:
    """Return the only string, or an empty one where there is none."""
    if not items:
        return ""
    assert isinstance(items[0], Atom)
    return str(items[0].value)


def check_collation(collation: Items) -> None:
    """Accept the collation of code points alone."""
    if text(collation) != CODEPOINTS:
        raise DynamicError("FOCH0002", f"there is no collation {text(collation)!r}")


@function("string", "item?", least=0)
def _string(context: Context, *given: Items) -> Items:
    items = given[0] if given else [context.here()]
    if not items:
        return [string("")]
    item = items[0]
    return [string(text_of(item) if isinstance(item, Atom) else item.string_value())]


@function("codepoints-to-string", "integer*")
def _codepoints_to_string(_context: Context, codes: Items) -> Items:
    numbers = [code.value for code in codes if isinstance(code, Atom)]
    for number in numbers:
        if not _is_character(number):
            raise DynamicError("FOCH0001", f"{number} is no character of XML")
    return [string("".join(map(chr, numbers)))]


def _is_character(code: int) -> bool:
    return (
        code in (9, 10, 13)
        or 0x20 <= code <= 0xD7FF
        or 0xE000 <= code <= 0xFFFD
        or 0x10000 <= code <= 0x10FFFF
    )


@function("string-to-codepoints", "string?")
def _string_to_codepoints(_context: Context, given: Items) -> Items:
    return [integer(ord(character)) for character in text(given)]


@function("compare", "string?", "string?", "string", least=2)
def _compare(_context: Context, left: Items, right: Items, *collation: Items) -> Items:
    for one in collation:
        check_collation(one)
    if not left or not right:
        return []
    first, second = text(left), text(right)
    return [integer((first > second) - (first < second))]


@function("codepoint-equal", "string?", "string?")
def _codepoint_equal(_context: Context, left: Items, right: Items) -> Items:
    return [boolean(text(left) == text(right))] if left and right else []


@function("concat", "anyAtomicType?", least=2, is_open=True)
def _concat(_context: Context, *parts: Items) -> Items:
    atoms = [item for part in parts for item in part if isinstance(item, Atom)]
    return [string("".join(map(text_of, atoms)))]


@function("string-join", "string*", "string")
def _string_join(_context: Context, parts: Items, separator: Items) -> Items:
    return [string(text(separator).join(text([part]) for part in parts))]


@function("substring", "string?", "double", "double", least=2)
def _substring(_context: Context, source: Items, start: Items, *length: Items) -> Items:
    first = _rounded(_number(start))
    end = math.inf
    if length:
        end = first + _rounded(_number(length[0]))
    kept = [c for place, c in enumerate(text(source), start=1) if first <= place < end]
    return [string("".join(kept))]


def _number(items: Items) -> float:
    (atom,) = items
    assert isinstance(atom, Atom)
    return float(atom.value)


def _rounded(value: float) -> float:
    if math.isnan(value) or math.isinf(value):
        return value
    return float((Decimal(value) + Decimal("0.5")).to_integral_value(ROUND_FLOOR))


@function("string-length", "string?", least=0)
def _string_length(context: Context, *given: Items) -> Items:
    return [integer(len(text(given[0]) if given else _here(context)))]


@function("normalize-space", "string?", least=0)
def _normalize_space(context: Context, *given: Items) -> Items:
    source = text(given[0]) if given else _here(context)
    words = source.replace("\t", " ").replace("\r", " ").replace("\n", " ").split(" ")
    return [string(" ".join(word for word in words if word))]


def _here(context: Context) -> str:
    return text_of(value_of(context.here()))


@function("normalize-unicode", "string?", "string", least=1)
def _normalize_unicode(_context: Context, source: Items, *form: Items) -> Items:
    name = text(form[0]).strip().upper() if form else "NFC"
    if not name:
        return [string(text(source))]
    if name not in _FORMS:
        raise DynamicError("FOCH0003", f"there is no normal form {name!r}")
    return [string(unicodedata.normalize(name, text(source)))]  # type: ignore[arg-type]


@function("upper-case", "string?")
def _upper_case(_context: Context, source: Items) -> Items:
    return [string(text(source).upper())]


@function("lower-case", "string?")
def _lower_case(_context: Context, source: Items) -> Items:
    return [string(text(source).lower())]


@function("translate", "string?", "string", "string")
def _translate(_context: Context, source: Items, old: Items, replacement: Items) -> Items:
    changes: dict[int, str] = {}
    by = text(replacement)
    for place, character in enumerate(text(old)):
        changes.setdefault(ord(character), by[place] if place < len(by) else "")
    return [string(text(source).translate(changes))]


@function("encode-for-uri", "string?")
def _encode_for_uri(_context: Context, source: Items) -> Items:
    return [string(quote(text(source), safe="-_.~"))]


@function("iri-to-uri", "string?")
def _iri_to_uri(_context: Context, source: Items) -> Items:
    kept = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '<>"{}|\\^`')
    return [string(quote(text(source), safe=kept))]


@function("escape-html-uri", "string?")
def _escape_html_uri(_context: Context, source: Items) -> Items:
    kept = "".join(map(chr, range(0x20, 0x7F)))
    return [string(quote(text(source), safe=kept))]


def _search(name: str) -> None:
    @function(name, "string?", "string?", "string", least=2)
    def _find(_context: Context, source: Items, part: Items, *collation: Items) -> Items:
        for one in collation:
            check_collation(one)
        whole, wanted = text(source), text(part)
        match name:
            case "contains":
                return [boolean(wanted in whole)]
            case "starts-with":
                return [boolean(whole.startswith(wanted))]
            case "ends-with":
                return [boolean(whole.endswith(wanted))]
        before, found, after = whole.partition(wanted) if wanted else ("", "", whole)
        if wanted and not found:
            return [string("")]
        return [string(before if name == "substring-before" else after)]


for _name in ("contains", "starts-with", "ends-with", "substring-before", "substring-after"):
    _search(_name)


@function("resolve-uri", "string?", "string", least=1)
def _resolve_uri(_context: Context, relative: Items, *base: Items) -> Items:
    from urllib.parse import urljoin, urlsplit

    if not relative:
        return []
    if not base:
        if urlsplit(text(relative)).scheme:
            return [Atom("anyURI", text(relative))]
        raise DynamicError("FONS0005", "there is no base URI")
    if not urlsplit(text(base[0])).scheme:
        raise DynamicError("FORG0002", f"{text(base[0])!r} is no absolute URI")
    return [Atom("anyURI", urljoin(text(base[0]), text(relative)))]


@function("error", "QName?", "string", "item*", least=0)
def _error(_context: Context, *given: Items) -> Items:
    code, reason = "FOER0000", "the query raised an error"
    if given and given[0]:
        name = given[0][0]
        assert isinstance(name, Atom)
        code = name.value.local
    elif len(given) > 1 and not given[0]:
        code = "FOER0000"
    elif given and len(given) == 1:
        raise mistyped("error takes a name")
    raise DynamicError(code, text(given[1]) if len(given) > 1 else reason)


@function("trace", "item*", "string")
def _trace(_context: Context, items: Items, _label: Items) -> Items:
    return items
