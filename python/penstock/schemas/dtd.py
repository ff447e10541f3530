"""Document type definitions, read by lxml.

A DTD knows no namespaces. Unless it uses prefixes or declares an attribute ``xmlns``, its documents
have none. Otherwise elements are told apart by their local names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from io import BytesIO
from typing import Any

from penstock.errors import SchemaError
from penstock.extras import load
from penstock.schemas.graph import Element, Name
from penstock.schemas.particles import Particle, occurrences

_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_EXTERNAL = re.compile(rb"<!ENTITY\s+%\s+([^\s>]+)\s+(?:SYSTEM|PUBLIC)\b")
_OCCURS = {"once": (1, 1), "opt": (0, 1), "mult": (0, 2), "plus": (1, 2)}
_KINDS = {"seq": "sequence", "or": "choice"}


def read_dtd(data: bytes, path: str) -> list[Element]:
    """Return the elements that a DTD declares.

    Raises:
        SchemaError: It is no DTD, or it is spread over several files.
        MissingExtraError: lxml is not installed.
    """
    etree = load("lxml.etree", "schemas")
    external = _EXTERNAL.search(_COMMENT.sub(lambda found: b" " * len(found[0]), data))
    if external:
        name = external[1].decode("utf-8", "replace")
        line = data.count(b"\n", 0, external.start()) + 1
        message = f"the parameter entity `{name}` is another file, and only one file is read"
        raise SchemaError("PM0004", message, path, line, "put what it holds into this file")
    try:
        dtd = etree.DTD(BytesIO(data))
    except etree.DTDParseError as error:
        line = error.error_log[0].line if error.error_log else 0
        reason = error.error_log[0].message if error.error_log else str(error)
        message = f"this is no DTD: {reason.strip()}"
        way_out = "a file of declarations such as <!ELEMENT a (b*)>, without <!DOCTYPE"
        raise SchemaError("PM0002", message, path, line, way_out) from None
    declared = [*dtd.iterelements()]
    # lxml gives content models without prefixes.
    uri = None if any(map(_has_namespace, declared)) else ""
    return [_element(one, uri) for one in declared]


def _has_namespace(declared: Any) -> bool:
    return bool(declared.prefix) or any(
        "xmlns" in (one.prefix, one.name) for one in declared.iterattributes()
    )


def _element(declared: Any, uri: str | None) -> Element:
    attributes = {
        Name(None if one.prefix else "", one.name): one.default == "required"
        for one in declared.iterattributes()
        if "xmlns" not in (one.prefix, one.name)
    }
    is_known = declared.type in ("empty", "mixed", "element")
    particle = _particle(declared.content, uri) if is_known and declared.content else None
    return Element(
        Name(uri, declared.name),
        {} if particle is None else occurrences(particle),
        attributes,
        has_text=declared.type in ("mixed", "any"),
        is_open=not is_known,
    )


def _particle(content: Any, uri: str | None) -> Particle:
    """Return a content model, which lxml gives as a tree of pairs."""
    least, most = _OCCURS[content.occur]
    if content.type == "pcdata":
        return Particle("sequence")
    if content.type == "element":
        return Particle("name", least, most, Name(uri, content.name))
    parts = tuple(_particle(part, uri) for part in _flat(content))
    return Particle(_KINDS[content.type], least, most, parts=parts)  # type: ignore[arg-type]


def _flat(content: Any) -> Iterable[Any]:
    """Yield the parts of a list: pairs of its kind, once each, that end one in the other."""
    kind = content.type
    while content is not None:
        yield content.left
        right = content.right
        if right is None or right.type != kind or right.occur != "once":
            if right is not None:
                yield right
            return
        content = right
