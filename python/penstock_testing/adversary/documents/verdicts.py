"""What libxml2 and expat say of a document, and where they are known to differ."""

from __future__ import annotations

import re
from xml.parsers.expat import ExpatError

from lxml import etree

from penstock.twigs import NodeKind
from penstock_testing.tree import parse

ALL_VALUES = "//@* | //text() | //comment() | //processing-instruction()"
"""Everything that has a value of its own."""

Values = tuple[str, ...]

_KNOWN_ERRORS = {
    "PD0001": "others know more encodings, or do not look at the name of one",
    "PD0004": "others believe a byte order mark that contradicts the declaration",
    "PD0005: version": "others take `1.` for a version",
}
"""Where libxml2 and expat are more lenient than XML 1.0, by the errors that we give."""

_THEIR_ERRORS = {
    "PEReference": "libxml2 refuses a parameter entity that is not declared",
    "nsupported encoding": "others know fewer encodings",
}
"""Where libxml2 is stricter than XML 1.0, by the errors that it gives."""

_NEW_IN_NAMES = re.compile("[\ufeff\ufffd\U0001f600]")
_COLON_NAME = re.compile(rb"<!DOCTYPE\s+[^\s\[>]*:[^\s\[>]*")

_PARSER = etree.XMLParser(resolve_entities=True, attribute_defaults=True, no_network=True)
_VALUED = (NodeKind.ATTRIBUTE, NodeKind.TEXT, NodeKind.COMMENT, NodeKind.INSTRUCTION)


def deviation_of(document: bytes, error: str, values: Values) -> str | None:
    """Return how libxml2 differs from our right reading; empty if it does not.

    Returns None if our reading is wrong: neither libxml2 nor expat shares it, and no known
    difference explains it.
    """
    theirs = _read_libxml2(document)
    if isinstance(theirs, str) if error else theirs == values:
        return ""
    if _read_expat(document) == (None if error else tuple(map(_in_old_names, values))):
        return "libxml2 differs, expat agrees"
    if error:
        known = (name for start, name in _KNOWN_ERRORS.items() if error.startswith(start))
    else:
        known = (name for part, name in _THEIR_ERRORS.items() if part in str(theirs))
    return next(known, None)


def _read_libxml2(document: bytes) -> Values | str:
    """Return the values of all nodes and the number of elements, or the error."""
    try:
        root = etree.fromstring(document, _PARSER)
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        return str(error)
    elements = 0
    values: list[str | None] = []
    # Walked, not asked for: a path would find comments of the document type declaration too.
    values += [node.text or "" for node in reversed(list(root.itersiblings(preceding=True)))]
    for event, node in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event == "start":
            elements += 1
            values += [*node.attrib.values(), node.text]
        elif event == "end":
            values.append(node.tail)
        else:
            values += [node.text or "", node.tail]
    values += [node.text or "" for node in root.itersiblings()]
    return (*(value for value in values if value is not None), str(elements))


def _read_expat(document: bytes) -> Values | None:
    """Return the same, None for a bad document; characters as in names of the fourth edition."""
    for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
        try:
            text = document.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "<" in text:
            document = (text[:1] + _in_old_names(text[1:])).encode(encoding)
            break
    try:
        # Any colons may stand in this name, say XML 1.0 and libxml2; expat says one inside.
        tree = parse(_COLON_NAME.sub(b"<!DOCTYPE r", document))
    except (ExpatError, ValueError, LookupError):
        return None
    values = [_in_old_names(node.value) for node in tree.nodes if node.kind in _VALUED]
    return (*values, str(sum(node.kind is NodeKind.ELEMENT for node in tree.nodes)))


def _in_old_names(text: str) -> str:
    """Return a text without the characters that names may have only since the fifth edition.

    expat knows the names of the fourth.
    """
    return _NEW_IN_NAMES.sub("é", text)
