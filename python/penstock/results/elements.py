"""Elements as JSON: JsonML, which loses nothing, and a plain form, which is handier.

JsonML is ``[name, {attributes}, child, …]``. Names are as they are written, declarations of
namespaces are attributes, text is a string; a comment is ``["#comment", text]`` and a processing
instruction ``["#instruction", target, data]``. Without attributes there is no object.

In the plain form an element with text alone is that text. Any other is an object: attributes as
``@name``, child elements by their local names, those of one name as a list, and text as ``#text``.
Prefixes, comments and the order of different names are lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

COMMENT, INSTRUCTION = "#comment", "#instruction"
_BLANKS = " \t\r\n"


def to_jsonml(xml: str) -> Any:
    """Return a fragment that stands alone as JsonML: its element, or else the text that it is."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.ordered_attributes = True
    whole: list[Any] = []
    open_: list[list[Any]] = [whole]

    def start(name: str, attributes: list[str]) -> None:
        element: list[Any] = [name]
        if attributes:
            element.append(dict(zip(attributes[::2], attributes[1::2], strict=True)))
        open_[-1].append(element)
        open_.append(element)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: open_.pop()
    parser.CharacterDataHandler = lambda text: open_[-1].append(text)
    parser.CommentHandler = lambda text: open_[-1].append([COMMENT, text])
    parser.ProcessingInstructionHandler = lambda target, data: open_[-1].append(
        [INSTRUCTION, target, data]
    )
    try:
        parser.Parse(xml.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError:
        return xml  # a message may be text
    return next(_elements(["", *whole]))


def to_plain(element: Any) -> Any:
    """Return an element in JsonML in the plain form; text is text."""
    if isinstance(element, str):
        return element
    # Children come before the elements that they lie in, however deep these are.
    order, waiting = [], [element]
    while waiting:
        one = waiting.pop()
        order.append(one)
        waiting += _elements(one)
    plain: dict[int, Any] = {}
    for one in reversed(order):
        plain[id(one)] = _plain(one, [(child[0], plain[id(child)]) for child in _elements(one)])
    return plain[id(element)]


def _elements(element: list[Any]) -> Iterator[list[Any]]:
    return (one for one in element[1:] if isinstance(one, list) and not one[0].startswith("#"))


def _plain(element: list[Any], children: list[tuple[str, Any]]) -> Any:
    found: dict[str, Any] = {}
    if len(element) > 1 and isinstance(element[1], dict):
        for name, value in element[1].items():
            if name != "xmlns" and not name.startswith("xmlns:"):
                found[f"@{name.rpartition(':')[2]}"] = value
    repeated: set[str] = set()
    for written, value in children:
        name = written.rpartition(":")[2]
        if name in repeated:
            found[name].append(value)
        elif name in found:
            found[name] = [found[name], value]
            repeated.add(name)
        else:
            found[name] = value
    text = "".join([one for one in element[1:] if isinstance(one, str)])
    if not found:
        return text
    if text.strip(_BLANKS):
        found["#text"] = text
    return found


def to_text(value: Any) -> str:
    """Return lists, objects and strings as JSON, however deep they are nested."""
    pieces: list[str] = []
    waiting: list[Any] = [value]
    while waiting:
        match waiting.pop():
            case _Piece(text):
                pieces.append(text)
            case list() as items:
                waiting.append(_Piece("]"))
                for place, item in reversed([*enumerate(items)]):
                    waiting += [item, _Piece("," if place else "[")]
                if not items:
                    pieces.append("[")
            case dict() as pairs:
                waiting.append(_Piece("}"))
                for place, (name, item) in reversed([*enumerate(pairs.items())]):
                    key = json.dumps(name, ensure_ascii=False)
                    waiting += [item, _Piece(f"{',' if place else '{'}{key}:")]
                if not pairs:
                    pieces.append("{")
            case other:
                pieces.append(json.dumps(other, ensure_ascii=False))
    return "".join(pieces)


class _Piece:
    __match_args__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text
