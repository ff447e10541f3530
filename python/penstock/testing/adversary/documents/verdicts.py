"""What libxml2 and expat say of a document, and where they are known to differ."""

from __future__ import annotations

from xml.parsers.expat import ExpatError

from lxml import etree

from penstock.testing.tree import parse
from penstock.twigs import NodeKind

ALL_VALUES = "//@* | //text() | //comment() | //processing-instruction()"
"""Everything that has a value of its own."""

_KNOWN = {
    "others know more encodings, or do not look at the name of one": "PD0001",
    "others believe a byte order mark that contradicts the declaration": "PD0004",
    "others take `1.` for a version": "PD0005: version",
}
"""Where libxml2 and expat are more lenient than XML 1.0, with the errors we give."""

_PARSER = etree.XMLParser(resolve_entities=True, attribute_defaults=True, no_network=True)
_VALUED = (NodeKind.ATTRIBUTE, NodeKind.TEXT, NodeKind.COMMENT, NodeKind.INSTRUCTION)


def deviation_of(document: bytes, error: str, values: tuple[str, ...]) -> str | None:
    """Return how libxml2 differs from our right reading; empty if it does not.

    Returns None if our reading is wrong: neither libxml2 nor expat shares it, and no known
    difference explains it.
    """
    theirs = _read_libxml2(document)
    if theirs == (None if error else values):
        return ""
    ours = None if error else tuple(map(_in_old_names, values))
    if _read_expat(document) == ours:
        return "libxml2 differs, expat agrees"
    known = (name for name, start in _KNOWN.items() if error.startswith(start))
    return next(known, None)


def _read_libxml2(document: bytes) -> tuple[str, ...] | None:
    """Return the values of all nodes and the number of elements; None for a bad document."""
    try:
        root = etree.fromstring(document, _PARSER)
    except (etree.XMLSyntaxError, ValueError, LookupError):
        return None
    above = list(root.itersiblings(preceding=True))[::-1]
    elements = 0
    values: list[str | None] = [node.text or "" for node in above]
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


def _in_old_names(text: str) -> str:
    """Return a text without the characters that names may have only since the fifth edition.

    expat knows the names of the fourth.
    """
    return text[:1] + text[1:].replace("\ufeff", "é").replace("\U0001f600", "é")


def _read_expat(document: bytes) -> tuple[str, ...] | None:
    try:
        text = document.decode()
    except UnicodeDecodeError:
        text = ""
    try:
        tree = parse(_in_old_names(text) or document)
    except (ExpatError, ValueError, LookupError):
        return None
    values = [node.value for node in tree.nodes if node.kind in _VALUED]
    return (*values, str(sum(node.kind is NodeKind.ELEMENT for node in tree.nodes)))
