"""Document types: which children, texts and attributes an element may have.

Reads the declarations that the texts in ``schemas`` use: element types with any content model,
attributes that are text or a list of values. The root is the first element that is declared.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path

FOLDER = Path(__file__).parent / "schemas"

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_DECLARATION = re.compile(r"\s*<!(ELEMENT|ATTLIST)\s+([\w.-]+)\s+(.*?)\s*>", re.DOTALL)
_ATTRIBUTE = re.compile(r"([\w.-]+)\s+(CDATA|\([^)]*\))\s+(#REQUIRED|#IMPLIED)\s*")
_TOKEN = re.compile(r"\s*([(),|?*+]|#PCDATA|[\w.-]+)")


@dataclass(frozen=True)
class Particle:
    """A part of a content model: a name, a sequence or a choice, and how often it occurs."""

    kind: str
    """``name``, ``sequence`` or ``choice``"""
    name: str = ""
    parts: tuple["Particle", ...] = ()
    occurs: str = ""
    """``""`` once, ``?`` at most once, ``+`` at least once, ``*`` any number of times"""

    @property
    def is_optional(self) -> bool:
        """Whether it may be left out."""
        return self.occurs in ("?", "*")

    def names(self) -> Iterator[str]:
        """Yield the elements in it, in the order of the text."""
        if self.kind == "name":
            yield self.name
        for part in self.parts:
            yield from part.names()


@dataclass(frozen=True)
class Attribute:
    """An attribute; without ``choices`` its value is any text."""

    name: str
    is_required: bool
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Element:
    """An element type. ``content`` is None where there are no child elements."""

    name: str
    has_text: bool
    content: Particle | None
    attributes: tuple[Attribute, ...]

    @property
    def children(self) -> tuple[str, ...]:
        """The names that may occur below it, each once."""
        return tuple(dict.fromkeys(self.content.names())) if self.content else ()

    @property
    def is_field(self) -> bool:
        """Whether it holds text and nothing else, so that its value can be asked for."""
        return self.has_text and self.content is None


class Schema:
    """The element types of one document type."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.elements = parse_elements(text)
        self.root = next(iter(self.elements))
        for element in self.elements.values():
            for child in element.children:
                if child not in self.elements:
                    raise ValueError(f"{name}: <{child}> in <{element.name}> is not declared")
        self.heights = self._heights()

    def _heights(self) -> dict[str, float]:
        """Return how many levels each element needs at least, itself included."""
        heights = dict.fromkeys(self.elements, inf)
        changed = True
        while changed:
            changed = False
            for element in self.elements.values():
                found = 1 + (self.height(element.content, heights) if element.content else 0)
                if found < heights[element.name]:
                    heights[element.name] = found
                    changed = True
        endless = [name for name, height in heights.items() if height == inf]
        if endless:
            raise ValueError(f"{self.name}: <{endless[0]}> can never end")
        return heights

    def height(self, particle: Particle, heights: dict[str, float] | None = None) -> float:
        """Return how many levels a particle needs at least."""
        heights = self.heights if heights is None else heights
        if particle.is_optional:
            return 0
        if particle.kind == "name":
            return heights[particle.name]
        needed = [self.height(part, heights) for part in particle.parts]
        return min(needed) if particle.kind == "choice" else max(needed)


@cache
def load_schema(name: str) -> Schema:
    """Return one of the document types in ``schemas``, by its file's name."""
    return Schema(name, (FOLDER / f"{name}.dtd").read_text("utf-8"))


def parse_elements(text: str) -> dict[str, Element]:
    """Return the element types of a text, in its order.

    Raises:
        ValueError: There is something that is no declaration, or not one that is read here.
    """
    text = _COMMENT.sub("", text)
    models: dict[str, str] = {}
    attributes: dict[str, tuple[Attribute, ...]] = {}
    end = 0
    while text[end:].strip():
        found = _DECLARATION.match(text, end)
        if not found:
            raise ValueError(f"no declaration: {text[end : end + 60].strip()!r}")
        kind, name, rest = found.groups()
        if kind == "ELEMENT":
            models[name] = rest
        else:
            attributes[name] = parse_attributes(rest)
        end = found.end()
    return {
        name: Element(name, *parse_content(model), attributes.get(name, ()))
        for name, model in models.items()
    }


def parse_attributes(text: str) -> tuple[Attribute, ...]:
    """Return the attributes of one list."""
    found, end = [], 0
    while end < len(text):
        one = _ATTRIBUTE.match(text, end)
        if not one:
            raise ValueError(f"no attribute: {text[end : end + 60]!r}")
        name, values, use = one.groups()
        choices = () if values == "CDATA" else tuple(re.findall(r"[\w.-]+", values))
        found.append(Attribute(name, use == "#REQUIRED", choices))
        end = one.end()
    return tuple(found)


def parse_content(text: str) -> tuple[bool, Particle | None]:
    """Return whether there is text in a content model, and its child elements."""
    if text == "EMPTY":
        return False, None
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != re.sub(r"\s", "", text):
        raise ValueError(f"no content model: {text!r}")
    if tokens[:2] == ["(", "#PCDATA"]:
        names = [Particle("name", token) for token in tokens[2:] if token not in ("|", ")", "*")]
        return True, Particle("choice", parts=tuple(names), occurs="*") if names else None
    particle, end = _particle(tokens, 0)
    if end != len(tokens):
        raise ValueError(f"no content model: {text!r}")
    return False, particle


def _particle(tokens: list[str], start: int) -> tuple[Particle, int]:
    if tokens[start] != "(":
        occurs, end = _occurs(tokens, start + 1)
        return Particle("name", tokens[start], occurs=occurs), end
    parts, separators, end = [], set(), start
    while tokens[end] != ")":
        part, end = _particle(tokens, end + 1)
        parts.append(part)
        separators.add(tokens[end])
    occurs, end = _occurs(tokens, end + 1)
    kind = "choice" if "|" in separators else "sequence"
    return Particle(kind, parts=tuple(parts), occurs=occurs), end


def _occurs(tokens: list[str], place: int) -> tuple[str, int]:
    if place < len(tokens) and tokens[place] in ("?", "*", "+"):
        return tokens[place], place + 1
    return "", place
