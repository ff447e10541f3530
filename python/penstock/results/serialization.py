"""Fragments that stand alone.

The text of a fragment is a slice of a document that was checked to be well-formed, so a few
patterns are enough to find its tags and references.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.sax.saxutils import escape, quoteattr

_QUOTED = r"\"[^\"]*\"|'[^']*'"
_TAG = rf"<[^!?](?:[^\"'>]|{_QUOTED})*>"
_VERBATIM = r"<!--.*?-->|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?\?>"
_TOKEN = re.compile(rf"(?P<verbatim>{_VERBATIM})|(?P<tag>{_TAG})|&(?P<entity>[^;#&]+);", re.DOTALL)
_START_TAG = re.compile(_TAG, re.DOTALL)
_NAME = re.compile(r"<([^\s/>]+)")
_DECLARED = re.compile(rf"\sxmlns(?::([^\s=]+))?\s*=\s*(?:{_QUOTED})")
_REFERENCE = re.compile(r"&([^;#&]+);")
_XML_DECLARATION = re.compile(r"^\ufeff?<\?xml\s.*?\?>\s*", re.DOTALL)
REFERENCES = {"\r": "&#13;"}
"""Characters of a text that would not come back as they are …"""
CHARACTERS = {reference: character for character, reference in REFERENCES.items()}
"""… and back."""
_PREDEFINED = frozenset(("lt", "gt", "amp", "quot", "apos"))


def serialize(
    kind: str, name: str, value: str, declarations: Mapping[str, str], entities: Mapping[str, str]
) -> str:
    """Return a result as XML that can be read without the document around it."""
    match kind:
        case "element":
            if value.startswith("&"):
                value = _element_of(value, name, declarations, entities)
            elif entities or "&" in value:
                value = expand(value, entities)
            return declare(value, declarations) if declarations else value
        case "event" | "message":
            return value
        case "document":
            return _XML_DECLARATION.sub("", value).removeprefix("\ufeff")
        case "comment":
            return f"<!--{value}-->"
        case "processing-instruction":
            return f"<?{name} {value}?>" if value else f"<?{name}?>"
        case _:
            return escape(value, REFERENCES)


def serialize_further(piece: str, entities: Mapping[str, str], is_in_cdata: bool) -> str:
    """Return a further piece of an element, which may begin inside a CDATA section."""
    verbatim, end, rest = piece.partition("]]>") if is_in_cdata else ("", "", piece)
    return verbatim + end + expand(rest, entities)


def ends_in_cdata(piece: str, is_in_cdata: bool) -> bool:
    """Return whether a piece of a result ends inside a CDATA section."""
    if is_in_cdata:
        _, end, piece = piece.partition("]]>")
        if not end:
            return True
    verbatim = [token[0] for token in _TOKEN.finditer(piece) if token["verbatim"]]
    return bool(verbatim) and verbatim[-1].startswith("<![") and not verbatim[-1].endswith("]]>")


def declare(fragment: str, declarations: Mapping[str, str]) -> str:
    """Add the declarations to the first start tag that it does not make itself."""
    tag = _START_TAG.match(fragment)
    if tag is None:  # a later piece of a result
        return fragment
    own = {prefix or "" for prefix in _DECLARED.findall(tag[0])}
    missing = [(prefix, uri) for prefix, uri in declarations.items() if prefix not in own]
    if not missing:
        return fragment
    name = _NAME.match(fragment)
    assert name is not None, "a start tag begins with a name"
    added = "".join(
        f" xmlns{':' if prefix else ''}{prefix}={quoteattr(uri)}"
        for prefix, uri in missing
        if prefix != "xml"
    )
    return f"{fragment[: name.end()]}{added}{fragment[name.end() :]}"


def expand(text: str, entities: Mapping[str, str]) -> str:
    """Replace references to internal entities by what they stand for, here and in tags.

    A reference to an entity that was not read is removed: it adds nothing.
    """

    def replace(found: re.Match[str]) -> str:
        if found["verbatim"]:
            return found[0]
        if found["tag"]:
            return _REFERENCE.sub(replace_in_value, found[0])
        name = found["entity"]
        if name in _PREDEFINED:
            return found[0]
        inside = expand(entities.get(name, "").replace("\r", "&#13;"), entities)
        # `]]>` may not arise where two texts meet that were apart.
        if inside.endswith("]"):
            inside = inside[:-1] + "&#93;"
        if inside.startswith((">", "]")):
            inside = f"&#{ord(inside[0])};{inside[1:]}"
        return inside

    def replace_in_value(found: re.Match[str]) -> str:
        if found[1] in _PREDEFINED:
            return found[0]
        inside = _REFERENCE.sub(replace_in_value, entities.get(found[1], ""))
        return re.sub(r"\s", " ", inside).replace('"', "&quot;").replace("'", "&apos;")

    return _TOKEN.sub(replace, text)


def _element_of(
    reference: str, name: str, declarations: Mapping[str, str], entities: Mapping[str, str]
) -> str:
    """Return the first element with a name (``{uri}local``) that a reference stands for."""
    text = expand(reference, entities)
    depth, start = 0, -1
    for token in _TOKEN.finditer(text):
        if not token["tag"]:
            continue
        if token[0].startswith("</"):
            depth -= 1
        else:
            if start < 0 and _is_named(token[0], name, declarations):
                start, depth = token.start(), 0
            depth += 0 if token[0].endswith("/>") else 1
        if start >= 0 and depth == 0:
            return text[start : token.end()]
    return text


def _is_named(tag: str, name: str, declarations: Mapping[str, str]) -> bool:
    found = _NAME.match(tag)
    assert found is not None, "a start tag begins with a name"
    prefix, _, local = found[1].rpartition(":")
    wanted_uri, _, wanted_local = name.rpartition("}")
    if local != wanted_local:
        return False
    # A declaration in the entity itself is rare, and then the local name has to do.
    uri = declarations.get(prefix)
    return uri is None or uri == wanted_uri.removeprefix("{")
