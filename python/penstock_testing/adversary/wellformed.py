"""Random small documents that are well-formed: mixed content, namespaces, ids, entities.

Unlike those of ``penstock_testing.generate`` they put every kind of node in every place, so that
positions, order and kinds are told apart.
"""

from __future__ import annotations

from random import Random

from penstock_testing.generate.names import (
    ATTRIBUTES,
    ELEMENTS,
    IDENTIFIER,
    LANGUAGES,
    NAMESPACES,
    NUMBERS,
    ROOT,
    TARGETS,
    WORDS,
)

NODES_MAX = 18
DEPTH_MAX = 5

_NAMES = (*ELEMENTS[:3], *ELEMENTS[:2], ELEMENTS[3])
_TEXTS = (*NUMBERS, *WORDS[:5], "-0.5", "-0", "\n", "é", "x\u2028y")
_SECTIONS = ("<![CDATA[{}]]>", "<![CDATA[<{}]]>", "{}&#118;", "&lt;{}", "{}&amp;")
_ENTITIES = (("e", "v"), ("f", "&e;1"), ("m", "<b x='1'>2</b>"), ("t", "u<!--m-->v"))


def write_document(random: Random) -> bytes:
    """Return a well-formed document in UTF-8 with about ten nodes."""
    return _Writer(random).document().encode()


class _Writer:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._left = random.randint(4, NODES_MAX)
        self._prefixes = list(NAMESPACES) if random.random() < 0.25 else []
        self._has_entities = random.random() < 0.08
        self._has_declared_ids = random.random() < 0.2
        self._has_xml_ids = random.random() < 0.2
        self._ids = 0

    def document(self) -> str:
        declarations = ""
        if self._has_entities:
            declarations += "".join(f'<!ENTITY {name} "{text}">' for name, text in _ENTITIES)
        if self._has_declared_ids:
            owners = (ROOT, *ELEMENTS)
            declarations += "".join(
                f"<!ATTLIST {owner} {IDENTIFIER} ID #IMPLIED>" for owner in owners
            )
        root = ROOT if self._random.random() < 0.6 else self._random.choice(_NAMES)
        doctype = f"<!DOCTYPE {root} [{declarations}]>" if declarations else ""
        bindings = "".join(f' xmlns:{prefix}="{NAMESPACES[prefix]}"' for prefix in self._prefixes)
        element = self._element(root, 1, bindings)
        return f"{self._asides()}{doctype}{self._asides()}{element}{self._asides()}"

    def _asides(self) -> str:
        return self._aside() if self._random.random() < 0.12 else ""

    def _aside(self) -> str:
        word = self._random.choice(WORDS)
        if self._random.random() < 0.5:
            return f"<!--{word}-->"
        return f"<?{self._random.choice(TARGETS)} {word}?>"

    def _element(self, name: str, depth: int, bindings: str = "") -> str:
        if self._prefixes and self._random.random() < 0.12:
            bindings += self._random.choice(
                (' xmlns="urn:p"', ' xmlns=""', ' xmlns:s="urn:q"', ' xmlns:p="urn:q"')
                if depth > 1
                else (' xmlns="urn:p"', ' xmlns:s="urn:q"')
            )
        tag = name + bindings + self._attributes()
        content = self._content(depth)
        if not content and self._random.random() < 0.8:
            return f"<{tag}/>"
        return f"<{tag}>{content}</{name}>"

    def _attributes(self) -> str:
        written = ""
        for name in ATTRIBUTES:
            if self._random.random() < 0.25:
                value = self._random.choice(NUMBERS if name == "n" else NUMBERS + WORDS)
                prefix = "p:" if self._prefixes and self._random.random() < 0.15 else ""
                written += f' {prefix}{name}="{value}"'
        if self._has_declared_ids and self._random.random() < 0.5:
            self._ids += 1
            written += f' {IDENTIFIER}="k{self._ids}"'
        if self._has_xml_ids and self._random.random() < 0.5:
            self._ids += 1
            written += f' xml:id="k{self._ids}"'
        if self._random.random() < 0.04:
            written += f' xml:lang="{self._random.choice(LANGUAGES)}"'
        return written

    def _content(self, depth: int) -> str:
        parts: list[str] = []
        while self._left > 0 and self._random.random() < 0.8:
            self._left -= 1
            kind = self._random.random()
            if kind < 0.55 and depth < DEPTH_MAX:
                parts.append(self._element(self._name(), depth + 1))
            elif kind < 0.85:
                parts.append(self._text())
            else:
                parts.append(self._aside())
        return "".join(parts)

    def _name(self) -> str:
        name = self._random.choice(_NAMES)
        if self._prefixes and self._random.random() < 0.25:
            return f"{self._random.choice(self._prefixes)}:{name}"
        return name

    def _text(self) -> str:
        if self._ids and self._random.random() < 0.35:
            wanted = [f"k{self._random.randint(1, self._ids + 2)}" for _ in range(2)]
            return " ".join(wanted[: self._random.randint(1, 2)])
        text = self._random.choice(_TEXTS)
        if self._has_entities and self._random.random() < 0.3:
            return f"{text}&{self._random.choice(_ENTITIES)[0]};"
        if text and self._random.random() < 0.15:
            return self._random.choice(_SECTIONS).format(text)
        return text
